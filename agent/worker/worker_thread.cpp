#include "agent/worker/worker_thread.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "core/base/check.hpp"

namespace rehearsal::agent {
namespace {

constexpr std::size_t kCommandsMax = 64;
constexpr std::size_t kEventsMax = 256;
/// Places of the outbox that progress reports leave to events that must not be lost.
constexpr std::size_t kEventsReserved = 64;
constexpr int kCommandsPerTurn = 4;
constexpr Duration kProgressInterval = std::chrono::milliseconds{200};
/// Sleeping ends this long before an appointment, spinning does the rest: a timer is late by tens
/// to hundreds of microseconds.
constexpr Duration kSpin = std::chrono::microseconds{250};

Instant clock_now() noexcept { return std::chrono::steady_clock::now(); }

}  // namespace

WorkerThread::WorkerThread(WorkerOptions options, Waiter waiter)
    : options_(std::move(options)),
      waiter_(std::move(waiter)),
      inbox_(kCommandsMax),
      outbox_(kEventsMax),
      watch_(options_.plan->limits) {}

void WorkerThread::run() {
  prepare_worker_thread();
  place_ = bind_worker_thread(options_.place);
  open();
  while (!quit_.load(std::memory_order_acquire)) {
    if (give_way_until_ != kNever) give_way();
    bool moved = take_commands();
    const Instant now = clock_now();
    if (stage_ == Stage::connecting || stage_ == Stage::replaying) {
      moved |= turn(now);
      after_turn(now);
    }
    if (moved) continue;
    publish();
    const bool alive = stage_ == Stage::connecting || stage_ == Stage::replaying;
    const Instant until = alive ? wait_until(now) : kNever;
    if (until <= now) continue;  // a transport that is polled
    ++waits_;
    waiter_.wait(alive ? cycle_->file_descriptor() : -1, now, until);
  }
  if (cycle_ != nullptr) cycle_->abort_all();
}

void WorkerThread::quit() noexcept {
  quit_.store(true, std::memory_order_release);
  waiter_.wake();
}

void WorkerThread::command(WorkerCommand command) noexcept {
  CHECK(inbox_.push(std::move(command)), "the worker does not take its commands");
  waiter_.wake();
}

std::vector<WorkerEvent> WorkerThread::take_events() {
  std::vector<WorkerEvent> events;
  while (auto event = outbox_.pop()) events.push_back(std::move(*event));
  return events;
}

void WorkerThread::open() {
  auto cycle = DutyCycle::create(options_.plan, options_.host, options_.token);
  if (!cycle) return fail(cycle.error().text(), {});
  cycle_ = std::move(*cycle);
  auto addresses = cycle_->open();
  if (!addresses) return fail(addresses.error().text(), {});
  emit(coordination::WorkerOpened{std::move(*addresses)});
}

bool WorkerThread::take_commands() {
  for (int i = 0; i < kCommandsPerTurn; ++i) {
    auto command = inbox_.pop();
    if (!command) return i > 0;
    std::visit([this](auto& one) { obey(one); }, *command);
  }
  return true;
}

void WorkerThread::obey(ConnectCommand& command) {
  if (stage_ != Stage::connecting) return;
  const auto started = cycle_->connect(command.addresses);
  if (!started) fail(started.error().text(), {});
}

void WorkerThread::obey(StartCommand& command) {
  if (stage_ != Stage::replaying) return;
  cycle_->start_step(command.iteration, command.phase, command.instant);
}

void WorkerThread::obey(StopCommand&) {
  if (stage_ == Stage::stopped) return;
  if (cycle_ != nullptr) cycle_->abort_all();
  end();
}

void WorkerThread::obey(FinishCommand&) {
  if (stage_ == Stage::stopped) return;
  end();
}

void WorkerThread::end() {
  stage_ = Stage::stopped;
  publish();
  coordination::WorkerStopped stopped;
  if (cycle_ != nullptr) stopped.results = cycle_->encode_measurements(turn_max_, place_);
  emit(std::move(stopped));
}

bool WorkerThread::turn(Instant now) {
  ++turns_;
  const auto appointment = cycle_->appointment();
  const bool spins = appointment && *appointment > now && *appointment - now <= kSpin;
  if (spins) now = spin_until(*appointment);
  const bool moved = cycle_->turn(now);
  if (spins && moved) {
    cycle_->turn(now);  // the first bytes are posted: send them
    give_way_until_ = now + kSpin;
  }
  if (moved) turn_max_ = std::max<Duration>(turn_max_, clock_now() - now);
  return moved;
}

// Agents that share a core spin towards the same instant: who has sent its first bytes lets the
// others start before it goes on. On a core of its own this costs a system call or two.
void WorkerThread::give_way() noexcept {
  if (clock_now() >= give_way_until_) give_way_until_ = kNever;
  std::this_thread::yield();
}

// Whoever waits for an appointment that is near does not sleep, and has no system call under way
// when the instant comes. A stop() ends it, too.
Instant WorkerThread::spin_until(Instant instant) const noexcept {
  Instant now = clock_now();
  while (now < instant && inbox_.empty() && !quit_.load(std::memory_order_relaxed))
    now = clock_now();
  return now;
}

void WorkerThread::after_turn(Instant now) {
  if (const std::string_view fault = cycle_->crash(); !fault.empty()) crash(fault);
  tell_faults();
  if (cycle_->failed()) return fail(cycle_->failure(), cycle_->waiting_for());
  if (stage_ == Stage::connecting && cycle_->connected()) {
    stage_ = Stage::replaying;
    emit(coordination::WorkerConnected{});
  }
  if (cycle_->running()) started_ = true;
  if (auto done = cycle_->take_step_done()) {
    publish();
    emit(*done);
  }
  if (now >= next_progress_) report_progress(now);
}

/// Faults of the kernel; while there is no room for events, what comes later stands for all.
void WorkerThread::tell_faults() {
  while (outbox_.room() > kEventsReserved) {
    const auto fault = cycle_->take_fault();
    if (!fault) return;
    emit(*fault);
  }
}

// The log has a thread of its own, which would not live to write it.
void WorkerThread::crash(std::string_view fault) {
  const std::string line = "fault '" + std::string(fault) + "' of the plan: this agent crashes\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(kCrashStatus);
}

void WorkerThread::report_progress(Instant now) {
  next_progress_ = now + kProgressInterval;
  publish();
  const bool busy = cycle_->running() && cycle_->only_waits(now);
  const plan::Limits& limits = options_.plan->limits;
  switch (watch_.look(cycle_->moved(), started_, busy, now)) {
    case ProgressWatch::Verdict::fine:
      break;
    case ProgressWatch::Verdict::stalled:
      return fail("nothing moved for " + format_duration(limits.progress), cycle_->waiting_for());
    case ProgressWatch::Verdict::too_long:
      if (cycle_->finished()) break;
      return fail("the run took longer than " + format_duration(limits.duration),
                  cycle_->waiting_for());
  }
  if (stage_ != Stage::replaying || outbox_.room() <= kEventsReserved) return;
  coordination::WorkerProgress progress{
      .iterations_done = cycle_->iterations_done(), .moved = cycle_->moved(), .waiting_for = {}};
  // Only a rank that stands still is asked whom it waits for: asking allocates.
  if (busy && now - watch_.last_change() >= kProgressInterval)
    progress.waiting_for = cycle_->waiting_for();
  emit(std::move(progress));
}

// The connections stay as they are, silent, until stop(): closing them now would make the next
// agent blame this one.
void WorkerThread::fail(std::string reason, std::vector<HostIndex> waiting_for) {
  stage_ = Stage::failed;
  emit(coordination::WorkerFailed{std::move(reason), std::move(waiting_for)});
}

void WorkerThread::emit(WorkerEvent event) {
  CHECK(outbox_.push(std::move(event)), "nobody takes the worker's events");
  if (options_.notify) options_.notify();
}

void WorkerThread::publish() noexcept {
  if (cycle_ == nullptr) return;
  const replay::ReplayCounters counters = cycle_->counters();
  const replay::BackgroundCount beside = cycle_->background();
  published_.publish({.bytes_sent = counters.sent.count(),
                      .bytes_received = counters.received.count(),
                      .bytes_local = counters.local.count(),
                      .background_bytes_sent = beside.sent.count(),
                      .background_bytes_received = beside.received.count(),
                      .messages_sent = counters.messages_sent,
                      .messages_received = counters.messages_received,
                      .ops_done = cycle_->ops_done(),
                      .iterations_done = cycle_->iterations_done(),
                      .system_calls = cycle_->system_calls() + waits_,
                      .turns = turns_,
                      .turn_nanoseconds_max = static_cast<std::uint64_t>(turn_max_.count())});
}

Instant WorkerThread::wait_until(Instant now) const noexcept {
  Instant until = std::min(cycle_->next_deadline(), std::max(next_progress_, now));
  if (const auto appointment = cycle_->appointment()) until = std::min(until, *appointment - kSpin);
  return until;
}

}  // namespace rehearsal::agent

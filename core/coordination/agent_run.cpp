#include "core/coordination/agent_run.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/units.hpp"
#include "core/coordination/log.hpp"
#include "core/coordination/messages.hpp"
#include "core/plan/plan_codec.hpp"

namespace rehearsal::coordination {

AgentRun::AgentRun(const AgentOptions& options, std::vector<AgentAction>& out,
                   std::uint64_t& tickets, std::string id)
    : options_(options),
      out_(out),
      tickets_(tickets),
      id_(std::move(id)),
      incoming_plan_(options.plan_bytes_max, "the plan of run " + id_) {}

void AgentRun::on(const protocol::Prepare& message, Instant now) {
  if (leaving() || stop_wanted_ || failed_) return;
  const bool last = message.offset() + message.part().size() == message.size();
  if (plan_) {
    if (last && worker_ != Worker::opening) send_prepared();
    return;
  }
  const Result<bool> whole = incoming_plan_.add(
      {.size = message.size(), .offset = message.offset(), .bytes = message.part()});
  if (whole && !*whole) return;
  const Result<void> taken =
      whole ? take_plan(message, incoming_plan_.take(), now) : Failure{whole.error()};
  if (!taken) {
    failed_ = true;
    send_failed(taken.error().text(), {});
    return;
  }
  worker_ = Worker::opening;
  out_.push_back(OpenWorker{
      .plan = plan_, .host = HostIndex{message.host()}, .run = id_, .token = message.token()});
}

/// A plan is checked here as well: a bad one must not get as far as the worker.
Result<void> AgentRun::take_plan(const protocol::Prepare& message, const std::string& bytes,
                                 Instant now) {
  Result<plan::Plan> plan = plan::decode(bytes);
  if (!plan) return Failure{plan.error().within("the plan of run " + id_)};
  if (const std::string hash = plan::plan_hash(*plan); hash != message.plan_hash()) {
    return fail(
        ErrorCode::protocol, ErrorSource::control,
        "the plan that came has hash " + hash + ", announced was " + one_line(message.plan_hash()));
  }
  if (message.host() >= plan->hosts.size() ||
      plan->hosts[message.host()] != plan::without_kernel(options_.inventory)) {
    return fail(
        ErrorCode::refused, ErrorSource::control,
        "host " + std::to_string(message.host()) + " of the plan is not this agent as it is");
  }
  RETURN_IF_ERROR(take_faults(*plan, HostIndex{message.host()}, now));
  plan_ = std::make_shared<const plan::Plan>(std::move(*plan));
  return {};
}

void AgentRun::on(const protocol::Connect& message, Instant) {
  if (leaving() || stop_wanted_ || failed_) return;
  if (connect_given_) {
    if (message.last() && connected_told_) send_connected();
    return;
  }
  if (worker_ != Worker::opened) return;
  for (const protocol::ConnectionAddress& given : message.addresses()) {
    if (std::optional<KeyedAddress> address = from_message(given)) {
      connect_[address->key] = std::move(address->address);
    }
  }
  if (!message.last()) return;
  connect_given_ = true;
  ConnectWorker connect;
  for (auto& [key, address] : connect_) connect.addresses.push_back({key, std::move(address)});
  connect_.clear();
  out_.push_back(std::move(connect));
}

void AgentRun::on(const protocol::StartAt& message, Instant) {
  if (leaving() || stop_wanted_ || finish_wanted_ || failed_) return;
  if (worker_ != Worker::connected || !clock_) return;
  const Step step{.iteration = message.iteration(), .phase = message.phase()};
  if (step_ && step <= *step_) {
    if (step == *step_ && step_done_) send_step_done();
    return;
  }
  step_ = step;
  step_done_ = false;
  step_start_ = instant_of(message.instant_ns()) - clock_->offset;
  out_.push_back(
      StartWorker{.iteration = step.iteration, .phase = step.phase, .instant = step_start_});
}

void AgentRun::on(const protocol::Finish&, Instant now) {
  if (leaving() || stop_wanted_ || finish_wanted_) return;
  finish_wanted_ = true;
  end_faults(now);
  if (worker_ == Worker::stopped) return hand_over(now);
  if (worker_ == Worker::connected) out_.push_back(FinishWorker{});
}

void AgentRun::on(const protocol::Stop& message, Instant now) {
  if (leaving()) return;
  stop_wanted_ = true;
  end_faults(now);
  if (worker_ == Worker::none || worker_ == Worker::stopped) {
    stopped_told_ = false;  // again, if it was told before
    return hand_over(now);
  }
  if (worker_ != Worker::stopping) stop_worker(message.reason(), now);
}

void AgentRun::on(const protocol::Release&, Instant now) {
  release_wanted_ = true;
  if (worker_ == Worker::none || worker_ == Worker::stopped) return release(now);
  if (worker_ != Worker::stopping) stop_worker("released", now);
}

void AgentRun::on(const WorkerOpened& event, Instant) {
  if (worker_ != Worker::opening) return;
  worker_ = Worker::opened;
  opened_ = event.addresses;
  send_prepared();
}

void AgentRun::on(const WorkerConnected&, Instant) {
  if (worker_ != Worker::opened) return;
  worker_ = Worker::connected;
  send_connected();
}

void AgentRun::on_clock(const std::optional<ClockOffset>& clock) {
  clock_ = clock;
  // An appointment can only be kept on a known clock, so connected waits for the first estimate.
  if (worker_ == Worker::connected && !connected_told_) send_connected();
}

void AgentRun::on(const WorkerStepDone& event, Instant now) {
  if (!step_ || worker_ != Worker::connected || step_done_) return;
  step_done_ = true;
  // In mode free one start stands for all iterations; its end is reported as the last one's.
  step_ = Step{.iteration = event.iteration, .phase = event.phase};
  if (orphaned_) return stop_worker("the coordinator is gone", now);
  send_step_done();
}

void AgentRun::on(const WorkerProgress& event, Instant now) {
  if (worker_ != Worker::connected) return;
  const bool edge = event.iterations_done > iterations_done_;
  iterations_done_ = event.iterations_done;
  if (orphaned_) {
    if (edge) stop_worker("the coordinator is gone", now);
    return;
  }
  protocol::Envelope envelope;
  protocol::Progress& progress = *envelope.mutable_progress();
  progress.set_run(id_);
  progress.set_iterations_done(event.iterations_done);
  progress.set_moved(event.moved);
  for (const HostIndex host : event.waiting_for) progress.add_waiting_for(host.value);
  send(std::move(envelope));
}

void AgentRun::on(const WorkerFailed& event, Instant now) {
  if (worker_ == Worker::none || worker_ == Worker::stopped) return;
  end_faults(now);
  if (worker_ == Worker::opening) {
    worker_ = Worker::none;
    out_.push_back(ReleaseWorker{});
  }
  failed_ = true;
  if (!stop_wanted_) send_failed(event.reason, event.waiting_for);
}

void AgentRun::on(const WorkerStopped& event, Instant now) {
  if (worker_ == Worker::none || worker_ == Worker::stopped) return;
  worker_ = Worker::stopped;
  stop_deadline_ = kNever;
  results_ = event.results;
  end_faults(now);
  hand_over(now);
}

/// What was measured goes when no byte leaves any more and every fault is undone and read back.
void AgentRun::hand_over(Instant now) {
  if ((worker_ != Worker::stopped && worker_ != Worker::none) || !faults_are_off()) return;
  if (leaving()) return release(now);
  if (finish_wanted_ || stop_wanted_) send_results();
  if (stop_wanted_ && !std::exchange(stopped_told_, true)) send_stopped();
}

void AgentRun::orphan(Instant heard, Instant now) {
  if (leaving()) return;
  orphaned_ = true;
  end_faults(now);
  if (worker_ == Worker::none || worker_ == Worker::stopped) return release(now);
  if (worker_ == Worker::stopping) return;
  const bool on_its_way = !step_done_ && step_start_ <= now;
  if (on_its_way) {
    // What was agreed goes on to its edge, which comes by itself or not.
    orphan_deadline_ = std::max(now, heard + options_.orphan_limit);
  } else {
    stop_worker("the coordinator is gone", now);
  }
}

void AgentRun::abandon(Instant now) {
  orphaned_ = true;
  orphan_deadline_ = kNever;
  end_faults(now);
  if (worker_ == Worker::none || worker_ == Worker::stopped) return release(now);
  if (worker_ != Worker::stopping) stop_worker("the coordinator knows this run no more", now);
}

void AgentRun::tick(Instant now) {
  if (now >= stop_deadline_) {
    out_.push_back(log_line(LogLevel::error, "worker did not stop in time", {{"run", id_}}));
    on(WorkerStopped{}, now);
  }
  if (now >= orphan_deadline_ && worker_ != Worker::stopping && worker_ != Worker::stopped) {
    stop_worker("the coordinator is gone", now);
  }
  for (Faults& faults : faults_) tick_faults(faults, now);
}

Instant AgentRun::deadline() const {
  if (over_) return kNever;
  Instant next = worker_ == Worker::stopping ? stop_deadline_ : orphan_deadline_;
  for (const Faults& faults : faults_) {
    if (faults.runner) next = std::min({next, faults.runner->deadline(), faults.deadline});
  }
  return next;
}

void AgentRun::stop_worker(const std::string& reason, Instant now) {
  out_.push_back(log_line(LogLevel::info, "worker stops",
                          {{"run", id_},
                           {"iteration", std::to_string(step_ ? step_->iteration : 0)},
                           {"reason", reason}}));
  worker_ = Worker::stopping;
  end_faults(now);
  orphan_deadline_ = kNever;
  stop_deadline_ = now + options_.worker_stop_deadline;
  out_.push_back(StopWorker{reason});
}

void AgentRun::release(Instant now) {
  end_faults(now);
  if (!faults_are_off() || over_) return;  // carry_on() comes back to it
  if (worker_ == Worker::stopped) out_.push_back(ReleaseWorker{});
  worker_ = Worker::none;
  over_ = true;
  if (orphaned_) return;
  protocol::Envelope envelope;
  envelope.mutable_released()->set_run(id_);
  send(std::move(envelope));
}

void AgentRun::send(protocol::Envelope message) {
  out_.push_back(SendToCoordinator{std::move(message)});
}

void AgentRun::send_failed(const std::string& reason, const std::vector<HostIndex>& waiting_for) {
  if (orphaned_) return;
  out_.push_back(log_line(LogLevel::error, "run failed here", {{"run", id_}, {"reason", reason}}));
  protocol::Envelope envelope;
  protocol::Failed& failed = *envelope.mutable_failed();
  failed.set_run(id_);
  failed.set_reason(plain(reason));  // may quote what a command printed
  for (const HostIndex host : waiting_for) failed.add_waiting_for(host.value);
  send(std::move(envelope));
}

void AgentRun::send_prepared() {
  if (orphaned_) return;
  for (protocol::Envelope& message : prepared_messages(id_, opened_)) send(std::move(message));
}

void AgentRun::send_connected() {
  if (!clock_ || orphaned_) return;
  connected_told_ = true;
  protocol::Envelope envelope;
  envelope.mutable_connected()->set_run(id_);
  to_message(clock_, *envelope.mutable_connected()->mutable_clock());
  send(std::move(envelope));
}

void AgentRun::send_step_done() {
  protocol::Envelope envelope;
  protocol::StepDone& done = *envelope.mutable_step_done();
  done.set_run(id_);
  done.set_iteration(step_->iteration);
  done.set_phase(step_->phase);
  to_message(clock_, *done.mutable_clock());
  send(std::move(envelope));
}

/// Once a run: what was offered is not offered again.
void AgentRun::send_results() {
  if (!results_ || results_told_) return;
  results_told_ = true;
  add_faults_to_results();
  for (const protocol::Part& part : protocol::parts_of(*results_)) {
    protocol::Envelope envelope;
    protocol::Results& results = *envelope.mutable_results();
    results.set_run(id_);
    results.set_size(part.size);
    results.set_offset(part.offset);
    results.set_part(part.bytes.data(), part.bytes.size());
    send(std::move(envelope));
  }
}

void AgentRun::send_stopped() {
  protocol::Envelope envelope;
  envelope.mutable_stopped()->set_run(id_);
  send(std::move(envelope));
}

}  // namespace rehearsal::coordination

#include "agent/control/agent_loop.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <deque>
#include <utility>

#include "agent/fault/helper_link.hpp"
#include "agent/worker/reach.hpp"
#include "core/measure/agent_measurements.hpp"
#include "runtime/clock.hpp"
#include "runtime/log.hpp"

namespace rehearsal::agent {
namespace {

using coordination::AgentEvent;

void write_log(const coordination::Log& log) {
  switch (log.level) {
    case coordination::LogLevel::info:
      return runtime::log_info(log.text);
    case coordination::LogLevel::warning:
      return runtime::log_warning(log.text);
    case coordination::LogLevel::error:
      return runtime::log_error(log.text);
  }
}

void wake(int descriptor) {
  const std::uint64_t one = 1;
  // It can only fail when the counter is full, and then the control thread is awake.
  [[maybe_unused]] const auto written = ::write(descriptor, &one, sizeof one);
}

void add(const WorkerCounters& run, WorkerCounters& total) {
  total.bytes_sent += run.bytes_sent;
  total.bytes_received += run.bytes_received;
  total.bytes_local += run.bytes_local;
  total.background_bytes_sent += run.background_bytes_sent;
  total.background_bytes_received += run.background_bytes_received;
  total.messages_sent += run.messages_sent;
  total.messages_received += run.messages_received;
  total.ops_done += run.ops_done;
  total.iterations_done += run.iterations_done;
  total.system_calls += run.system_calls;
  total.turns += run.turns;
  total.turn_nanoseconds_max = std::max(total.turn_nanoseconds_max, run.turn_nanoseconds_max);
}

}  // namespace

class AgentLoop::Impl {
 public:
  Impl(asio::io_context& context, AgentLoopOptions options, int event_descriptor)
      : options_(std::move(options)),
        wakeup_(context, event_descriptor),
        timer_(context),
        link_(context, options_.link,
              {.on_up = [this] { deliver(coordination::LinkUp{}); },
               .on_message =
                   [this](protocol::Envelope message) {
                     deliver(coordination::LinkMessage{std::move(message)});
                   },
               .on_down =
                   [this](std::string reason) {
                     ++counters_.links_lost;
                     deliver(coordination::LinkDown{std::move(reason)});
                   }}) {
    const int wakeup = wakeup_.native_handle();  // stays open longer than what writes to it
    reach_ = std::make_unique<Reach>(options_.inventory, [wakeup] { wake(wakeup); });
    for (const coordination::Helper helper : coordination::kHelpers) {
      const bool is_kernel = helper == coordination::Helper::kernel;
      const auto& socket = is_kernel ? options_.helper : options_.external;
      if (socket.empty()) continue;
      link_to(helper).emplace(
          context, socket, helper_handlers(helper),
          is_kernel ? fault::kGreetingPatience : fault::kGreetingPatienceExternal);
    }
  }

  void start() {
    wait_for_worker();
    for (auto& helper : helpers_) {
      if (helper) helper->start();
    }
    link_.connect_at(runtime::now());
  }

  void stop(const std::string& reason) {
    stopped_ = true;
    forget_worker();
    reach_->close();
    for (auto& helper : helpers_) {
      if (helper) helper->close();  // and with it all faults that were asked for
    }
    link_.close(reason);
    timer_.cancel();
    asio::error_code ignored;
    wakeup_.cancel(ignored);
  }

  AgentLoopCounters counters() const {
    AgentLoopCounters all = counters_;
    if (worker_) add(worker_->counters(), all.worker);
    return all;
  }

 private:
  std::optional<HelperLink>& link_to(coordination::Helper helper) {
    return helpers_[static_cast<std::size_t>(helper)];
  }

  HelperLinkHandlers helper_handlers(coordination::Helper helper) {
    return {.on_up =
                [this, helper](fault::WelcomeReply welcome) {
                  deliver(coordination::HelperUp{std::move(welcome), helper});
                },
            .on_answer =
                [this](std::uint64_t ticket, fault::HelperReply reply) {
                  deliver(coordination::HelperAnswered{ticket, std::move(reply)});
                },
            .on_down =
                [this, helper](std::string reason) {
                  deliver(coordination::HelperDown{std::move(reason), helper});
                }};
  }

  /// Events that arise while actions are carried out wait until these are done.
  void deliver(AgentEvent event) {
    events_.push_back(std::move(event));
    if (delivering_) return;
    delivering_ = true;
    while (!events_.empty() && !stopped_) {
      const AgentEvent next = std::move(events_.front());
      events_.pop_front();
      for (auto& action : options_.session.on(next, runtime::now())) {
        std::visit([this](auto& wanted) { perform(wanted); }, action);
      }
    }
    delivering_ = false;
    if (!stopped_) arm();
  }

  void perform(coordination::SendToCoordinator& action) { link_.send(action.message); }
  void perform(coordination::Reconnect& action) { link_.connect_at(action.at); }
  void perform(coordination::CloseLink& action) { link_.close(action.reason); }
  void perform(coordination::Log& action) { write_log(action); }

  void perform(coordination::AskHelper& action) {
    if (auto& link = link_to(action.helper)) link->ask(action.ticket, action.request);
  }
  void perform(coordination::DropHelper& action) {
    if (auto& link = link_to(action.helper)) link->drop(action.reason);
  }

  void perform(coordination::OpenWorker& action) {
    forget_worker();
    plan_ = action.plan;
    const int wakeup = wakeup_.native_handle();  // stays open longer than any worker
    auto worker = options_.start_worker({
        .plan = std::move(action.plan),
        .host = action.host,
        .run = std::move(action.run),
        .token = std::move(action.token),
        .notify = [wakeup] { wake(wakeup); },
    });
    if (!worker) {
      return deliver(
          coordination::WorkerFailed{.reason = worker.error().text(), .waiting_for = {}});
    }
    ++counters_.runs;
    worker_ = std::move(*worker);
  }

  void perform(coordination::ConnectWorker& action) {
    if (worker_) worker_->connect(std::move(action.addresses));
  }

  void perform(coordination::StartWorker& action) {
    if (!worker_) return;
    if (options_.read_counters && !counts_before_) counts_before_ = options_.read_counters();
    if (options_.watch_wire && !sampler_) sampler_ = options_.watch_wire(*plan_);
    worker_->start_step(action.iteration, action.phase, action.instant);
  }

  void perform(coordination::StopWorker&) {
    if (worker_) worker_->stop();
  }
  void perform(coordination::FinishWorker&) {
    if (worker_) worker_->finish();
  }
  void perform(coordination::TryReach& action) { reach_->order(action.order); }
  void perform(coordination::EndReach&) { reach_->close(); }
  void perform(coordination::ReleaseWorker&) { forget_worker(); }

  void forget_worker() {
    counts_before_.reset();
    sampler_.reset();
    plan_.reset();
    if (!worker_) return;
    add(worker_->counters(), counters_.worker);
    worker_.reset();
  }

  void wait_for_worker() {
    wakeup_.async_wait(
        asio::posix::stream_descriptor::wait_read, [this](const asio::error_code& error) {
          if (error || stopped_) return;
          std::uint64_t count = 0;
          [[maybe_unused]] const auto taken = ::read(wakeup_.native_handle(), &count, sizeof count);
          take_worker_events();
          take_reach_reports();
          wait_for_worker();
        });
  }

  void take_worker_events() {
    if (!worker_) return;  // an echo of one that was released
    const WorkerPort* speaker = worker_.get();
    for (WorkerEvent& event : worker_->take_events()) {
      if (auto* stopped = std::get_if<coordination::WorkerStopped>(&event)) {
        add_counters(stopped->results);
      }
      deliver(std::visit([](auto& what) { return AgentEvent(std::move(what)); }, event));
      if (worker_.get() != speaker || stopped_) return;
    }
  }

  void take_reach_reports() {
    for (protocol::ReachReport& report : reach_->take_reports())
      deliver(coordination::ReachSaid{std::move(report)});
  }

  /// What the NICs counted between the first start and now goes beside what the worker posted.
  void add_counters(std::string& results) {
    if (!counts_before_ || results.empty()) return;
    auto measurements = measure::decode_agent_measurements(results);
    if (!measurements) {
      return runtime::log_warning("NIC counters are left out: " + measurements.error().text());
    }
    add_nic_counts(*counts_before_, options_.read_counters(), *measurements);
    if (sampler_) add_wire(sampler_->stop(), *measurements);
    results = measure::encode(*measurements);
  }

  void arm() {
    const Instant deadline = options_.session.next_deadline();
    if (deadline == armed_for_) return;
    armed_for_ = deadline;
    timer_.cancel();
    if (deadline == kNever) return;
    timer_.expires_at(runtime::timer_point(deadline));
    timer_.async_wait([this](const asio::error_code& error) {
      if (error || stopped_) return;
      armed_for_ = kNever;
      deliver(coordination::Tick{});
    });
  }

  AgentLoopOptions options_;
  asio::posix::stream_descriptor wakeup_;
  runtime::Timer timer_;
  ControlLink link_;
  std::array<std::optional<HelperLink>, coordination::kHelpers.size()> helpers_;
  std::unique_ptr<WorkerPort> worker_;
  std::unique_ptr<Reach> reach_;
  std::shared_ptr<const plan::Plan> plan_;  ///< of the worker
  std::optional<NicCounts> counts_before_;  ///< of the run's first start
  std::unique_ptr<WireSampler> sampler_;    ///< since then
  AgentLoopCounters counters_;
  std::deque<AgentEvent> events_;
  bool delivering_ = false;
  Instant armed_for_ = kNever;
  bool stopped_ = false;
};

Result<std::unique_ptr<AgentLoop>> AgentLoop::create(asio::io_context& context,
                                                     AgentLoopOptions options) {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) return system_failure(ErrorSource::host, "cannot make an eventfd", errno);
  return std::unique_ptr<AgentLoop>(
      new AgentLoop(std::make_unique<Impl>(context, std::move(options), descriptor)));
}

AgentLoop::AgentLoop(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AgentLoop::~AgentLoop() { impl_->stop("the agent stops"); }

void AgentLoop::start() { impl_->start(); }
void AgentLoop::stop(const std::string& reason) { impl_->stop(reason); }
AgentLoopCounters AgentLoop::counters() const { return impl_->counters(); }

}  // namespace rehearsal::agent

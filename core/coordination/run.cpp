#include "core/coordination/run.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/units.hpp"
#include "core/coordination/messages.hpp"
#include "core/plan/external_faults.hpp"
#include "core/plan/plan_codec.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::coordination {
namespace {

/// Beyond twice the clocks' error bound (a whole exchange of messages): for the agents to hand an
/// appointment to their workers.
constexpr Duration kAppointmentMargin = std::chrono::milliseconds{1};
/// A run that has not moved for this long is looked at for stragglers, and again after as long.
constexpr Duration kStragglerAfter = std::chrono::milliseconds{500};

std::uint32_t phases_of(const plan::Plan& plan) {
  std::size_t phases = 1;
  if (plan.synchronisation == plan::SyncMode::phase) {
    for (const plan::PlannedJob& job : plan.jobs) {
      phases = std::max(phases, job.profile->phases.size());
    }
  }
  return static_cast<std::uint32_t>(phases);
}

}  // namespace

Run::Run(const CoordinatorOptions& options, Outbox& outbox, RunSetup setup, Instant now)
    : options_(options),
      outbox_(outbox),
      setup_(std::move(setup)),
      barrier_({.mode = plan().synchronisation,
                .iterations = plan().iterations,
                .phases = phases_of(plan()),
                .hosts = plan().hosts.size()}),
      begun_(now) {
  CHECK(setup_.agents.size() == plan().hosts.size(), "an agent for each host of the plan");
  for (std::uint32_t i = 0; i < setup_.agents.size(); ++i) {
    RunAgent agent;
    agent.session = setup_.agents[i];
    agent.host = plan().hosts[i].host;
    agent.heard = now;
    agents_.push_back(std::move(agent));
    CHECK(indices_.emplace(setup_.agents[i], HostIndex{i}).second, "one host an agent");
  }
  protocol::Envelope started;
  started.mutable_run_started()->set_run(id());
  started.mutable_run_started()->set_plan_hash(setup_.planned->hash);
  started.mutable_run_started()->set_iterations(iterations());
  tell(std::move(started));
  enter(RunState::reserving, now + options_.reserve_deadline, now);
  send_to_all([&](const RunAgent&, protocol::Envelope& envelope) {
    envelope.mutable_reserve()->set_run(id());
    envelope.mutable_reserve()->set_epoch(options_.epoch);
  });
}

bool Run::all(bool RunAgent::*what) const {
  return std::all_of(agents_.begin(), agents_.end(),
                     [&](const RunAgent& agent) { return !agent.here() || agent.*what; });
}

std::vector<HostIndex> Run::without(bool RunAgent::*what) const {
  std::vector<HostIndex> hosts;
  for (const RunAgent& agent : agents_) {
    if (agent.here() && !(agent.*what)) hosts.push_back(host_of(agent));
  }
  return hosts;
}

HostIndex Run::host_of(const RunAgent& agent) const {
  return HostIndex{static_cast<std::uint32_t>(&agent - agents_.data())};
}

template <typename Fill>
void Run::send_to_all(Fill fill) {
  for (const RunAgent& agent : agents_) {
    if (!agent.here()) continue;
    protocol::Envelope envelope;
    fill(agent, envelope);
    outbox_.send(agent.session, std::move(envelope));
  }
}

void Run::enter(RunState state, Instant deadline, Instant now) {
  state_ = state;
  state_deadline_ = deadline;
  tell_progress(now, /*at_once=*/true);
}

void Run::move_on(Instant now) {
  if (over_) return;
  if (reporting_) {
    if (report_ != nullptr && all(&RunAgent::released)) finish(now);
  } else if (ending()) {
    if (all(&RunAgent::stopped)) conclude(now);
  } else if (state_ == RunState::reserving && all(&RunAgent::reserved)) {
    prepare(now);
  } else if (state_ == RunState::preparing && all(&RunAgent::prepared)) {
    connect(now);
  } else if (state_ == RunState::connecting && all(&RunAgent::connected)) {
    appoint(now);
  } else if (state_ == RunState::draining && all(&RunAgent::measured)) {
    conclude(now);
  }
}

void Run::prepare(Instant now) {
  enter(RunState::preparing, now + options_.prepare_deadline, now);
  const std::string encoded = plan::encode(plan());
  for (const protocol::Part& part : protocol::parts_of(encoded)) {
    send_to_all([&](const RunAgent& agent, protocol::Envelope& envelope) {
      protocol::Prepare& prepare = *envelope.mutable_prepare();
      prepare.set_run(id());
      prepare.set_token(setup_.token);
      prepare.set_host(host_of(agent).value);
      prepare.set_plan_hash(setup_.planned->hash);
      prepare.set_size(part.size);
      prepare.set_offset(part.offset);
      prepare.set_part(part.bytes.data(), part.bytes.size());
    });
  }
}

void Run::connect(Instant now) {
  enter(RunState::connecting, now + options_.connect_deadline, now);
  for (const RunAgent& agent : agents_) {
    std::vector<KeyedAddress> addresses;
    for (auto& [key, address] : addresses_[host_of(agent)]) {
      addresses.push_back({key, std::move(address)});
    }
    for (protocol::Envelope& envelope : connect_messages(id(), addresses)) {
      outbox_.send(agent.session, std::move(envelope));
    }
  }
  addresses_.clear();
}

/// Names the instant at which the step that is on begins: far enough ahead that the message is
/// there before it, on clocks that are known to within their error bounds.
void Run::appoint(Instant now) {
  Duration bound_max{0};
  for (const RunAgent& agent : agents_) {
    if (!agent.clocks.empty()) bound_max = std::max(bound_max, agent.clocks.back().error_bound);
  }
  const Instant instant = now + std::max(options_.start_lead, 2 * bound_max + kAppointmentMargin);
  const Step step = barrier_.step();
  send_to_all([&](const RunAgent&, protocol::Envelope& envelope) {
    protocol::StartAt& start = *envelope.mutable_start_at();
    start.set_run(id());
    start.set_iteration(step.iteration);
    start.set_phase(step.phase);
    start.set_instant_ns(nanoseconds(instant));
  });
  last_progress_ = instant;
  next_look_ = instant + kStragglerAfter;
  note_.clear();
  if (first_start_ != kNever) return;
  first_start_ = instant;
  outbox_.log(
      LogLevel::info, "run starts",
      {{"run", id()}, {"iteration", "0"}, {"clock_error_bound", format_duration(bound_max)}});
  enter(RunState::ready, instant, now);
}

void Run::drain(Instant now) {
  enter(RunState::draining, now + options_.drain_deadline + plan::command_time(plan()), now);
  next_look_ = kNever;
  send_to_all([&](const RunAgent&, protocol::Envelope& envelope) {
    envelope.mutable_finish()->set_run(id());
  });
}

void Run::end(Ending ending, Instant now) {
  using report::StopReason;
  if (reporting_) return;
  if (this->ending()) {
    // Whoever else gave up did so because this agent went.
    if (ending.reason == StopReason::agent_lost && stop_->reason == StopReason::failed) {
      stop_ = std::move(ending);
    }
    return;
  }
  outbox_.log(LogLevel::warning, "run ends early",
              {{"run", id()},
               {"state", std::string(to_string(state_))},
               {"iteration", std::to_string(barrier_.step().iteration)},
               {"why", std::string(report::to_string(ending.reason))},
               {"detail", ending.detail}});
  const std::string reason = ending.detail;
  stop_ = std::move(ending);
  note_ = reason;
  next_look_ = kNever;
  enter(RunState::draining, now + options_.stop_deadline + plan::command_time(plan()), now);
  send_to_all([&](const RunAgent&, protocol::Envelope& envelope) {
    envelope.mutable_stop()->set_run(id());
    envelope.mutable_stop()->set_reason(one_line(reason));
  });
}

void Run::agent_lost(SessionId session, const std::string& reason, Instant now) {
  const auto index = indices_.find(session);
  if (index == indices_.end() || over_) return;
  RunAgent& agent = agents_[index->second.value];
  if (!agent.here()) return;
  lose(agent, reason);
  if (!reporting_) {
    end({.reason = report::StopReason::agent_lost,
         .detail = agent.host + " is lost: " + reason,
         .waited_for = {agent.host}},
        now);
  }
  move_on(now);
}

void Run::lose(RunAgent& agent, const std::string& reason) {
  agent.lost = one_line(reason) + " in state " + std::string(to_string(state_));
  outbox_.log(LogLevel::warning, "agent lost",
              {{"run", id()}, {"host", agent.host}, {"reason", agent.lost}});
}

void Run::stop(const std::string& reason, Instant now) {
  end({.reason = report::StopReason::stopped, .detail = reason, .waited_for = {}}, now);
  move_on(now);
}

void Run::operator_gone(Instant now) {
  operator_here_ = false;
  if (!over_) stop("the operator's session closed", now);
}

Instant Run::running_deadline() const {
  if (state_ != RunState::running) return kNever;
  Instant deadline = kNever;
  const plan::Limits& limits = plan().limits;
  if (limits.duration > Duration::zero()) deadline = first_start_ + limits.duration;
  if (limits.progress > Duration::zero()) {
    deadline = std::min(deadline, last_progress_ + limits.progress);
  }
  return deadline;
}

Instant Run::deadline() const {
  if (over_) return kNever;
  Instant next = std::min({state_deadline_, running_deadline(), next_look_});
  if (untold_) next = std::min(next, next_telling_);
  return next;
}

void Run::tick(Instant now) {
  if (over_) return;
  if (state_ == RunState::ready && now >= state_deadline_) {
    enter(RunState::running, kNever, now);
  }
  if (now >= next_look_) look_for_stragglers(now);
  if (untold_ && now >= next_telling_) tell_progress(now, /*at_once=*/false);
  if (now >= std::min(state_deadline_, running_deadline())) timed_out(now);
}

void Run::timed_out(Instant now) {
  if (reporting_) {
    for (const HostIndex host : without(&RunAgent::released)) {
      outbox_.log(LogLevel::warning, "agent not released in time",
                  {{"run", id()}, {"host", agents_[host.value].host}});
    }
    finish(now);
    return;
  }
  if (ending()) {
    for (const HostIndex host : without(&RunAgent::stopped)) {
      lose(agents_[host.value],
           "not stopped within " +
               format_duration(options_.stop_deadline + plan::command_time(plan())));
    }
    conclude(now);
    return;
  }
  const Waiting who = waiting(now);
  std::string limit = "the deadline of state " + std::string(to_string(state_)) + " passed";
  if (state_ == RunState::running) {
    limit = now >= first_start_ + plan().limits.duration
                ? "the run's limit of " + format_duration(plan().limits.duration) + " passed"
                : "nothing moved for " + format_duration(plan().limits.progress);
  }
  end({.reason = report::StopReason::timed_out,
       .detail = limit + "; waited for " + who.text,
       .waited_for = who.hosts},
      now);
}

/// All that will come has come: the report is made, then the agents may go.
void Run::conclude(Instant now) {
  // A computation must be copyable; what it takes along is not to be copied.
  const auto evidence_of_run = std::make_shared<RunEvidence>(evidence(now));
  reporting_ = outbox_.compute([evidence_of_run]() -> Computation {
    return std::make_shared<const RunReport>(report_run(std::move(*evidence_of_run)));
  });
  state_deadline_ = kNever;  // nobody else is waited for
}

void Run::reported(ComputationId id, std::shared_ptr<const RunReport> report, Instant now) {
  if (reporting_ != id || report_ != nullptr) return;
  report_ = std::move(report);
  outbox_.store({this->id(), report_->files});
  if (operator_here_) send_report();
  RunState ended = RunState::finished;
  if (ending()) {
    ended = stop_->reason == report::StopReason::stopped ? RunState::stopped : RunState::failed;
  }
  enter(ended, now + options_.release_deadline + plan::command_time(plan()), now);
  send_to_all([&](const RunAgent&, protocol::Envelope& envelope) {
    envelope.mutable_release()->set_run(this->id());
  });
  move_on(now);
}

void Run::send_report() {
  for (const RunFile& file : report_->files) {
    for (const protocol::Part& part : protocol::parts_of(file.content)) {
      protocol::Envelope envelope;
      protocol::FilePart& message = *envelope.mutable_file_part();
      message.set_run(id());
      message.set_name(file.name);
      message.set_size(part.size);
      message.set_offset(part.offset);
      message.set_part(part.bytes.data(), part.bytes.size());
      tell(std::move(envelope));
    }
  }
}

void Run::finish(Instant) {
  over_ = true;
  outbox_.log(LogLevel::info, "run ended",
              {{"run", id()},
               {"verdict", std::string(report::to_string(report_->verdict))},
               {"iterations", std::to_string(iterations_done())},
               {"reason", report_->reason}});
  protocol::Envelope envelope;
  protocol::RunFinished& finished = *envelope.mutable_run_finished();
  finished.set_run(id());
  finished.set_verdict(std::string(report::to_string(report_->verdict)));
  finished.set_exit_code(static_cast<std::uint32_t>(report_->exit_code));
  finished.set_table(cut(report_->table, protocol::kPartBytesMax));
  finished.set_reason(one_line(ending() ? stop_->detail : report_->reason));
  tell(std::move(envelope));
}

std::vector<SessionId> Run::unreleased() const {
  std::vector<SessionId> sessions;
  for (const RunAgent& agent : agents_) {
    if (!agent.refused && !agent.released) sessions.push_back(agent.session);
  }
  return sessions;
}

}  // namespace rehearsal::coordination

// What a run tells: progress and stragglers while it is on, measurements for its report.
#include <algorithm>
#include <utility>

#include "core/coordination/messages.hpp"
#include "core/coordination/run.hpp"

namespace rehearsal::coordination {
namespace {

constexpr Duration kLookAgain = std::chrono::milliseconds{500};

}  // namespace

void Run::tell(protocol::Envelope message) {
  if (operator_here_) outbox_.send(setup_.operator_session, std::move(message));
}

std::uint32_t Run::iterations_done() const {
  if (plan().synchronisation != plan::SyncMode::free) return barrier_.iterations_done();
  std::uint32_t least = iterations();
  for (const RunAgent& agent : agents_) least = std::min(least, agent.iterations_done);
  return std::max(least, barrier_.iterations_done());
}

void Run::tell_progress(Instant now, bool at_once) {
  if (!at_once && now < next_telling_) {
    untold_ = true;
    return;
  }
  untold_ = false;
  next_telling_ = now + options_.progress_interval;
  protocol::Envelope envelope;
  protocol::RunProgress& progress = *envelope.mutable_run_progress();
  progress.set_run(id());
  progress.set_state(std::string(to_string(state_)));
  progress.set_iterations_done(iterations_done());
  progress.set_iterations(iterations());
  progress.set_note(note_);
  tell(std::move(envelope));
}

Waiting Run::waiting(Instant now) const {
  std::vector<HostIndex> missing;
  if (ending()) {
    missing = without(&RunAgent::stopped);
  } else if (state_ == RunState::reserving) {
    missing = without(&RunAgent::reserved);
  } else if (state_ == RunState::preparing) {
    missing = without(&RunAgent::prepared);
  } else if (state_ == RunState::connecting) {
    missing = without(&RunAgent::connected);
  } else if (state_ == RunState::running) {
    missing = barrier_.missing();
    return waiting_for(agents_, missing, now, options_.heartbeat_interval * 5 / 2);
  } else if (state_ == RunState::draining) {
    missing = without(&RunAgent::measured);
  }
  // In these states agents do not wait for one another: all that are missing are named.
  Waiting all_of_them;
  for (const HostIndex host : missing) all_of_them.hosts.push_back(agents_[host.value].host);
  all_of_them.text = joined(all_of_them.hosts);
  return all_of_them;
}

void Run::look_for_stragglers(Instant now) {
  next_look_ = now + kLookAgain;
  if (state_ != RunState::running || now - last_progress_ < kLookAgain) return;
  const Waiting who = waiting(now);
  if (!who.stands_out) return;
  note_ = "waiting for " + who.text;
  tell_progress(now, /*at_once=*/true);
  if (named_in_ == barrier_.step()) return;
  named_in_ = barrier_.step();
  outbox_.log(LogLevel::warning, "run waits for a straggler",
              {{"run", id()},
               {"host", joined(who.hosts)},
               {"iteration", std::to_string(barrier_.step().iteration)},
               {"detail", who.text}});
}

RunEvidence Run::evidence(Instant now) {
  RunEvidence evidence;
  evidence.planned = setup_.planned;
  report::RunMeasurements& run = evidence.run;
  run.run = id();
  run.software = options_.software;
  if (options_.wall_time) {
    run.started_at = options_.wall_time(begun_);
    run.finished_at = options_.wall_time(now);
  }
  if (stop_) {
    run.stop = stop_->reason;
    run.stop_detail = stop_->detail;
    run.waited_for = stop_->waited_for;
  }
  for (RunAgent& agent : agents_) {
    report::AgentResult result;
    result.host = host_of(agent);
    result.clocks = agent.clocks;
    result.lost = agent.lost;
    run.agents.push_back(std::move(result));
    evidence.encoded.push_back(std::exchange(agent.results, std::nullopt));
  }
  return evidence;
}

}  // namespace rehearsal::coordination

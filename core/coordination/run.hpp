#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/coordination/coordinator.hpp"
#include "core/coordination/outbox.hpp"
#include "core/coordination/phase_barrier.hpp"
#include "core/coordination/planning.hpp"
#include "core/coordination/reporting.hpp"
#include "core/coordination/run_agent.hpp"
#include "core/coordination/waiting.hpp"

namespace rehearsal::coordination {

/// What a run is given.
struct RunSetup {
  std::string id;
  std::string token;
  std::shared_ptr<const PlannedDrill> planned;
  std::vector<SessionId> agents;  ///< by HostIndex
  SessionId operator_session;
};

/// One run, from reserving to the last release. Every state has a deadline; when it passes, an
/// agent is lost or fails, or the operator says stop, all agents are stopped, what they measured is
/// gathered and reported, and they are released. A state machine; the Coordinator owns it and hands
/// it what concerns it.
class Run {
 public:
  /// Reserves the agents. `options` and `outbox` outlive the run.
  Run(const CoordinatorOptions& options, Outbox& outbox, RunSetup setup, Instant now);

  /// A message of one of its agents. An agent that breaks the protocol is the returned failure; the
  /// caller ends its session and says that it is lost.
  Result<void> on(SessionId agent, const protocol::Envelope& message, Instant now);
  /// Any word of the agent, also one that is not of the run.
  void heard(SessionId agent, Instant now);
  void agent_lost(SessionId agent, const std::string& reason, Instant now);
  /// By an operator, or because the operator's session closed.
  void stop(const std::string& reason, Instant now);
  void operator_gone(Instant now);
  void tick(Instant now);
  /// The report that conclude() asked for.
  void reported(ComputationId id, std::shared_ptr<const RunReport> report, Instant now);

  Instant deadline() const;
  /// Ended, reported, and every agent released or gone.
  bool over() const { return over_; }
  /// Agents that have not said that they are released, once over(): those of their sessions that
  /// are still open are to be closed.
  std::vector<SessionId> unreleased() const;

  const std::string& id() const { return setup_.id; }
  RunState state() const { return state_; }
  std::uint32_t iterations() const { return plan().iterations; }
  std::uint32_t iterations_done() const;
  report::Verdict verdict() const { return report_->verdict; }
  bool has(SessionId agent) const { return indices_.contains(agent); }

 private:
  const plan::Plan& plan() const { return *setup_.planned->plan; }
  HostIndex host_of(const RunAgent& agent) const;
  bool ending() const { return stop_.has_value(); }
  /// Whether all agents that are here have `what`.
  bool all(bool RunAgent::*what) const;
  std::vector<HostIndex> without(bool RunAgent::*what) const;
  template <typename Fill>
  void send_to_all(Fill fill);

  // What agents say.
  void on_reserved(RunAgent& agent, const protocol::Reserved& message, Instant now);
  /// Channels that a connection of the job may have.
  std::uint32_t channels_max(JobIndex job) const;
  bool is_channel(const plan::ConnectionKey& key) const;
  Result<void> on_prepared(RunAgent& agent, const protocol::Prepared& message, Instant now);
  void on_connected(RunAgent& agent, const protocol::Connected& message, Instant now);
  void on_step_done(RunAgent& agent, const protocol::StepDone& message, Instant now);
  void on_progress(RunAgent& agent, const protocol::Progress& message, Instant now);
  Result<void> on_results(RunAgent& agent, const protocol::Results& message, Instant now);
  void on_failed(RunAgent& agent, const protocol::Failed& message, Instant now);

  // From state to state.
  void enter(RunState state, Instant deadline, Instant now);
  Instant running_deadline() const;
  void prepare(Instant now);
  void connect(Instant now);
  void appoint(Instant now);
  void drain(Instant now);
  struct Ending {
    report::StopReason reason = report::StopReason::finished;
    std::string detail;
    std::vector<std::string> waited_for;
  };
  void end(Ending ending, Instant now);
  void lose(RunAgent& agent, const std::string& reason);
  void timed_out(Instant now);
  /// On to the next state if all that this one waits for is here.
  void move_on(Instant now);
  void conclude(Instant now);
  void send_report();
  void finish(Instant now);

  // What the operator hears.
  void tell(protocol::Envelope message);
  void tell_progress(Instant now, bool at_once);
  void look_for_stragglers(Instant now);
  Waiting waiting(Instant now) const;
  /// Takes what the agents handed in.
  RunEvidence evidence(Instant now);

  const CoordinatorOptions& options_;
  Outbox& outbox_;
  RunSetup setup_;
  std::vector<RunAgent> agents_;  // by HostIndex
  std::map<SessionId, HostIndex> indices_;
  PhaseBarrier barrier_;
  bool operator_here_ = true;

  RunState state_ = RunState::reserving;
  Instant state_deadline_ = kNever;
  Instant begun_;
  Instant first_start_ = kNever;
  Instant last_progress_ = kNever;
  Instant next_look_ = kNever;    // for stragglers
  Instant next_telling_;          // of progress, at the earliest
  bool untold_ = false;           // progress that the operator has not heard of
  std::string note_;              // "waiting for host2 (…)"
  std::optional<Step> named_in_;  // the step whose stragglers were logged
  std::map<HostIndex, std::map<plan::ConnectionKey, std::string>>
      addresses_;  // by the host they are for
  std::optional<Ending> stop_;
  std::optional<ComputationId> reporting_;  // since conclude()
  bool over_ = false;
  std::shared_ptr<const RunReport> report_;  // since reported()
};

}  // namespace rehearsal::coordination

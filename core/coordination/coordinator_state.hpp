#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.hpp"
#include "core/coordination/agent_table.hpp"
#include "core/coordination/coordinator.hpp"
#include "core/coordination/fault_desk.hpp"
#include "core/coordination/outbox.hpp"
#include "core/coordination/permissions.hpp"
#include "core/coordination/profile_shelf.hpp"
#include "core/coordination/reach_desk.hpp"
#include "core/coordination/run.hpp"

namespace rehearsal::coordination {

/// The inside of Coordinator: sessions and who is behind them (coordinator.cpp), what operators ask
/// (operator_requests.cpp), and at most one run.
struct Coordinator::State {
  struct Session {
    std::string peer;
    Peer role = Peer::unknown;
    Instant opened;
    Instant heard;
  };

  explicit State(CoordinatorOptions given)
      : options(std::move(given)), random(options.seed), desk(outbox), reach(outbox) {}

  // Sessions.
  void on(const SessionOpened& event, Instant now);
  void on(const MessageReceived& event, Instant now);
  void on(const SessionClosed& event, Instant now);
  void on(const Tick& event, Instant now);
  void on(const Computed& event, Instant now);
  void hello(SessionId id, const protocol::Hello& hello, Instant now);
  Result<void> admit(SessionId id, const protocol::Hello& hello);
  void host_faults(SessionId id, const protocol::HostFaults& message);
  void agent_message(SessionId id, const protocol::Envelope& message, Instant now);
  void clock_probe(SessionId id, const protocol::ClockProbe& probe, Instant now);
  void heartbeat(Instant now);
  /// Tells the peer why, closes, forgets.
  void end_session(SessionId id, const std::string& reason, Instant now);
  /// Forgets a session, whoever closed it.
  void forget(SessionId id, const std::string& reason, Instant now);
  /// After each event: clears away a run that is over.
  void settle(Instant now);

  // What operators ask.
  void operator_message(SessionId id, const protocol::Envelope& message, Instant now);
  void profile_part(SessionId id, const protocol::ProfilePart& message);
  void plan_request(SessionId id, const protocol::PlanRequest& message);
  void run_request(SessionId id, const protocol::RunRequest& message);
  /// Has the drill planned; `then` gets the plan, if the session is still here.
  using Then = std::function<void(const std::shared_ptr<const PlannedDrill>&, Instant)>;
  Result<void> plan_first(SessionId id, DrillRequest request, Then then);
  void send_plan(SessionId id, const PlannedDrill& planned);
  Result<void> start_run(SessionId id, const std::string& wanted_hash,
                         std::shared_ptr<const PlannedDrill> planned, Instant now);
  Result<void> check_free() const;
  Result<void> check_still_here(const plan::Plan& plan) const;
  void status_request(SessionId id, Instant now);
  void stop_request(SessionId id, const protocol::StopRequest& message, Instant now);
  void faults_request(SessionId id, const protocol::FaultsRequest& message, Instant now);
  void reach_request(SessionId id, const protocol::ReachRequest& message, Instant now);
  Result<void> check_faults(const plan::Plan& plan) const;
  void send_failure(SessionId id, const Error& error);
  std::string random_hex(std::size_t digits);

  CoordinatorOptions options;
  Random random;
  Outbox outbox;
  FaultDesk desk;
  ReachDesk reach;
  std::map<SessionId, Session> sessions;
  AgentTable agents;
  std::map<SessionId, ProfileShelf> shelves;  // of operators
  struct Planning {
    ComputationId computation;
    Then then;
  };
  std::map<SessionId, Planning> plannings;  // at most one of each operator
  std::unique_ptr<Run> run;
  SessionId run_operator;
  std::vector<SessionId> stop_askers;  // hear of it when the run is over
  std::uint64_t runs_begun = 0;
  std::uint64_t runs_by_verdict[4] = {0, 0, 0, 0};
  Instant next_heartbeat = kNever;
};

}  // namespace rehearsal::coordination

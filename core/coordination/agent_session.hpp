#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/time.hpp"
#include "core/coordination/coordinator.hpp"
#include "core/fault/helper_messages.hpp"
#include "core/host/finding.hpp"
#include "core/plan/plan.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::coordination {

/// The address of one connection, as the control channel carries it.
struct KeyedAddress {
  plan::ConnectionKey key;
  std::string address;
};

// What happens to an agent: its link to the coordinator. Its host makes the first attempt to
// connect at start, later ones when a Reconnect says so. An attempt ends in LinkUp or LinkDown, a
// link that is up in LinkDown, but for one that CloseLink closed: of that one nothing more is
// heard.
struct LinkUp {};
struct LinkDown {
  std::string reason;
};
struct LinkMessage {
  protocol::Envelope message;
};
// … and its worker (agent/worker.hpp). OpenWorker is answered by WorkerOpened, or by WorkerFailed
// when it could not start: then there is no worker.
struct WorkerOpened {
  std::vector<KeyedAddress> addresses;
};
struct WorkerConnected {};
struct WorkerStepDone {
  std::uint32_t iteration = 0;
  std::uint32_t phase = 0;
};
struct WorkerProgress {
  std::uint32_t iterations_done = 0;
  std::uint64_t moved = 0;  ///< rises with each op done and each message sent or received
  std::vector<HostIndex> waiting_for;
};
struct WorkerFailed {
  std::string reason;
  std::vector<HostIndex> waiting_for;
};
/// The worker has stopped sending; its measurements, encoded (core/report).
struct WorkerStopped {
  std::string results;
};
/// A fault of the host's kernel is to be at this level now (fault::Schedule::kOff: off), and to end
/// by time at `until` at the latest.
struct WorkerFault {
  std::uint32_t fault = 0;  ///< index in the plan
  std::uint32_t level = 0;
  Instant until = kNever;
};
// … and the programs of the host that keep faults, if it has any. Their host tries to reach each by
// itself: each connection begins with HelperUp and ends with HelperDown, which is also told when
// the first attempt failed. An AskHelper is answered by HelperAnswered, in order, or by HelperDown.
enum class Helper : std::uint8_t {
  kernel,    ///< rehearsal-helper
  external,  ///< rehearsal-external
};
inline constexpr std::array kHelpers = {Helper::kernel, Helper::external};
struct HelperUp {
  fault::WelcomeReply welcome;
  Helper helper = Helper::kernel;
};
struct HelperDown {
  std::string reason;
  Helper helper = Helper::kernel;
};
struct HelperAnswered {
  std::uint64_t ticket = 0;
  fault::HelperReply reply;
};
// … and who tries whether data addresses reach one another.
struct ReachSaid {
  protocol::ReachReport report;
};
using AgentEvent = std::variant<LinkUp, LinkDown, LinkMessage, WorkerOpened, WorkerConnected,
                                WorkerStepDone, WorkerProgress, WorkerFailed, WorkerStopped,
                                WorkerFault, HelperUp, HelperDown, HelperAnswered, ReachSaid, Tick>;

// What an agent wants done.
struct SendToCoordinator {
  protocol::Envelope message;
};
/// Connect to the coordinator again at `at` (jittered back-off).
struct Reconnect {
  Instant at;
};
struct CloseLink {
  std::string reason;
};
/// Start a worker for this plan and open its incoming connections → WorkerOpened.
struct OpenWorker {
  std::shared_ptr<const plan::Plan> plan;
  HostIndex host;
  std::string run;
  std::string token;
};
struct ConnectWorker {
  std::vector<KeyedAddress> addresses;
};
/// Start on this agent's clock.
struct StartWorker {
  std::uint32_t iteration = 0;
  std::uint32_t phase = 0;
  Instant instant;
};
/// Stop sending now (queued bytes are dropped) → WorkerStopped.
struct StopWorker {
  std::string reason;
};
/// All iterations are done: hand over measurements → WorkerStopped.
struct FinishWorker {};
/// Forget the worker, if there is one: stops what is not stopped, and no event of it comes later.
struct ReleaseWorker {};
struct AskHelper {
  std::uint64_t ticket = 0;
  fault::HelperRequest request;
  Helper helper = Helper::kernel;
};
/// It does not answer: close the connection, so that it undoes what was asked for on it, and try
/// again → HelperDown.
struct DropHelper {
  std::string reason;
  Helper helper = Helper::kernel;
};
/// Try whether data addresses reach one another → ReachSaid for each step.
struct TryReach {
  protocol::ReachOrder order;
};
/// Nobody asks any more.
struct EndReach {};
using AgentAction = std::variant<SendToCoordinator, Reconnect, CloseLink, OpenWorker, ConnectWorker,
                                 StartWorker, StopWorker, FinishWorker, ReleaseWorker, AskHelper,
                                 DropHelper, TryReach, EndReach, Log>;

struct AgentOptions {
  std::string software = {};  ///< "rehearsal-agent 0.1.0"
  plan::Inventory inventory = {};
  std::vector<host::Finding> findings = {};  ///< of its host; for who looks, not for plans
  std::uint64_t seed = 1;                    ///< jitter
  /// Without a word from the coordinator for this long a run falls silent and the link is closed.
  Duration silence_limit = std::chrono::seconds{3};
  /// Without a coordinator a run ends at the next edge of an iteration, at the latest this long
  /// after the coordinator's last word.
  Duration orphan_limit = std::chrono::seconds{4};
  /// A worker that has not stopped by then is released as it is, a helper that has not undone is
  /// left to itself.
  Duration worker_stop_deadline = std::chrono::seconds{2};
  std::uint64_t plan_bytes_max = std::uint64_t{512} << 20;
  Duration reconnect_min = std::chrono::milliseconds{100};
  Duration reconnect_max = std::chrono::seconds{2};
  Duration clock_probe_interval =
      std::chrono::milliseconds{50};  ///< slower once the estimate is good
};

/// For metrics and tests.
struct AgentView {
  bool joined = false;               ///< the coordinator has welcomed this agent
  std::string run;                   ///< reserved for; empty: none
  bool helper = false;               ///< the host's rehearsal-helper is there
  bool external = false;             ///< its rehearsal-external is there
  bool blocked = false;              ///< a fault of the host could not be undone
  std::uint32_t faults_applied = 0;  ///< of the kernel or by commands, by this agent: on now
  bool clock_known = false;
  Duration clock_offset{0};  ///< coordinator = agent + offset
  Duration clock_error_bound{0};
};

/// The agent's side of the protocol: joins the coordinator, measures its clock against the
/// coordinator's, takes one run at a time through its worker, falls silent when the coordinator is
/// gone. A state machine: no socket, clock or thread.
class AgentSession {
 public:
  explicit AgentSession(AgentOptions options);
  ~AgentSession();

  std::vector<AgentAction> on(const AgentEvent& event, Instant now);
  Instant next_deadline() const;

  AgentView view(Instant now) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::coordination

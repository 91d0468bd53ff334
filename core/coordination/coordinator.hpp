#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/time.hpp"
#include "core/coordination/planning.hpp"
#include "core/coordination/reporting.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::coordination {

/// One connection to the coordinator, agent or operator; never used again after it closed.
using SessionId = Id<struct SessionTag, std::uint64_t>;

// What happens to the coordinator.
struct SessionOpened {
  SessionId session;
  std::string peer;  ///< "10.78.0.3:40122", for messages to people
};
struct MessageReceived {
  SessionId session;
  protocol::Envelope message;
};
struct SessionClosed {
  SessionId session;
  std::string reason;
};
/// Time has reached next_deadline().
struct Tick {};

using ComputationId = Id<struct ComputationTag, std::uint64_t>;
/// By pointer, so that handing one on does not copy megabytes on the deciding thread.
using Computation =
    std::variant<Result<std::shared_ptr<const PlannedDrill>>, std::shared_ptr<const RunReport>>;
/// What a Compute gave.
struct Computed {
  ComputationId id;
  Computation result;
};
using Event = std::variant<SessionOpened, MessageReceived, SessionClosed, Tick, Computed>;

// What the coordinator wants done.
struct Send {
  SessionId session;
  protocol::Envelope message;
};
/// Sends what is queued, then closes. The coordinator has forgotten the session already: nothing
/// more is to be told of it.
struct Close {
  SessionId session;
  std::string reason;
};
/// Keep the files of a run that ended (a folder named after the run).
struct StoreRun {
  std::string run;
  std::vector<RunFile> files;
};
enum class LogLevel : std::uint8_t { info, warning, error };
struct Log {
  LogLevel level = LogLevel::info;
  std::string text;  ///< one event an operator may act on, with run, host and iteration as fields
};
/// Plans and reports of large runs take seconds, in which sessions must be answered: call `make`
/// once, on any thread (it shares nothing that changes), and give back what it returns as Computed.
struct Compute {
  ComputationId id;
  std::function<Computation()> make;
};
using Action = std::variant<Send, Close, StoreRun, Log, Compute>;

struct CoordinatorOptions {
  std::string software = {};  ///< "rehearsald 0.1.0"
  std::uint64_t epoch = 1;    ///< rises with every start
  std::uint64_t seed = 1;     ///< for run ids
  /// A secret of a run, 32 hexadecimal digits, from the system's randomness; unset: from the seed,
  /// for tests.
  std::function<std::string()> token = nullptr;
  Duration heartbeat_interval = std::chrono::milliseconds{500};
  Duration silence_limit = std::chrono::seconds{3};  ///< then a session is lost
  Duration hello_deadline = std::chrono::seconds{3};
  Duration reserve_deadline = std::chrono::seconds{3};
  Duration prepare_deadline = std::chrono::seconds{20};
  Duration connect_deadline = std::chrono::seconds{20};
  Duration drain_deadline = std::chrono::seconds{20};
  Duration stop_deadline = std::chrono::seconds{3};     ///< for partial results after a stop
  Duration release_deadline = std::chrono::seconds{5};  ///< then an agent's session is closed
  Duration start_lead = std::chrono::milliseconds{5};  ///< appointments are at least this far ahead
  Duration progress_interval =
      std::chrono::milliseconds{100};  ///< between RunProgress to operators
  /// Uploads of one operator session together.
  std::uint64_t profile_bytes_max = std::uint64_t{256} << 20;
  std::size_t profiles_max = 64;
  /// Measurements of one agent, encoded.
  std::uint64_t results_bytes_max = std::uint64_t{64} << 20;
  /// Wall time of an instant as a label (RFC 3339) for reports; unset: reports carry none.
  std::function<std::string(Instant)> wall_time = nullptr;
};

enum class RunState : std::uint8_t {
  idle,
  reserving,
  preparing,
  connecting,
  ready,
  running,
  draining,
  finished,
  failed,
  stopped,
};
std::string_view to_string(RunState state);

/// For metrics and tests.
struct CoordinatorView {
  RunState state = RunState::idle;
  std::string run;
  std::uint32_t iterations_done = 0;
  std::uint32_t iterations = 0;
  std::size_t agents = 0;
  std::size_t operators = 0;
  std::uint64_t runs_by_verdict[4] = {0, 0, 0, 0};  ///< pass, warn, fail, unknown
};

/// Knows the agents, plans drills, takes one run at a time from idle through reserving, preparing,
/// connecting, ready, running and draining to finished, failed or stopped, and answers operators.
/// Every state has a deadline; when it passes the run ends and names whom it waited for.
/// A state machine: no socket, clock, file or thread.
class Coordinator {
 public:
  explicit Coordinator(CoordinatorOptions options);
  ~Coordinator();

  std::vector<Action> on(const Event& event, Instant now);
  /// When a Tick is due; kNever if nothing is waited for.
  Instant next_deadline() const;
  CoordinatorView view() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::coordination

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/time.hpp"
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
using Event = std::variant<SessionOpened, MessageReceived, SessionClosed, Tick>;

// What the coordinator wants done.
struct Send {
  SessionId session;
  protocol::Envelope message;
};
struct Close {
  SessionId session;
  std::string reason;
};
struct RunFile {
  std::string name;  ///< "summary.json"
  std::string content;
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
using Action = std::variant<Send, Close, StoreRun, Log>;

struct CoordinatorOptions {
  std::string software;     ///< "rehearsald 0.1.0"
  std::uint64_t epoch = 1;  ///< rises with every start
  std::uint64_t seed = 1;   ///< for run ids and tokens: from the system's randomness in production
  Duration heartbeat_interval = std::chrono::milliseconds{500};
  Duration silence_limit = std::chrono::seconds{3};  ///< then a session is lost
  Duration hello_deadline = std::chrono::seconds{3};
  Duration reserve_deadline = std::chrono::seconds{3};
  Duration prepare_deadline = std::chrono::seconds{20};
  Duration connect_deadline = std::chrono::seconds{20};
  Duration drain_deadline = std::chrono::seconds{20};
  Duration stop_deadline = std::chrono::seconds{3};
  Duration start_lead = std::chrono::milliseconds{5};  ///< appointments are at least this far ahead
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

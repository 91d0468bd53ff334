#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/coordination/agent_session.hpp"
#include "core/host/worker_place.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::agent {

using WorkerEvent = std::variant<coordination::WorkerOpened, coordination::WorkerConnected,
                                 coordination::WorkerStepDone, coordination::WorkerProgress,
                                 coordination::WorkerFailed, coordination::WorkerStopped,
                                 coordination::WorkerFault>;

struct WorkerOptions {
  std::shared_ptr<const plan::Plan> plan;
  HostIndex host;
  std::string run;
  std::string token;
  host::WorkerPlace place = {};  ///< the cores its thread is bound to
  /// Called on the worker's thread when events wait in take_events(); must only wake the control
  /// thread (write an eventfd, post to an executor).
  std::function<void()> notify;
};

/// How an agent ends that a fault of the plan crashes: at once, after a line on standard error.
inline constexpr int kCrashStatus = 86;

/// Counters that the metrics thread may read at any time (relaxed atomics behind).
struct WorkerCounters {
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_local = 0;
  std::uint64_t background_bytes_sent = 0;  ///< not of the jobs, and in none of the others
  std::uint64_t background_bytes_received = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t ops_done = 0;
  std::uint64_t iterations_done = 0;
  std::uint64_t system_calls = 0;
  std::uint64_t turns = 0;
  std::uint64_t turn_nanoseconds_max = 0;
};

/// One run's worker on this agent: a thread with a duty cycle over all ranks of the host (commands,
/// clock, poll, replayers, post). Commands and events pass through bounded queues; after set-up the
/// cycle neither allocates nor locks nor logs.
class Worker {
 public:
  /// Starts the thread, opens the incoming connections; WorkerOpened or WorkerFailed follows.
  static Result<std::unique_ptr<Worker>> start(WorkerOptions options);
  /// Stops and joins.
  ~Worker();

  void connect(std::vector<coordination::KeyedAddress> addresses);
  void start_step(std::uint32_t iteration, std::uint32_t phase, Instant instant);
  /// No byte leaves after this has been taken (within milliseconds); WorkerStopped follows.
  void stop();
  /// Measurements of a run that is done; WorkerStopped follows.
  void finish();

  /// Events since the last call. Control thread only.
  std::vector<WorkerEvent> take_events();
  WorkerCounters counters() const;

 private:
  Worker() = default;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::agent

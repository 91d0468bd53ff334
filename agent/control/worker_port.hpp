#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "agent/worker.hpp"

namespace rehearsal::agent {

/// A run's worker as the control thread sees it: the real one (a thread over a transport), or a
/// test's. See Worker for what each call promises.
class WorkerPort {
 public:
  virtual ~WorkerPort() = default;
  virtual void connect(std::vector<coordination::KeyedAddress> addresses) = 0;
  virtual void start_step(std::uint32_t iteration, std::uint32_t phase, Instant instant) = 0;
  virtual void stop() = 0;
  virtual void finish() = 0;
  virtual std::vector<WorkerEvent> take_events() = 0;
  virtual WorkerCounters counters() const = 0;
};

using StartWorkerPort = std::function<Result<std::unique_ptr<WorkerPort>>(WorkerOptions)>;

/// Worker::start behind the port.
Result<std::unique_ptr<WorkerPort>> start_worker(WorkerOptions options);

}  // namespace rehearsal::agent

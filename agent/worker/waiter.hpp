#pragma once

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/host/worker_place.hpp"

namespace rehearsal::agent {

/// Puts the worker's thread to sleep until its transport, a command or an instant wakes it.
class Waiter {
 public:
  static Result<Waiter> create();
  ~Waiter();
  Waiter(Waiter&& other) noexcept;
  Waiter& operator=(Waiter&&) = delete;

  /// Any thread: ends the wait that is going on, or the next one.
  void wake() noexcept;
  /// Worker's thread: waits for `file_descriptor` (−1: none) to be readable, a wake() or `until`.
  void wait(int file_descriptor, Instant now, Instant until) noexcept;

 private:
  explicit Waiter(int event) : event_(event) {}
  int event_ = -1;  // eventfd
};

/// Names the calling thread and asks the kernel for exact timers (the default lets them be 50 µs
/// late).
void prepare_worker_thread() noexcept;

/// Binds the calling thread to these cores; memory it touches first lies near them from now on.
/// What was done, for the report: "worker on core 5 (near eth2, NUMA node 1)"; empty where it stays
/// unbound.
std::string bind_worker_thread(const host::WorkerPlace& place);

}  // namespace rehearsal::agent

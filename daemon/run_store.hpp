#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/coordination/coordinator.hpp"

namespace rehearsal::daemon {

struct RunStoreOptions {
  std::uint32_t runs_max = 100;  ///< the oldest are removed beyond it
  Bytes queue_max{1ULL << 30};   ///< waiting to be written; more is not taken
};

/// The runs that ended, a folder each: <folder>/<run>/summary.json … A thread of its own writes, so
/// that the disk never holds up the loop; a run's folder appears whole or not at all. Also keeps
/// the coordinator's epoch, which rises with every start.
class RunStore {
 public:
  /// Makes the folder where needed, takes its lock (one coordinator per store) and raises the
  /// epoch.
  static Result<std::unique_ptr<RunStore>> open(std::filesystem::path folder,
                                                RunStoreOptions options);
  /// Writes what is queued.
  ~RunStore();
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  std::uint64_t epoch() const { return epoch_; }

  /// Queues a run. False: the queue is full, the run is not kept. Does not touch the disk.
  bool save(coordination::StoreRun run);

  std::uint64_t runs_written() const { return written_.load(std::memory_order_relaxed); }
  std::uint64_t runs_lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  RunStore(std::filesystem::path folder, RunStoreOptions options, int lock, std::uint64_t epoch);

  void write_runs();
  Result<void> write(const coordination::StoreRun& run) const;
  void remove_oldest() const;

  const std::filesystem::path folder_;
  const RunStoreOptions options_;
  const int lock_;
  const std::uint64_t epoch_;
  std::atomic<std::uint64_t> written_{0};  ///< read by whoever serves metrics
  std::atomic<std::uint64_t> lost_{0};

  std::mutex mutex_;  ///< guards the three below
  std::condition_variable changed_;
  std::deque<coordination::StoreRun> queue_;
  Bytes queued_;
  bool closing_ = false;

  std::thread writer_;
};

}  // namespace rehearsal::daemon

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/time.hpp"
#include "core/measure/records.hpp"
#include "core/plan/plan.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::replay {

/// One rank's ops over connections: dependencies, streams, channels, credits. A state machine:
/// never touches a socket, a clock or a thread. Everything is allocated by the constructor.
///
/// Feed it completions (of its own connections) and time; take the requests, post them, and say how
/// many were accepted.
class Replayer {
 public:
  /// `connections` are those of the agent; the replayer keeps the ones of its rank.
  Replayer(const plan::Plan& plan, JobIndex job, Rank rank, const plan::Connections& connections);
  ~Replayer();
  Replayer(Replayer&&) noexcept;
  Replayer& operator=(Replayer&&) noexcept;

  JobIndex job() const noexcept;
  Rank rank() const noexcept;
  std::uint32_t phase_count() const noexcept;

  /// Starts `iteration`, or in mode `phase` its phase `phase`, whose ops may then run.
  /// free: starts the first iteration; the others follow by themselves.
  void start(std::uint32_t iteration, std::uint32_t phase, Instant appointment,
             Instant now) noexcept;

  /// Takes completions in.
  void on(std::span<const Completion> completions, Instant now) noexcept;
  /// Moves everything that can move at `now`: compute that has passed, ops that became ready.
  void advance(Instant now) noexcept;

  /// Requests to post, oldest first; after posting call accepted(count).
  std::span<const Request> requests() const noexcept;
  void accepted(std::size_t count) noexcept;

  /// When advance() has something to do without a completion (a compute op ends), or kNever.
  Instant next_deadline() const noexcept;

  /// True when the phase (mode `phase`) or iteration that was started is done on this rank; in mode
  /// `free` when all iterations are done.
  bool idle() const noexcept;
  /// Iterations done so far.
  std::uint32_t iterations_done() const noexcept;
  /// Communication ops done so far, over all iterations.
  std::uint64_t ops_done() const noexcept;

  /// Records since the last clear; room for at least one iteration, so clear once an iteration.
  std::span<const measure::OpRecord> op_records() const noexcept;
  std::span<const measure::IterationRecord> iteration_records() const noexcept;
  void clear_records() noexcept;

  /// Whom this rank waits for now: the peer ranks of the steps that cannot move, for error reports.
  /// Not for the data path.
  std::vector<Rank> waiting_for() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::replay

#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/fault/schedule.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::replay {

/// The faults of a plan that make one rank compute slower or stand still. Each rank follows its own
/// iterations, so that a straggler adds the same to each of them, whatever the others do.
class ComputeFaults {
 public:
  /// Null: the rank has none.
  static std::unique_ptr<ComputeFaults> of(const plan::Plan& plan, JobIndex job, Rank rank);

  /// The rank begins a phase of an iteration; `start` is the run's first start, counted once.
  void edge(std::uint32_t iteration, std::uint32_t phase, Instant start) noexcept;
  /// Brings all up to `now`; true if a pause has begun.
  bool at(Instant now) noexcept;

  /// How long compute takes that begins now.
  Duration slowed(Duration planned) const noexcept;
  /// When the pause that began last is over; before it the rank does nothing.
  Instant resumes() const noexcept { return resumes_; }
  /// When at() may find that a pause has begun, or kNever.
  Instant next_pause() const noexcept;

  std::span<const fault::Spell> spells() const noexcept { return schedule_.spells(); }
  void close(Instant now) noexcept { schedule_.close(now); }

 private:
  ComputeFaults(const plan::Plan& plan, JobIndex job, std::vector<fault::Schedule::Entry> entries);

  JobIndex job_;
  fault::Schedule schedule_;
  std::vector<const fault::PlannedFault*> faults_;  // by entry of the schedule
  std::vector<std::uint32_t> levels_;               // as at() last saw them
  bool pauses_ = false;
  Instant resumes_ = Instant::min();
};

}  // namespace rehearsal::replay

#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/time.hpp"
#include "core/fault/fault.hpp"

namespace rehearsal::fault {

/// A level of a fault, and when it truly was on: instants of the agent's clock.
struct Spell {
  std::uint32_t fault = 0;  ///< index in the plan
  std::uint32_t level = 0;
  Instant began;
  Instant ended = kNever;  ///< kNever: still on

  bool operator==(const Spell&) const = default;
};

/// Of more spells than this (a fault that flaps for hours) the rest is counted.
inline constexpr std::size_t kSpellsMax = 4096;

/// Which faults are on. A state machine: told of edges of iterations and phases and of the time, it
/// says which level each fault is at and keeps when that truly was so. Everything is allocated by
/// the constructor; the rest is for the data path: noexcept, no allocation.
///
/// A fault that begins at an edge begins at the first at() after it; one that ends at a time ends
/// at the first at() that sees it, so what is recorded is what was. Boundaries by time count from
/// when the fault was to begin, so that they do not drift.
class Schedule {
 public:
  static constexpr std::uint32_t kOff = std::numeric_limits<std::uint32_t>::max();

  struct Entry {
    std::uint32_t fault = 0;  ///< index in the plan; entries need not hold all
    When when;
    std::uint32_t phase = 0;
    std::uint32_t levels = 1;
    std::optional<JobIndex> job = {};
  };
  explicit Schedule(std::vector<Entry> entries);

  /// The run's first start: times count from here. Later calls change nothing.
  void start(Instant at) noexcept;
  /// A rank of `job` has begun this phase of this iteration. Earlier ones than known, and all
  /// before the start, are passed over.
  void edge(JobIndex job, std::uint32_t iteration, std::uint32_t phase) noexcept;
  /// Brings all up to `now`; true if anything began, ended or changed its level.
  bool at(Instant now) noexcept;
  /// Ends what is on and lets nothing begin any more: the run is over, or somebody said so.
  void close(Instant now) noexcept;

  std::size_t size() const noexcept { return entries_.size(); }
  const Entry& entry(std::size_t index) const noexcept { return entries_[index].planned; }
  /// kOff, or the level that the entry is at.
  std::uint32_t level(std::size_t index) const noexcept { return entries_[index].level; }
  /// Entries that are on: when this spell ends by time at the latest.
  Instant ends_at(std::size_t index) const noexcept { return entries_[index].off_at; }
  /// When at() has something to do without an edge, or kNever.
  Instant next_change() const noexcept { return next_change_; }

  std::span<const Spell> spells() const noexcept { return spells_; }
  std::uint64_t spells_dropped() const noexcept { return spells_dropped_; }

 private:
  struct State {
    Entry planned;
    std::uint32_t iteration = 0;  // where its job is
    std::uint32_t phase = 0;
    bool seen = false;  // any edge
    bool begun = false;
    bool over = false;
    Instant begin;  // when it was to begin
    std::uint32_t begin_iteration = 0;
    std::uint32_t level = kOff;
    std::uint32_t spell = kOff;  // in spells_
    Instant off_at = kNever;
    Instant next = kNever;
  };

  bool due(const State& state, Instant now) const noexcept;
  void look(State& state, Instant now) noexcept;
  void set(State& state, std::uint32_t level, Instant now) noexcept;

  std::vector<State> entries_;
  std::vector<Spell> spells_;
  std::uint64_t spells_dropped_ = 0;
  bool started_ = false;
  Instant start_;
  Instant next_change_ = kNever;
};

}  // namespace rehearsal::fault

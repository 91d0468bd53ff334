#include "core/fault/schedule.hpp"

#include <algorithm>

namespace rehearsal::fault {
namespace {

using Count = Duration::rep;

// Products of a run's length and a count of levels fit: kLengthMax × kLevelsMax.
static_assert(kLengthMax.count() < std::numeric_limits<Count>::max() / Count{kLevelsMax});

// Which of `parts` equal parts of `whole` has come after `passed`.
std::uint32_t part_at(Count passed, Count whole, std::uint32_t parts) noexcept {
  return static_cast<std::uint32_t>(std::min<Count>(passed * parts / whole, parts - 1));
}

// When part `part` of `parts` begins.
Duration part_begin(Duration whole, std::uint32_t part, std::uint32_t parts) noexcept {
  return Duration{(whole.count() * part + parts - 1) / parts};
}

}  // namespace

Schedule::Schedule(std::vector<Entry> entries) {
  std::size_t spells = 0;
  for (Entry& entry : entries) {
    const When& when = entry.when;
    std::size_t most = entry.levels;
    if (when.on > Duration::zero())
      most += static_cast<std::size_t>(when.length / std::max(when.on + when.off, Duration{1})) + 1;
    if (when.on_iterations != 0)
      most += when.iterations / (when.on_iterations + when.off_iterations) + 1;
    spells = std::min(spells + most, kSpellsMax);
    entries_.push_back({.planned = std::move(entry), .begin = {}});
  }
  spells_.reserve(spells);
}

void Schedule::start(Instant at) noexcept {
  if (started_) return;
  started_ = true;
  start_ = at;
  next_change_ = at;
}

void Schedule::edge(JobIndex job, std::uint32_t iteration, std::uint32_t phase) noexcept {
  if (!started_) return;
  for (State& state : entries_) {
    if (state.planned.job && *state.planned.job != job) continue;
    if (state.seen &&
        (iteration < state.iteration || (iteration == state.iteration && phase <= state.phase)))
      continue;
    state.seen = true;
    state.iteration = iteration;
    state.phase = phase;
    next_change_ = Instant::min();
  }
}

bool Schedule::due(const State& state, Instant now) const noexcept {
  const When& when = state.planned.when;
  if (!when.iteration) return started_ && now >= start_ + when.after;
  if (!state.seen || state.iteration < *when.iteration) return false;
  return state.iteration > *when.iteration || state.phase >= state.planned.phase;
}

bool Schedule::at(Instant now) noexcept {
  if (now < next_change_) return false;
  next_change_ = kNever;
  bool changed = false;
  for (State& state : entries_) {
    const std::uint32_t before = state.level;
    look(state, now);
    changed |= state.level != before;
    next_change_ = std::min(next_change_, state.next);
  }
  return changed;
}

void Schedule::look(State& state, Instant now) noexcept {
  state.next = kNever;
  if (state.over) return;
  const When& when = state.planned.when;
  if (!state.begun) {
    if (!due(state, now)) {
      if (!when.iteration && started_) state.next = start_ + when.after;
      return;
    }
    state.begun = true;
    state.begin = when.iteration ? now : start_ + when.after;
    state.begin_iteration = state.iteration;
  }
  const Duration passed = now - state.begin;
  const std::uint32_t iterations = state.iteration - state.begin_iteration;
  if (passed >= when.length || (when.iterations != 0 && iterations >= when.iterations)) {
    state.over = true;
    return set(state, kOff, now);
  }
  const std::uint32_t levels = state.planned.levels;
  std::uint32_t level = 0;
  state.off_at = state.begin + when.length;
  state.next = state.off_at;
  if (when.iterations != 0) {
    level = part_at(iterations, when.iterations, levels);
  } else {
    level = part_at(passed.count(), when.length.count(), levels);
    if (level + 1 < levels) state.next = state.begin + part_begin(when.length, level + 1, levels);
  }
  if (when.on_iterations != 0 &&
      iterations % (when.on_iterations + when.off_iterations) >= when.on_iterations)
    level = kOff;
  if (when.on > Duration::zero()) {
    const Duration within = passed % (when.on + when.off);
    const bool on = within < when.on;
    const Instant turns = now - within + (on ? when.on : when.on + when.off);
    if (on) state.off_at = std::min(state.off_at, turns);
    state.next = std::min(state.next, turns);
    if (!on) level = kOff;
  }
  set(state, level, now);
}

void Schedule::set(State& state, std::uint32_t level, Instant now) noexcept {
  if (state.level == level) return;
  if (state.spell != kOff) spells_[state.spell].ended = now;
  state.spell = kOff;
  state.level = level;
  if (level == kOff) return;
  if (spells_.size() == spells_.capacity()) {
    ++spells_dropped_;
    return;
  }
  state.spell = static_cast<std::uint32_t>(spells_.size());
  spells_.push_back({.fault = state.planned.fault, .level = level, .began = now});
}

void Schedule::close(Instant now) noexcept {
  for (State& state : entries_) {
    set(state, kOff, now);
    state.over = true;
    state.next = kNever;
  }
  next_change_ = kNever;
}

}  // namespace rehearsal::fault

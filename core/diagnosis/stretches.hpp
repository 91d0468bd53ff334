#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/diagnosis/observations.hpp"

namespace rehearsal::diagnosis {

/// A run in two: windows whose iterations took their usual time, and those that took longer.
struct Stretches {
  std::vector<std::size_t> normal = {};
  std::vector<std::size_t> slow = {};
  /// The slow ones are so much slower that hardly anything else can be seen in the run.
  bool much = false;
};

/// The windows of which something is known: at least one of their iterations was completed.
std::vector<std::size_t> known_windows(const Observations& observations);

/// Parts the run where the slow windows stand apart from all others: by kMuchSlower of a fast one,
/// or by more than the run's own noise (from one window to the next) explains. Windows of which
/// nothing is known are in neither. Nothing: they are alike, or it was seen only once.
std::optional<Stretches> stretches_of(const Observations& observations);

/// Windows this many times slower than the fast ones are looked at by themselves.
inline constexpr double kMuchSlower = 1.25;
/// Below this many normal windows it is not known how noisy a run is.
inline constexpr std::size_t kNormalMin = 3;

}  // namespace rehearsal::diagnosis

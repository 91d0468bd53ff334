#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/diagnosis/suspect.hpp"

namespace rehearsal::diagnosis {

/// How slow flows are, as logarithms; nothing: not known of this one.
using Paces = std::vector<std::optional<double>>;

/// An explanation of paces: these flows are slow because of this place.
struct Explanation {
  Suspect suspect;           ///< only the place is filled in
  std::vector<bool> blamed;  ///< by flow
  std::size_t directions = 1;
};

struct Fit {
  double effect = 0;    ///< logarithm of the factor by which what is blamed is slower
  double residual = 0;  ///< mean over flows of what is not explained

  /// 1: all that flows differ by is explained; 0: nothing.
  double cleanness() const;
};

/// How well the explanation fits; nothing if one side of it was not seen.
std::optional<Fit> fit_of(const Explanation& explanation, const Paces& paces);

struct Found {
  Explanation explanation;
  Fit fit;
};

/// The place that leaves least unexplained, of those at the slowest flows, with an effect of at
/// least `effect_min`; nothing: none is that slow.
std::optional<Found> best_explanation(const Observations& observations, const Paces& paces,
                                      double effect_min);

}  // namespace rehearsal::diagnosis

#pragma once

#include <optional>

#include "core/diagnosis/explanation.hpp"
#include "core/diagnosis/stretches.hpp"
#include "core/diagnosis/suspect.hpp"

namespace rehearsal::diagnosis {

/// The place whose flows became slower than they were, where the rest did not: each flow is
/// compared with itself in the normal windows, so what makes flows differ in a healthy run does not
/// matter, and a mild or short fault shows. How far the same place strays from one normal window to
/// the next is the noise that it must stand out of. Nothing: nobody does, or there are fewer than
/// kNormalMin normal windows.
std::optional<Suspect> find_change(const Observations& observations, const Stretches& stretches);

/// Whether the blamed flows became slower than they were, clearly more than the others did and than
/// they stray in normal windows; also true where that is not known: too few of those are there, or
/// the blamed flows (the others) carried nothing in them.
bool may_have_changed(const Observations& observations, const Explanation& explanation,
                      const Stretches& stretches);

/// How many times as long the blamed flows take in the slow windows as in the normal ones (the
/// median); nothing: not known.
std::optional<double> slowdown_of(const Observations& observations, const Explanation& explanation,
                                  const Stretches& stretches);

}  // namespace rehearsal::diagnosis

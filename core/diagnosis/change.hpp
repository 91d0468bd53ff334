#pragma once

#include <optional>

#include "core/diagnosis/stretches.hpp"
#include "core/diagnosis/suspect.hpp"

namespace rehearsal::diagnosis {

/// The place whose flows became slower than they were, where the rest did not: each flow is
/// compared with itself in the normal windows, so what makes flows differ in a healthy run does not
/// matter, and a mild or short fault shows. How far the same place strays from one normal window to
/// the next is the noise that it must stand out of. Nothing: nobody does, or there are fewer than
/// kNormalMin normal windows.
std::optional<Suspect> find_change(const Observations& observations, const Stretches& stretches);

}  // namespace rehearsal::diagnosis

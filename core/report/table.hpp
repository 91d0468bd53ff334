#pragma once

#include <string>

#include "core/report/summary.hpp"

namespace rehearsal::report {

/// What a person sees at the end of a run: verdict first, then collectives, iterations, start skew,
/// bursts, bytes, and how the figures were taken. At most 100 columns. `colour`: ANSI colours for
/// the verdict.
std::string summary_table(const Summary& summary, bool colour);

}  // namespace rehearsal::report

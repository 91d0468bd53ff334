#pragma once

#include <optional>
#include <vector>

#include "core/diagnosis/suspect.hpp"
#include "core/report/observe.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {

/// Whom the measurements point at, in names and sentences; nothing: nothing was measured.
std::optional<std::vector<SuspectSummary>> suspects_of(const plan::Plan& plan,
                                                       const diagnosis::Observations& observations);

}  // namespace rehearsal::report

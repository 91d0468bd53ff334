#pragma once

#include <optional>
#include <vector>

#include "core/diagnosis/suspect.hpp"
#include "core/report/observe.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {

/// Whom the measurements point at; nothing: nothing was measured.
std::optional<std::vector<diagnosis::Suspect>> suspects_of(
    const diagnosis::Observations& observations);

/// The same in names and sentences.
std::optional<std::vector<SuspectSummary>> in_names(
    const plan::Plan& plan, const std::optional<std::vector<diagnosis::Suspect>>& suspects);

}  // namespace rehearsal::report

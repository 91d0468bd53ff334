#pragma once

#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {

/// How the figures of a run were taken, in sentences: part of every report, so that no figure is
/// taken for more than it is.
std::vector<std::string> transport_notes(const plan::Plan& plan, const Summary& summary);

/// What a reader should know before believing the figures, in sentences; no part of the verdict.
std::vector<std::string> warnings(const plan::Plan& plan, const Summary& summary);

}  // namespace rehearsal::report

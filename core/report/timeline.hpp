#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/report/run_times.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {

/// What happened in a run with faults, by time: its start and end, faults that begin, change and
/// end, jobs that notice them and recover. `start`: the run's first start, on the coordinator's
/// clock; `summary`: with its faults, and its jobs' stages.
std::vector<TimelineEvent> timeline_of(const plan::Plan& plan, const IterationSpans& spans,
                                       Instant start, const Summary& summary);

/// The section of the table; empty: no events.
std::string timeline_lines(std::span<const TimelineEvent> events);

}  // namespace rehearsal::report

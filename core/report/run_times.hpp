#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/measure/agent_measurements.hpp"
#include "core/measure/iteration_table.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/stages.hpp"
#include "core/report/run_measurements.hpp"

namespace rehearsal::report {

/// An agent whose results count.
struct CountedAgent {
  HostIndex host = {};
  const measure::AgentMeasurements* measurements = nullptr;
  std::span<const measure::ClockOffset> clocks = {};

  /// An instant of its clock on the coordinator's. Without an estimate they count as the same.
  Instant at_coordinator(Instant at) const;
};

/// `contradictions`: one for each of the run's agents; those with one do not count.
std::vector<CountedAgent> counted(const RunMeasurements& run,
                                  std::span<const std::string> contradictions);

/// When one iteration of a job was on, over all its ranks, on the coordinator's clock.
struct IterationSpan {
  std::uint32_t iteration = 0;
  Instant begin = {};
  Instant end = {};
};

/// By job; of each job ascending.
using IterationSpans = std::vector<std::vector<IterationSpan>>;
IterationSpans iteration_spans(const plan::Plan& plan, std::span<const CountedAgent> agents);

/// The iterations of each job, from the first to the last in which faults acted; nothing: it is not
/// known, or none was. Faults that begin by iteration are taken from the plan, and cut where the
/// agents say that they ended before; others from when the agents say that they were on. An
/// iteration counts if it was hit for more than a hundredth of its time.
std::vector<std::optional<plan::FaultRange>> fault_ranges(const plan::Plan& plan,
                                                          std::span<const CountedAgent> agents,
                                                          const IterationSpans& spans);

/// Begin and end of each stage on the clock of this agent; nothing: it had no such stage. `ranges`:
/// by job. A stage ends where the next one's first iteration begins.
using StageSpans = std::array<std::optional<std::pair<Instant, Instant>>, 3>;
StageSpans stage_spans(const CountedAgent& agent,
                       std::span<const std::optional<plan::FaultRange>> ranges);

}  // namespace rehearsal::report

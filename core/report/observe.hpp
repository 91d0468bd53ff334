#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/diagnosis/observations.hpp"
#include "core/measure/flow_times.hpp"
#include "core/measure/iteration_table.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::report {

/// What one agent measured of its flows.
struct AgentFlows {
  HostIndex host = {};
  const measure::FlowMeasurements* measurements = nullptr;
};

/// Says what of an agent's flows contradicts the plan; empty: nothing. What passed this may be
/// given to observe().
std::string contradiction_of(const plan::Plan& plan, HostIndex host,
                             const measure::FlowMeasurements& measurements);

/// Joins both ends of every flow between NICs, over all ranks and jobs. A flow of which one end is
/// missing is left out; so are agents that divided the run into other windows than the first.
/// `iterations`: of all jobs, for the time of windows.
diagnosis::Observations observe(const plan::Plan& plan, std::span<const AgentFlows> agents,
                                std::span<const measure::IterationTime> iterations);

/// NICs of a plan are numbered host by host.
diagnosis::NicNumber nic_number(const plan::Plan& plan, HostIndex host, NicIndex nic);

}  // namespace rehearsal::report

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/measure/agent_measurements.hpp"
#include "core/measure/iteration_table.hpp"

namespace rehearsal::report {

/// How a run came to its end.
enum class StopReason : std::uint8_t {
  finished,    ///< all iterations done on all agents
  stopped,     ///< by the operator
  timed_out,   ///< a deadline passed; RunMeasurements::waited_for says for whom
  agent_lost,  ///< an agent is gone
  failed,      ///< an agent said that it cannot go on
};
std::string_view to_string(StopReason reason);
std::optional<StopReason> stop_reason(std::string_view name);

/// What the coordinator holds of one agent when the run has ended.
struct AgentResult {
  HostIndex host = {};
  /// Absent: none came (the agent is gone, or was too late).
  std::optional<measure::AgentMeasurements> measurements = {};
  /// Its clock against the coordinator's, ascending by reference; empty: not known.
  std::vector<measure::ClockOffset> clocks = {};
  /// Not empty: the agent was lost, and why ("connection closed in state running").
  std::string lost = {};
};

/// What a run left on the coordinator; with plan and load all that a report is made of.
struct RunMeasurements {
  std::string run = {};          ///< id
  std::string plan_hash = {};    ///< of the plan that was run; empty: the report computes it
  std::string software = {};     ///< name and version of the coordinator
  std::string started_at = {};   ///< wall clock as a label, RFC 3339
  std::string finished_at = {};  ///< wall clock as a label, RFC 3339
  StopReason stop = StopReason::finished;
  std::string stop_detail = {};              ///< one sentence more on it; may be empty
  std::vector<std::string> waited_for = {};  ///< names of hosts that others waited for at the end
  std::vector<AgentResult> agents = {};
};

}  // namespace rehearsal::report

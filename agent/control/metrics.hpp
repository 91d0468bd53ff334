#pragma once

#include <string>
#include <string_view>

#include "agent/control/agent_loop.hpp"
#include "core/coordination/agent_session.hpp"
#include "core/plan/plan.hpp"
#include "runtime/metrics.hpp"

namespace rehearsal::agent {

/// The agent's metrics: taken from what the parts count when somebody asks.
class AgentMetrics {
 public:
  AgentMetrics(std::string_view version, const plan::Inventory& inventory);

  /// Prometheus' text, with what the parts say now.
  std::string text(const coordination::AgentView& view, const AgentLoopCounters& counters);

 private:
  runtime::Metrics metrics_;
};

}  // namespace rehearsal::agent

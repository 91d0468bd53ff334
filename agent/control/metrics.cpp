#include "agent/control/metrics.hpp"

#include "agent/control/metric_catalogue.hpp"

namespace rehearsal::agent {
namespace {

double number(std::uint64_t value) { return static_cast<double>(value); }

}  // namespace

AgentMetrics::AgentMetrics(std::string_view version, const plan::Inventory& inventory)
    : metrics_(kMetricCatalogue) {
  metrics_.set("rehearsal_agent_info", version, 1);
  for (const plan::Nic& nic : inventory.nics) {
    metrics_.set("rehearsal_agent_nic_line_rate_bytes_per_second", nic.name,
                 nic.line_rate.bytes_per_second());
  }
}

std::string AgentMetrics::text(const coordination::AgentView& view,
                               const AgentLoopCounters& counters) {
  metrics_.set("rehearsal_agent_joined", view.joined ? 1 : 0);
  metrics_.set("rehearsal_agent_links_lost_total", number(counters.links_lost));
  metrics_.set("rehearsal_agent_run_active", view.run.empty() ? 0 : 1);
  metrics_.set("rehearsal_agent_runs_total", number(counters.runs));
  metrics_.set("rehearsal_agent_helper", view.helper ? 1 : 0);
  metrics_.set("rehearsal_agent_external", view.external ? 1 : 0);
  metrics_.set("rehearsal_agent_kernel_faults", view.faults_applied);
  metrics_.set("rehearsal_agent_stuck", view.blocked ? 1 : 0);
  metrics_.set("rehearsal_agent_clock_known", view.clock_known ? 1 : 0);
  metrics_.set("rehearsal_agent_clock_offset_seconds", to_seconds(view.clock_offset));
  metrics_.set("rehearsal_agent_clock_error_bound_seconds", to_seconds(view.clock_error_bound));
  const WorkerCounters& worker = counters.worker;
  metrics_.set("rehearsal_agent_payload_bytes_total", "sent", number(worker.bytes_sent));
  metrics_.set("rehearsal_agent_payload_bytes_total", "received", number(worker.bytes_received));
  metrics_.set("rehearsal_agent_payload_bytes_total", "local", number(worker.bytes_local));
  metrics_.set("rehearsal_agent_background_bytes_total", "sent",
               number(worker.background_bytes_sent));
  metrics_.set("rehearsal_agent_background_bytes_total", "received",
               number(worker.background_bytes_received));
  metrics_.set("rehearsal_agent_messages_total", "sent", number(worker.messages_sent));
  metrics_.set("rehearsal_agent_messages_total", "received", number(worker.messages_received));
  metrics_.set("rehearsal_agent_ops_total", number(worker.ops_done));
  metrics_.set("rehearsal_agent_iterations_total", number(worker.iterations_done));
  metrics_.set("rehearsal_agent_system_calls_total", number(worker.system_calls));
  metrics_.set("rehearsal_agent_worker_turns_total", number(worker.turns));
  metrics_.set("rehearsal_agent_worker_turn_max_seconds",
               number(worker.turn_nanoseconds_max) * 1e-9);
  return metrics_.text();
}

}  // namespace rehearsal::agent

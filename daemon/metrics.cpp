#include "daemon/metrics.hpp"

#include "daemon/metric_catalogue.hpp"

namespace rehearsal::daemon {
namespace {

using coordination::RunState;

constexpr RunState kStates[] = {
    RunState::idle,   RunState::reserving, RunState::preparing, RunState::connecting,
    RunState::ready,  RunState::running,   RunState::draining,  RunState::finished,
    RunState::failed, RunState::stopped,
};
constexpr std::string_view kVerdicts[] = {"pass", "warn", "fail", "unknown"};

double number(std::uint64_t value) { return static_cast<double>(value); }

}  // namespace

CoordinatorMetrics::CoordinatorMetrics(std::string_view version, std::uint64_t epoch)
    : metrics_(kMetricCatalogue) {
  metrics_.set("rehearsal_coordinator_info", version, 1);
  metrics_.set("rehearsal_coordinator_epoch", number(epoch));
}

void CoordinatorMetrics::event_handled(Duration duration) {
  metrics_.observe("rehearsal_coordinator_event_seconds", to_seconds(duration));
}

std::string CoordinatorMetrics::text(const coordination::CoordinatorView& view,
                                     const ControlServerCounters& counters,
                                     std::uint64_t runs_stored, std::uint64_t runs_lost) {
  metrics_.set("rehearsal_coordinator_agents", number(view.agents));
  metrics_.set("rehearsal_coordinator_operators", number(view.operators));
  metrics_.set("rehearsal_coordinator_sessions", number(counters.sessions));
  metrics_.set("rehearsal_coordinator_sessions_total", number(counters.sessions_accepted));
  metrics_.set("rehearsal_coordinator_sessions_refused_total", number(counters.sessions_refused));
  metrics_.set("rehearsal_coordinator_messages_total", "received",
               number(counters.messages_received));
  metrics_.set("rehearsal_coordinator_messages_total", "sent", number(counters.messages_sent));
  metrics_.set("rehearsal_coordinator_protocol_errors_total", number(counters.protocol_errors));
  for (const RunState state : kStates) {
    metrics_.set("rehearsal_coordinator_run_state", to_string(state), state == view.state ? 1 : 0);
  }
  metrics_.set("rehearsal_coordinator_run_iterations_planned", view.iterations);
  metrics_.set("rehearsal_coordinator_run_iterations_done", view.iterations_done);
  for (std::size_t i = 0; i < std::size(kVerdicts); ++i) {
    metrics_.set("rehearsal_coordinator_runs_total", kVerdicts[i], number(view.runs_by_verdict[i]));
  }
  metrics_.set("rehearsal_coordinator_runs_stored_total", number(runs_stored));
  metrics_.set("rehearsal_coordinator_runs_lost_total", number(runs_lost));
  return metrics_.text();
}

}  // namespace rehearsal::daemon

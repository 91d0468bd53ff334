#pragma once

#include <string>

#include "core/base/time.hpp"
#include "core/coordination/coordinator.hpp"
#include "daemon/control_server.hpp"
#include "daemon/run_store.hpp"
#include "runtime/metrics.hpp"

namespace rehearsal::daemon {

/// The coordinator's metrics: taken from what the parts count when somebody asks.
class CoordinatorMetrics {
 public:
  CoordinatorMetrics(std::string_view version, std::uint64_t epoch);

  void event_handled(Duration duration);

  /// Prometheus' text, with what the parts say now.
  std::string text(const coordination::CoordinatorView& view, const ControlServerCounters& counters,
                   std::uint64_t runs_stored, std::uint64_t runs_lost);

 private:
  runtime::Metrics metrics_;
};

}  // namespace rehearsal::daemon

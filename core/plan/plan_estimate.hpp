#pragma once

#include <optional>
#include <string>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// How long the run will at least take, and where that comes from.
struct Estimate {
  std::optional<Duration> iteration;  ///< nothing: neither compute nor a line rate is known
  std::optional<Duration> run;        ///< all iterations
  std::string basis;                  ///< "the busiest NIC, host0/data0 at 10 Gbit/s; …"
};

Estimate estimate(const Plan& plan, const Load& load);

}  // namespace rehearsal::plan

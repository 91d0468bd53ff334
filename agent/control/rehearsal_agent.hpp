#pragma once

#include <vector>

#include "agent/control/config.hpp"
#include "core/base/result.hpp"
#include "core/host/finding.hpp"

namespace rehearsal::agent {

/// Runs the agent until a signal ends it. Fails when it cannot start.
Result<void> run(const Config& config);

/// What this host has and what of it is not well, without a coordinator.
std::vector<host::Finding> examine_host(const Config& config);

}  // namespace rehearsal::agent

#pragma once

#include "agent/control/config.hpp"
#include "core/base/result.hpp"

namespace rehearsal::agent {

/// Runs the agent until a signal ends it. Fails when it cannot start.
Result<void> run(const Config& config);

}  // namespace rehearsal::agent

#pragma once

#include "core/base/result.hpp"
#include "daemon/config.hpp"

namespace rehearsal::daemon {

/// Runs the coordinator until a signal ends it. Fails when it cannot start.
Result<void> run(const Config& config);

}  // namespace rehearsal::daemon

#pragma once

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Whether a place of a fault on `host` means the messages of this connection: those that the host
/// sends on it (`out`) or those that it receives.
bool concerns(const Plan& plan, const fault::Place& place, HostIndex host,
              const ConnectionSpec& spec, bool out);

}  // namespace rehearsal::plan

#pragma once

#include <functional>
#include <string>

#include "core/fault/ports.hpp"

namespace rehearsal::agent {

/// What tests need to kill the helper at a certain step. Only where the host's policy says
/// `test_stops: true` are these variables looked at:
///   REHEARSAL_HELPER_STOP_AT=STEP[:N]   stop (SIGSTOP) the N-th time that this step is reached
///   REHEARSAL_HELPER_BOOT_ID=ID         take this for the id of the kernel's start
struct TestStops {
  std::function<void(fault::Step)> on_step;  ///< none: no stops
  std::string boot_id;                       ///< empty: the kernel's
};

Result<TestStops> test_stops_from_environment();

}  // namespace rehearsal::agent

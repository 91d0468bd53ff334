#pragma once

#include <memory>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/report/run_measurements.hpp"

namespace rehearsal::report::test {

/// A plan of two hosts with two ranks each: per iteration an all_reduce of 1 MiB over all ranks and
/// an all_to_all with per-peer sizes, and a message inside the first host. Four iterations.
plan::Plan small_plan();

/// What expand_load would say of it, in round numbers.
plan::Load small_load();

/// A run of that plan in which everything planned was done, with clocks 5 s apart.
RunMeasurements good_run();

}  // namespace rehearsal::report::test

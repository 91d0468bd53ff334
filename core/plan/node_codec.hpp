#pragma once

#include "core/base/encoding.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

// The part of an encoded plan (plan_codec.hpp) that says how a job stands on nodes.

void write_nodes(Encoder& encoder, const PlannedJob& job);

/// Reads what write_nodes() wrote into a job that has its profile and bindings. What does not fit
/// them is an error that names the byte.
Result<void> read_nodes(Decoder& decoder, PlannedJob& job);

/// Is there a choice for every op of the job, that the op can take where its communicator stands?
Result<void> check_choices(const Plan& plan, JobIndex job);

}  // namespace rehearsal::plan

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Over this no plan is made, sent or read.
inline constexpr std::size_t kPlanBytesMax = std::size_t{512} << 20;

/// The whole plan as bytes, profiles included: what the coordinator sends to agents. The same plan
/// always gives the same bytes.
std::string encode(const Plan& plan);

/// Reads what encode() wrote and checks it as make_plan would, so that a plan that was decoded can
/// be run: truncated, damaged or out of bounds is an error (code `protocol`, source `control`) that
/// names the byte or the key. Whether it is the announced plan is for the caller: plan_hash().
Result<Plan> decode(std::string_view bytes);

}  // namespace rehearsal::plan

#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::test {

/// An op with what most tests need of it.
profile::Op op_of(profile::OpKind kind, std::uint64_t bytes, std::uint32_t peer = 0);
profile::Op compute_of(Duration duration, std::uint32_t stream = 0);

/// A profile of `ranks` ranks that all do `ops`, on one communicator of them all.
profile::Profile profile_of(std::uint32_t ranks, std::vector<profile::Op> ops);

/// A plan of one job on as many hosts as it takes, `ranks_per_host` ranks each, one NIC a host.
plan::Plan plan_of(profile::Profile profile, std::uint32_t ranks_per_host,
                   const plan::CollectiveSettings& settings = {});

/// Small messages, so that small arrays have several chunks and slices.
plan::CollectiveSettings small_settings();

}  // namespace rehearsal::test

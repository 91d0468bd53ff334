#pragma once

#include <cstdint>

#include "core/base/ids.hpp"
#include "core/collective/traffic.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// How many consecutive positions of a communicator stand together on a host: the largest number up
/// to 8 that divides every run of positions on one host (nccl src/init.cc, ncclP2pSchedule; its
/// NCCL_P2P_SCHEDULE_GROUP_SIZE is 8).
std::uint32_t group_size(const Plan& plan, JobIndex job, CommunicatorIndex communicator);

/// Where a member of the communicator stands.
collective::Place place_of(const Plan& plan, JobIndex job, CommunicatorIndex communicator,
                           std::uint32_t position);

/// The sizes of an all_to_all with per-peer sizes, nullptr for every other op.
const profile::PeerBytes* peer_bytes_of(const profile::Profile& profile, const profile::Op& op);

}  // namespace rehearsal::plan

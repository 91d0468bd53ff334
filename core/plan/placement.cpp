#include "core/plan/placement.hpp"

#include <numeric>

namespace rehearsal::plan {

std::uint32_t group_size(const Plan& plan, JobIndex job, CommunicatorIndex communicator) {
  constexpr std::uint32_t kGroupMax = 8;
  const PlannedJob& planned = plan.jobs[job.value];
  const auto& ranks = planned.profile->communicators[communicator.value].ranks;
  std::uint32_t group = kGroupMax;
  std::uint32_t run = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ++run;
    const bool last = i + 1 == ranks.size();
    if (last ||
        planned.bindings[ranks[i].value].host != planned.bindings[ranks[i + 1].value].host) {
      group = std::gcd(group, run);
      run = 0;
    }
  }
  return group;
}

collective::Place place_of(const Plan& plan, JobIndex job, CommunicatorIndex communicator,
                           std::uint32_t position) {
  return {.position = position,
          .size = plan.jobs[job.value].profile->communicators[communicator.value].size(),
          .group = group_size(plan, job, communicator)};
}

const profile::PeerBytes* peer_bytes_of(const profile::Profile& profile, const profile::Op& op) {
  return op.peer_bytes ? &profile.peer_bytes[*op.peer_bytes] : nullptr;
}

}  // namespace rehearsal::plan

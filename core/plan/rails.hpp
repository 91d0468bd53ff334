#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// Keeps traffic on its rail. A message leaves by its source rank's NIC and arrives at the NIC of
/// the same name on the destination's host, as a rail-optimised fabric is wired and as NCCL does it
/// without NCCL_CROSS_NIC (nccl src/graph/connect.cc: a ring enters and leaves a node by one NIC).
/// Where the destination's host has no NIC of that name, the destination rank's own NIC takes it.
class Rails {
 public:
  explicit Rails(const Plan& plan);

  /// The NIC of `destination`'s host at which traffic from `source` arrives.
  NicIndex arrival(const Binding& source, const Binding& destination) const;

 private:
  static constexpr std::uint32_t kNone = ~0U;

  std::size_t names_ = 0;
  std::vector<std::vector<std::uint32_t>> name_of_nic_;  ///< by host and NIC
  std::vector<std::uint32_t> nic_of_name_;               ///< by host × name
};

}  // namespace rehearsal::plan

#pragma once

#include <cstdint>

#include "core/profile/profile.hpp"

namespace rehearsal::profile {

/// What an op makes ranks send to other ranks: by rings (all_reduce, all_gather, reduce_scatter), a
/// pipeline (broadcast, reduce) or directly (the others). Exact sums; a rank's share is S/n
/// rounded.
struct Traffic {
  Bytes total;       ///< over all ranks of the communicator
  Bytes rank_least;  ///< of the rank that sends least
  Bytes rank_most;   ///< of the rank that sends most
};

/// For a communication op of a valid profile. send and recv: the message, counted at the sender.
Traffic traffic_of(const Profile& profile, const Op& op);

}  // namespace rehearsal::profile

#pragma once

#include <vector>

#include "core/profile/profile.hpp"

namespace rehearsal::profile {

/// One rank's ops, before folding.
struct RankOps {
  Rank rank;
  std::vector<Op> ops;
};

/// Ranks with identical ops become one class, named after its ranks ("ranks 0-7"); classes are in
/// the order of their lowest rank.
std::vector<RankClass> fold(std::vector<RankOps> ranks);

}  // namespace rehearsal::profile

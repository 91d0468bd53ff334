#include "core/profile/profile.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace rehearsal::profile {

std::uint32_t Communicator::position(Rank rank) const {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  return static_cast<std::uint32_t>(found - ranks.begin());
}

Bytes PeerBytes::sent_by(std::uint32_t source) const {
  Bytes total;
  for (std::uint32_t to = 0; to < size; ++to) total += from_to(source, to);
  return total;
}

Bytes PeerBytes::received_by(std::uint32_t destination) const {
  Bytes total;
  for (std::uint32_t from = 0; from < size; ++from) total += from_to(from, destination);
  return total;
}

const RankClass& Profile::class_of(Rank rank) const {
  for (const RankClass& candidate : classes) {
    if (std::binary_search(candidate.ranks.begin(), candidate.ranks.end(), rank)) return candidate;
  }
  CHECK(false, "every rank of a valid profile has a class");
}

}  // namespace rehearsal::profile

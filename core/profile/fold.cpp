#include "core/profile/fold.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/profile/rank_list.hpp"

namespace rehearsal::profile {
namespace {

/// Equal lists have equal digests; unequal ones are told apart by comparing.
std::size_t digest(const std::vector<Op>& ops) {
  std::size_t value = ops.size();
  const auto mix = [&](std::uint64_t part) {
    value = (value ^ part) * 0x9E3779B97F4A7C15ULL;
    value ^= value >> 29;
  };
  for (const Op& op : ops) {
    mix(static_cast<std::uint64_t>(op.kind));
    mix(op.bytes.count());
    mix(static_cast<std::uint64_t>(op.duration.count()));
    mix(op.communicator.value);
    mix(op.peer);
  }
  return value;
}

}  // namespace

std::vector<RankClass> fold(std::vector<RankOps> ranks) {
  std::sort(ranks.begin(), ranks.end(),
            [](const RankOps& a, const RankOps& b) { return a.rank < b.rank; });
  std::vector<RankClass> classes;
  std::unordered_multimap<std::size_t, std::size_t> class_by_digest;
  for (RankOps& rank : ranks) {
    const std::size_t key = digest(rank.ops);
    const auto [first, last] = class_by_digest.equal_range(key);
    const auto same = std::find_if(
        first, last, [&](const auto& entry) { return classes[entry.second].ops == rank.ops; });
    if (same != last) {
      classes[same->second].ranks.push_back(rank.rank);
    } else {
      class_by_digest.emplace(key, classes.size());
      classes.push_back({.name = {}, .ranks = {rank.rank}, .ops = std::move(rank.ops)});
    }
  }
  for (RankClass& rank_class : classes) {
    rank_class.name =
        (rank_class.ranks.size() == 1 ? "rank " : "ranks ") + format_ranks(rank_class.ranks);
  }
  return classes;
}

}  // namespace rehearsal::profile

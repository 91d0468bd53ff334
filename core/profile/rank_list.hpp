#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace rehearsal::profile {

/// Consecutive ascending ranks: first, first + 1, … first + count − 1.
struct RankRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool operator==(const RankRun&) const = default;
};

/// The fewest runs that give `ranks` in order; the same list always gives the same runs.
std::vector<RankRun> runs_of(std::span<const Rank> ranks);

/// "0-3,8" for 0, 1, 2, 3, 8.
std::string format_ranks(std::span<const Rank> ranks);

/// Reads "5" or "0-7" and appends the ranks; refuses one not below `rank_count`.
Result<void> append_ranks(std::string_view text, std::uint32_t rank_count,
                          std::vector<Rank>& ranks);

}  // namespace rehearsal::profile

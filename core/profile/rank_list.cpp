#include "core/profile/rank_list.hpp"

#include <charconv>

namespace rehearsal::profile {
namespace {

bool parse_number(std::string_view text, std::uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::vector<RankRun> runs_of(std::span<const Rank> ranks) {
  std::vector<RankRun> runs;
  for (const Rank rank : ranks) {
    if (!runs.empty() && runs.back().first + runs.back().count == rank.value) {
      ++runs.back().count;
    } else {
      runs.push_back({rank.value, 1});
    }
  }
  return runs;
}

std::string format_ranks(std::span<const Rank> ranks) {
  std::string text;
  for (const RankRun& run : runs_of(ranks)) {
    if (!text.empty()) text += ',';
    text += std::to_string(run.first);
    if (run.count > 1) text += '-' + std::to_string(run.first + run.count - 1);
  }
  return text;
}

Result<void> append_ranks(std::string_view text, std::uint32_t rank_count,
                          std::vector<Rank>& ranks) {
  const std::size_t dash = text.find('-');
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  const bool good =
      dash == std::string_view::npos
          ? parse_number(text, first) && parse_number(text, last)
          : parse_number(text.substr(0, dash), first) && parse_number(text.substr(dash + 1), last);
  if (!good || first > last) {
    return invalid("'" + std::string(text) + "' is no rank; write one like 5 or a range like 0-7");
  }
  if (last >= rank_count) {
    return invalid("rank " + std::to_string(last) + " does not exist; the job has " +
                   std::to_string(rank_count) + " ranks, 0 to " +
                   std::to_string(rank_count == 0 ? 0 : rank_count - 1));
  }
  for (std::uint32_t rank = first; rank <= last; ++rank) ranks.push_back(Rank{rank});
  return {};
}

}  // namespace rehearsal::profile

#include "core/host/core_list.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "core/base/text.hpp"

namespace rehearsal::host {
namespace {

/// The number at the beginning of `text`, which is taken off.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value >= kCoresMax) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

Failure wrong(std::string_view text) {
  return invalid(in_quotes(text) +
                 " is no list of cores; right would be like 0-3,8 with numbers "
                 "below " +
                 std::to_string(kCoresMax));
}

}  // namespace

Result<Cores> parse_core_list(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  Cores cores;
  for (std::string_view rest = text; !rest.empty();) {
    const auto first = take_number(rest);
    if (!first) return wrong(text);
    auto last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = take_number(rest);
    }
    if (!last || *last < *first) return wrong(text);
    for (std::uint32_t core = *first; core <= *last; ++core) cores.push_back(core);
    if (rest.empty()) break;
    if (!rest.starts_with(',') || rest.size() == 1 || cores.size() > kCoresMax) return wrong(text);
    rest.remove_prefix(1);
  }
  std::ranges::sort(cores);
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::string core_list_text(const Cores& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cores[i]);
    if (end - i > 1) text += '-' + std::to_string(cores[end - 1]);
    i = end;
  }
  return text.empty() ? "none" : text;
}

Cores common_cores(const Cores& one, const Cores& other) {
  Cores both;
  std::ranges::set_intersection(one, other, std::back_inserter(both));
  return both;
}

}  // namespace rehearsal::host

#include "core/plan/host_list.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include "core/base/text.hpp"
#include "core/plan/checks.hpp"

namespace rehearsal::plan {
namespace {

constexpr std::size_t kDigitsMax = 9;

std::optional<std::uint32_t> number_of(std::string_view digits) {
  std::uint32_t value = 0;
  if (digits.empty() || digits.size() > kDigitsMax) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::string padded(std::uint32_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

Failure wrong(std::string_view text, std::string_view why) {
  return invalid(in_quotes(text) + " " + std::string(why) +
                 "; write it like host[0-3] or host[0-3,8], or list the names");
}

}  // namespace

Result<std::vector<std::string>> expand_host_list(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) return std::vector<std::string>{std::string(text)};
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos) return wrong(text, "has no closing bracket");
  const std::string before(text.substr(0, open));
  const std::string after(text.substr(close + 1));
  if (after.find('[') != std::string::npos)
    return wrong(text, "has more than one pair of brackets");

  std::vector<std::string> names;
  std::string_view rest = text.substr(open + 1, close - open - 1);
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    const std::string_view range = rest.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);

    const std::size_t dash = range.find('-');
    const std::string_view low_digits = range.substr(0, dash);
    const auto low = number_of(low_digits);
    const auto high = dash == std::string_view::npos ? low : number_of(range.substr(dash + 1));
    if (!low || !high) return wrong(text, "has " + in_quotes(range) + " where a range should be");
    if (*low > *high) return wrong(text, "counts backwards in " + in_quotes(range));
    if (names.size() + (*high - *low) >= kHostsMax) {
      return wrong(text, "names more than " + std::to_string(kHostsMax) + " hosts");
    }
    const std::size_t width = low_digits.front() == '0' ? low_digits.size() : 0;
    for (std::uint32_t number = *low; number <= *high; ++number) {
      names.push_back(before + padded(number, width) + after);
    }
  }
  return names;
}

}  // namespace rehearsal::plan

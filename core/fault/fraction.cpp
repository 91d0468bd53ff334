#include "core/fault/fraction.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/text.hpp"

namespace rehearsal::fault {
namespace {

constexpr std::uint32_t kPercent = Fraction::kWhole / 100;
constexpr std::size_t kDecimalsMax = 4;  // of a percentage: a millionth of the whole

std::optional<std::uint64_t> digits(std::string_view text) {
  constexpr std::size_t kDigitsMax = 9;
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

// "12.5" of "12.5%".
std::optional<std::uint64_t> percentage(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto whole = digits(text.substr(0, point));
  if (!whole) return std::nullopt;
  if (point == std::string_view::npos) return *whole * kPercent;
  const std::string_view decimals = text.substr(point + 1);
  if (decimals.size() > kDecimalsMax) return std::nullopt;
  auto rest = digits(decimals);
  if (!rest) return std::nullopt;
  for (std::size_t i = decimals.size(); i < kDecimalsMax; ++i) *rest *= 10;
  return *whole * kPercent + *rest;
}

std::optional<std::uint64_t> ratio(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto above = digits(text.substr(0, slash));
  const auto below = digits(text.substr(slash + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  return *above * Fraction::kWhole / *below;
}

}  // namespace

std::uint64_t part_of(std::uint64_t value, Fraction fraction) {
  const std::uint64_t whole = value / Fraction::kWhole;
  const std::uint64_t rest = value % Fraction::kWhole;
  return whole * fraction.millionths + rest * fraction.millionths / Fraction::kWhole;
}

Result<Fraction> parse_fraction(std::string_view text) {
  const auto read = text.ends_with('%') ? percentage(text.substr(0, text.size() - 1)) : ratio(text);
  if (!read || *read > Fraction::kMost) {
    return invalid(in_quotes(text) +
                   " is no share; expected a percentage with up to four decimals, like 50% or "
                   "0.1%, or a ratio, like 1/4");
  }
  return Fraction{static_cast<std::uint32_t>(*read)};
}

std::string format_fraction(Fraction fraction) {
  std::string text = std::to_string(fraction.millionths / kPercent);
  std::uint32_t rest = fraction.millionths % kPercent;
  if (rest != 0) {
    std::string decimals = std::to_string(rest);
    decimals.insert(0, kDecimalsMax - decimals.size(), '0');
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += "." + decimals;
  }
  return text + "%";
}

}  // namespace rehearsal::fault

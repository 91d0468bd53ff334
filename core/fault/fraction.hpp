#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace rehearsal::fault {

/// A part of a whole, in millionths; may be more than the whole ("compute takes 150%").
struct Fraction {
  std::uint32_t millionths = 0;

  static constexpr std::uint32_t kWhole = 1'000'000;
  static constexpr std::uint32_t kMost = 1000 * kWhole;

  constexpr auto operator<=>(const Fraction&) const = default;
};
inline constexpr Fraction kWhole{Fraction::kWhole};

/// That part of `value`, rounded down.
std::uint64_t part_of(std::uint64_t value, Fraction fraction);

/// "50%", "0.1%", "12.5%" or "1/4", to a millionth and up to 100000%. A bare number is an error.
Result<Fraction> parse_fraction(std::string_view text);
/// The shortest form that parse_fraction reads back: "50%", "0.1%".
std::string format_fraction(Fraction fraction);

}  // namespace rehearsal::fault

#pragma once

#include <simdjson.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rehearsal::importer {

/// A whole number that is not negative (up to 2^64 − 1), or none.
inline std::optional<std::uint64_t> unsigned_of(simdjson::dom::element value) {
  std::uint64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  return std::nullopt;
}

/// Text of a string value, or none. Lives as long as the parser.
inline std::optional<std::string_view> text_of(simdjson::dom::element value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return text;
  return std::nullopt;
}

/// Nanoseconds of a number of microseconds (whole or with a fraction); none if it is no number or
/// beyond what fits (about 126 years).
inline std::optional<std::int64_t> nanoseconds_of_micros(simdjson::dom::element value) {
  constexpr std::int64_t kMost = 4'000'000'000'000'000;
  std::int64_t whole = 0;
  if (value.get(whole) == simdjson::SUCCESS) {
    if (whole > kMost || whole < -kMost) return std::nullopt;
    return whole * 1000;
  }
  double fraction = 0;
  if (value.get(fraction) != simdjson::SUCCESS || !(std::fabs(fraction) <= double{kMost})) {
    return std::nullopt;
  }
  return std::llround(fraction * 1000.0);
}

}  // namespace rehearsal::importer

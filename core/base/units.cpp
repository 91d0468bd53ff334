#include "core/base/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

namespace rehearsal {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array kByteUnits = std::to_array<Unit>({{"TiB", 1ULL << 40},
                                                       {"GiB", 1ULL << 30},
                                                       {"MiB", 1ULL << 20},
                                                       {"KiB", 1ULL << 10},
                                                       {"TB", 1'000'000'000'000},
                                                       {"GB", 1'000'000'000},
                                                       {"MB", 1'000'000},
                                                       {"kB", 1'000},
                                                       {"B", 1}});

constexpr std::array kDurationUnits = std::to_array<Unit>({{"h", 3'600'000'000'000},
                                                           {"min", 60'000'000'000},
                                                           {"s", 1'000'000'000},
                                                           {"ms", 1'000'000},
                                                           {"us", 1'000},
                                                           {"ns", 1}});

constexpr std::array kBitRateUnits = std::to_array<Unit>({{"Tbit/s", 1'000'000'000'000},
                                                          {"Gbit/s", 1'000'000'000},
                                                          {"Mbit/s", 1'000'000},
                                                          {"kbit/s", 1'000},
                                                          {"bit/s", 1}});

bool is_number_character(char c) { return (c >= '0' && c <= '9') || c == '.'; }

// The product must be a whole number of the smallest unit that fits 63 bits.
Result<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units,
                                     std::string_view example) {
  const auto wrong = [&](std::string_view why) {
    return invalid("'" + std::string(text) + "' " + std::string(why) + "; write it like " +
                   std::string(example));
  };
  std::size_t digits = 0;
  while (digits < text.size() && is_number_character(text[digits])) ++digits;
  if (digits == 0) return wrong("does not start with a number");
  std::string_view unit_name = text.substr(digits);
  if (unit_name.empty()) return wrong("has no unit");
  if (unit_name.front() == ' ') unit_name.remove_prefix(1);

  const Unit* unit = nullptr;
  for (const Unit& candidate : units) {
    if (candidate.name == unit_name) unit = &candidate;
  }
  if (unit == nullptr) return wrong("has an unknown unit");

  constexpr std::uint64_t kMost = 1ULL << 62;
  const std::string_view number = text.substr(0, digits);
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
  if (error == std::errc{} && end == number.data() + number.size()) {
    if (whole > kMost / unit->factor) return wrong("is too large");
    return whole * unit->factor;
  }
  double fraction = 0;
  const auto [fraction_end, fraction_error] =
      std::from_chars(number.data(), number.data() + number.size(), fraction);
  if (fraction_error != std::errc{} || fraction_end != number.data() + number.size()) {
    return wrong("is not a number");
  }
  const double product = fraction * static_cast<double>(unit->factor);
  if (product > static_cast<double>(kMost)) return wrong("is too large");
  return static_cast<std::uint64_t>(std::llround(product));
}

std::string format_exact(std::uint64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) {
      return std::to_string(value / unit.factor) + std::string(unit.name);
    }
  }
  return std::to_string(value) + std::string(units.back().name);
}

std::string three_figures(double value, std::string_view unit) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f ", decimals, value);
  return std::string(buffer.data()) + std::string(unit);
}

std::string format_scaled(double value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    const double scaled = value / static_cast<double>(unit.factor);
    if (scaled >= 1.0 && unit.factor > 1) return three_figures(scaled, unit.name);
  }
  std::array<char, 48> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.0f ", value);
  return std::string(buffer.data()) + std::string(units.back().name);
}

}  // namespace

Duration transmission_time(Bytes bytes, BitRate rate) {
  if (rate.bits_per_second() == 0) return Duration::zero();
  const double seconds = static_cast<double>(bytes.count()) / rate.bytes_per_second();
  return Duration{static_cast<std::int64_t>(std::llround(seconds * 1e9))};
}

Result<Bytes> parse_bytes(std::string_view text) {
  return parse_quantity(text, kByteUnits, "64MiB, 512KiB or 100B").map([](std::uint64_t count) {
    return Bytes{count};
  });
}

Result<Duration> parse_duration(std::string_view text) {
  return parse_quantity(text, kDurationUnits, "250us, 20ms or 1.5s").map([](std::uint64_t count) {
    return Duration{static_cast<std::int64_t>(count)};
  });
}

Result<BitRate> parse_bit_rate(std::string_view text) {
  return parse_quantity(text, kBitRateUnits, "100Gbit/s or 500Mbit/s").map([](std::uint64_t count) {
    return BitRate{count};
  });
}

std::string format_bytes_exact(Bytes bytes) { return format_exact(bytes.count(), kByteUnits); }

std::string format_duration_exact(Duration duration) {
  return format_exact(static_cast<std::uint64_t>(duration.count()), kDurationUnits);
}

std::string format_bit_rate_exact(BitRate rate) {
  return format_exact(rate.bits_per_second(), kBitRateUnits);
}

std::string format_bytes(Bytes bytes) {
  static constexpr std::array kBinary = std::to_array<Unit>({{"TiB", 1ULL << 40},
                                                             {"GiB", 1ULL << 30},
                                                             {"MiB", 1ULL << 20},
                                                             {"KiB", 1ULL << 10},
                                                             {"B", 1}});
  return format_scaled(static_cast<double>(bytes.count()), kBinary);
}

std::string format_duration(Duration duration) {
  static constexpr std::array kShort =
      std::to_array<Unit>({{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}});
  if (duration < Duration::zero()) return "-" + format_duration(-duration);
  return format_scaled(static_cast<double>(duration.count()), kShort);
}

std::string format_bit_rate(double bits_per_second) {
  return format_scaled(bits_per_second, kBitRateUnits);
}

}  // namespace rehearsal

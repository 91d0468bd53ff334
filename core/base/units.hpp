#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace rehearsal {

/// A count of bytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::uint64_t count) : count_(count) {}

  constexpr std::uint64_t count() const { return count_; }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count_ -= other.count_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return a += b; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return a -= b; }
  friend constexpr Bytes operator*(Bytes a, std::uint64_t times) { return Bytes{a.count_ * times}; }
  friend constexpr Bytes operator/(Bytes a, std::uint64_t parts) { return Bytes{a.count_ / parts}; }

 private:
  std::uint64_t count_ = 0;
};

/// Bits per second.
class BitRate {
 public:
  constexpr BitRate() = default;
  constexpr explicit BitRate(std::uint64_t bits_per_second) : bits_per_second_(bits_per_second) {}

  constexpr std::uint64_t bits_per_second() const { return bits_per_second_; }
  constexpr double bytes_per_second() const { return static_cast<double>(bits_per_second_) / 8.0; }

  constexpr auto operator<=>(const BitRate&) const = default;

 private:
  std::uint64_t bits_per_second_ = 0;
};

/// How long `bytes` take at `rate`; zero rate means no limit (zero time).
Duration transmission_time(Bytes bytes, BitRate rate);

/// "64MiB", "512KiB", "1GB", "37B" (decimal and binary prefixes). A bare number is an error.
Result<Bytes> parse_bytes(std::string_view text);

/// "250us", "1.5ms", "20s", "2min", "1h", "7ns". A bare number is an error.
Result<Duration> parse_duration(std::string_view text);

/// "100Gbit/s", "2.5Gbit/s", "800kbit/s". A bare number is an error.
Result<BitRate> parse_bit_rate(std::string_view text);

/// The shortest exact form that parse_bytes reads back: "64MiB", "102228128B".
std::string format_bytes_exact(Bytes bytes);
/// The shortest exact form that parse_duration reads back: "250us", "1500ns".
std::string format_duration_exact(Duration duration);
/// The shortest exact form that parse_bit_rate reads back: "100Gbit/s".
std::string format_bit_rate_exact(BitRate rate);

/// For people, three significant figures: "97.5 MiB", "1.23 ms", "18.4 Gbit/s".
std::string format_bytes(Bytes bytes);
std::string format_duration(Duration duration);
std::string format_bit_rate(double bits_per_second);

}  // namespace rehearsal

#pragma once

#include <cstdint>
#include <random>

namespace rehearsal {

/// Seeded random numbers that are the same on every platform (the standard distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }

  /// Uniform in [0, bound); `bound` must not be zero.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

  /// Uniform in [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }

  /// Uniform in [0, 1).
  double fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  bool chance(double probability) { return fraction() < probability; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace rehearsal

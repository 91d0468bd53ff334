#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/time.hpp"
#include "core/measure/arrival_curve.hpp"

namespace rehearsal::measure {

/// The arrival curve of a counter that is read again and again: of bytes that really were on the
/// wire, headers and retransmissions included, where a transport only knows what it handed over.
///
/// A device may renew its counter more seldom than it is read; then several intervals' bytes show
/// at once, like a burst that never was. How often it does is learnt from the readings, and
/// series() has bins at least that wide. After the constructor nothing is allocated.
class CounterCurve {
 public:
  /// Bins begin at `origin`; `bin`: how far apart readings are meant to be. `capacity` as of
  /// ByteBins.
  CounterCurve(Instant origin, std::size_t capacity, Duration bin);

  /// The counter stood at `count` at `at` (ascending). What it rose by since the reading before is
  /// taken as even over the time between; where it fell (the device was made again) nothing is.
  void read(Instant at, std::uint64_t count) noexcept;

  /// The time between two changes of the counter while it was busy, that is of the tenth part of
  /// them that is shortest; none: it changed too seldom to tell.
  std::optional<Duration> resolution() const;
  /// Allocates.
  ByteSeries series() const;

 private:
  static constexpr std::size_t kGapsMax = 4096;
  static constexpr std::size_t kGapsMin = 8;

  struct Reading {
    Instant at{};
    std::uint64_t count = 0;
  };

  ByteBins bins_;
  std::optional<Reading> last_;
  std::optional<Instant> last_change_;
  std::vector<Duration> gaps_;  // of changes, the first ones
};

}  // namespace rehearsal::measure

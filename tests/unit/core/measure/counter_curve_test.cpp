#include "core/measure/counter_curve.hpp"

#include <gmock/gmock.h>

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr Instant kBegin{1s};

CounterCurve curve() { return {kBegin, 1024, 1ms}; }

TEST(CounterCurveTest, WhatItRisesByStandsInTheBinBeforeTheReading) {
  CounterCurve bytes = curve();
  bytes.read(kBegin, 1000);
  bytes.read(kBegin + 1ms, 1100);
  bytes.read(kBegin + 2ms, 1100);
  bytes.read(kBegin + 3ms, 1400);
  EXPECT_THAT(bytes.series().bytes, ElementsAre(100, 0, 300));
  EXPECT_EQ(bytes.series().bin, 1ms);
  EXPECT_EQ(bytes.series().origin, kBegin);
}

TEST(CounterCurveTest, AReadingThatIsLateIsSpreadOverTheTimeSinceTheLast) {
  CounterCurve bytes = curve();
  bytes.read(kBegin, 0);
  bytes.read(kBegin + 3ms, 301);
  EXPECT_THAT(bytes.series().bytes, ElementsAre(100, 100, 101));
  EXPECT_EQ(bytes.series().total(), 301U) << "nothing is lost by rounding";
}

TEST(CounterCurveTest, WhereItFallsNothingIsCounted) {
  CounterCurve bytes = curve();
  bytes.read(kBegin, 5000);
  bytes.read(kBegin + 1ms, 10);
  bytes.read(kBegin + 2ms, 30);
  EXPECT_EQ(bytes.series().total(), 20U);
}

TEST(CounterCurveTest, ADeviceThatRenewsItsCounterSeldomMakesBinsWider) {
  CounterCurve bytes = curve();
  for (int ms = 0; ms <= 200; ++ms) {
    const auto renewed = static_cast<std::uint64_t>(ms / 10);
    bytes.read(kBegin + std::chrono::milliseconds{ms}, renewed * 1000);
  }
  EXPECT_EQ(bytes.resolution(), 10ms);
  EXPECT_EQ(bytes.series().bin, 10ms);
  EXPECT_EQ(bytes.series().total(), 20'000U);
}

TEST(CounterCurveTest, QuietTimesBetweenBurstsAreNoResolution) {
  CounterCurve bytes = curve();
  std::uint64_t count = 0;
  for (int ms = 0; ms <= 300; ++ms) {
    if (ms % 100 < 20) count += 500;  // 20 ms of traffic, 80 ms of none
    bytes.read(kBegin + std::chrono::milliseconds{ms} + 37us, count);
  }
  EXPECT_EQ(bytes.resolution(), 1ms);
  EXPECT_EQ(bytes.series().bin, 1ms);
}

TEST(CounterCurveTest, OfAFewChangesNothingIsConcluded) {
  CounterCurve bytes = curve();
  bytes.read(kBegin, 0);
  bytes.read(kBegin + 50ms, 1);
  bytes.read(kBegin + 100ms, 2);
  EXPECT_EQ(bytes.resolution(), std::nullopt);
  EXPECT_EQ(bytes.series().bin, 1ms);
  EXPECT_EQ(curve().series().total(), 0U);
}

}  // namespace
}  // namespace rehearsal::measure

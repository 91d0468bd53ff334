#include "core/coordination/clock_estimator.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"

namespace rehearsal::coordination {
namespace {

using namespace std::chrono_literals;

/// An agent whose clock shows coordinator − offset, at the end of a link with these delays.
ClockExchange exchange(Instant coordinator_time, Duration offset, Duration there, Duration back) {
  const Instant agent_sent = coordinator_time - there - offset;
  return {.agent_sent = agent_sent,
          .coordinator_received = coordinator_time,
          .coordinator_sent = coordinator_time + 10us,
          .agent_received = coordinator_time + 10us + back - offset};
}

Duration distance(Duration a, Duration b) { return a > b ? a - b : b - a; }

TEST(ClockEstimator, KnowsNothingBeforeTheFirstExchange) {
  EXPECT_EQ(ClockEstimator().estimate(Instant{1s}), std::nullopt);
}

TEST(ClockEstimator, OneSymmetricExchangeGivesTheOffsetWithinHalfItsDelay) {
  ClockEstimator estimator;
  const ClockExchange stamps = exchange(Instant{100s}, 7ms, 50us, 50us);
  estimator.add(stamps);
  const auto estimate = estimator.estimate(stamps.agent_received);
  ASSERT_TRUE(estimate);
  EXPECT_LE(distance(estimate->offset, 7ms), 1us);
  EXPECT_GE(estimate->error_bound, 50us);
  EXPECT_LE(estimate->error_bound, 51us);
}

TEST(ClockEstimator, TheTruthLiesWithinTheBoundHoweverUnevenTheDelays) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Duration offset = Duration{static_cast<std::int64_t>(random.below(20'000'000'000))} - 10s;
    ClockEstimator estimator;
    Instant now{1000s};
    for (int i = 0; i < 100; ++i) {
      const Duration there{static_cast<std::int64_t>(random.between(20'000, 3'000'000))};
      const Duration back{static_cast<std::int64_t>(random.between(20'000, 3'000'000))};
      now += 50ms;
      estimator.add(exchange(now, offset, there, back));
      const auto estimate = estimator.estimate(now - offset + 4ms);
      ASSERT_TRUE(estimate);
      ASSERT_LE(distance(estimate->offset, offset), estimate->error_bound);
    }
    EXPECT_LE(estimator.estimate(now - offset)->error_bound, 1500us) << "worse than one exchange";
  }
}

TEST(ClockEstimator, TheTruthLiesWithinTheBoundWhenTheClockDrifts) {
  ClockEstimator estimator;
  for (int i = 0; i < 200; ++i) {
    const Instant now = Instant{1000s} + i * 500ms;
    const Duration offset = 3ms + i * 500ms / 25'000;  // 40 ppm
    estimator.add(exchange(now, offset, 30us, 60us));
    const auto estimate = estimator.estimate(now - offset + 100us);
    ASSERT_TRUE(estimate);
    ASSERT_LE(distance(estimate->offset, offset), estimate->error_bound) << i;
  }
}

TEST(ClockEstimator, ASlowExchangeDoesNoHarm) {
  ClockEstimator estimator;
  estimator.add(exchange(Instant{10s}, 1ms, 20us, 20us));
  const auto before = estimator.estimate(Instant{10s});
  estimator.add(exchange(Instant{10s} + 1ms, 1ms, 50ms, 1us));
  const auto after = estimator.estimate(Instant{10s});
  EXPECT_LE(after->error_bound, before->error_bound);
  EXPECT_LE(distance(after->offset, 1ms), 21us);
}

TEST(ClockEstimator, TheBoundGrowsWithAge) {
  ClockEstimator estimator;
  estimator.add(exchange(Instant{10s}, 0s, 20us, 20us));
  const Duration soon = estimator.estimate(Instant{10s})->error_bound;
  const Duration later = estimator.estimate(Instant{20s})->error_bound;
  EXPECT_GE(later, soon + 900us);
  EXPECT_LE(later, soon + 1100us);
}

TEST(ClockEstimator, AClockThatJumpedBeginsAnew) {
  ClockEstimator estimator;
  estimator.add(exchange(Instant{10s}, 0s, 20us, 20us));
  estimator.add(exchange(Instant{11s}, 5s, 20us, 20us));
  EXPECT_EQ(estimator.exchanges(), 1u);
  EXPECT_LE(distance(estimator.estimate(Instant{6s})->offset, 5s), 21us);
}

TEST(ClockEstimator, StampsThatRunBackwardsArePassedOver) {
  ClockEstimator estimator;
  estimator.add({.agent_sent = Instant{2s},
                 .coordinator_received = Instant{2s},
                 .coordinator_sent = Instant{2s},
                 .agent_received = Instant{1s}});
  EXPECT_EQ(estimator.exchanges(), 0u);
}

}  // namespace
}  // namespace rehearsal::coordination

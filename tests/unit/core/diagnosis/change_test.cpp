#include "core/diagnosis/change.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"

namespace rehearsal::diagnosis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kHosts = 4;
constexpr std::uint32_t kWindows = 12;
const Stretches kStretches = {.normal = {0, 1, 2, 3, 8, 9, 10, 11}, .slow = {4, 5, 6, 7}};

bool is_slow(std::uint32_t window) { return window >= 4 && window < 8; }

/// A ring of `kHosts` NICs whose flows differ by half in a healthy run, with `noise`.
struct Ring {
  double waited_for = 1;  ///< times as long in the slow windows: of the flow from 1 to 2
  double under_way = 1;
  std::uint32_t hidden_from =
      kHosts;  ///< what this NIC and those after it send is never waited for
  double noise = 0.02;
  std::uint64_t seed = 1;

  Observations observed() const {
    Random random(seed);
    const auto wavering = [&] { return 1 + noise * (2 * random.fraction() - 1); };
    Observations observations;
    for (std::uint32_t window = 0; window < kWindows; ++window)
      observations.windows.push_back(
          {.iterations = 4, .iteration_time = is_slow(window) ? 21ms : 20ms});
    for (std::uint32_t from = 0; from < kHosts; ++from) {
      observations.host_of_nic.push_back(HostIndex{from});
      Flow flow{.source = from, .destination = (from + 1) % kHosts, .windows = {}};
      for (std::uint32_t window = 0; window < kWindows; ++window) {
        const bool hit = from == 1 && is_slow(window);
        const double usual = 8e6 * (1 + 0.5 * from / kHosts);
        flow.windows.push_back(
            {.messages = 40,
             .bytes = 1e6,
             .exposed = from >= hidden_from ? 0ns
                                            : Duration{static_cast<std::int64_t>(
                                                  4 * usual * wavering() * (hit ? waited_for : 1))},
             // With clocks that are apart by 100 us a host.
             .under_way = Duration{static_cast<std::int64_t>(
                 40 * (1e6 * wavering() * (hit ? under_way : 1) + 1e5 * from))}});
      }
      observations.flows.push_back(std::move(flow));
    }
    return observations;
  }
};

TEST(FindChange, AMildOneIsNamedThoughFlowsDifferByMoreWhenAllIsWell) {
  const auto suspect = find_change(Ring{.waited_for = 1.2}.observed(), kStretches);
  ASSERT_TRUE(suspect);
  EXPECT_EQ(suspect->place, Place::link);
  EXPECT_EQ(suspect->nic, 1U);
  EXPECT_EQ(suspect->destination, 2U);
  EXPECT_TRUE(suspect->against_itself);
  EXPECT_FALSE(suspect->by_time_under_way);
  EXPECT_NEAR(suspect->factor, 1.2, 0.03);
  EXPECT_GE(suspect->confidence, kConfidenceMin);
}

TEST(FindChange, AFlowIsNamedThoughHalfOfTheOthersAreNeverWaitedFor) {
  const auto suspect =
      find_change(Ring{.waited_for = 1.2, .hidden_from = 2}.observed(), kStretches);
  ASSERT_TRUE(suspect);
  EXPECT_EQ(suspect->place, Place::link);
  EXPECT_EQ(suspect->nic, 1U);
  EXPECT_FALSE(suspect->by_time_under_way);
  EXPECT_GE(suspect->confidence, kConfidenceMin);
}

TEST(FindChange, WhatIsOnlyLongerUnderWayIsSeenThoughClocksAreApart) {
  const auto suspect = find_change(Ring{.under_way = 2}.observed(), kStretches);
  ASSERT_TRUE(suspect);
  EXPECT_EQ(suspect->nic, 1U);
  EXPECT_TRUE(suspect->by_time_under_way);
  EXPECT_GE(suspect->confidence, kConfidenceMin);
}

TEST(FindChange, ConfidenceFallsWithTheNoise) {
  const auto quiet = find_change(Ring{.waited_for = 1.2, .noise = 0.01}.observed(), kStretches);
  const auto noisy = find_change(Ring{.waited_for = 1.2, .noise = 0.2}.observed(), kStretches);
  ASSERT_TRUE(quiet);
  EXPECT_LT(noisy ? noisy->confidence : 0, quiet->confidence);
}

TEST(FindChange, NobodyIsNamedWithoutEnoughNormalWindows) {
  const Stretches few = {.normal = {0, 1}, .slow = {4, 5, 6, 7}};
  EXPECT_FALSE(find_change(Ring{.waited_for = 2}.observed(), few));
}

/// Of a thousand runs in which nothing is wrong.
int named_by_noise(std::uint32_t hidden_from) {
  int named = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Ring ring{.hidden_from = hidden_from, .noise = 0.3, .seed = seed};
    const auto suspect = find_change(ring.observed(), kStretches);
    named += suspect && suspect->confidence >= kConfidenceMin ? 1 : 0;
  }
  return named;
}

TEST(FindChange, NoiseAloneNamesAtMostOneInAHundred) { EXPECT_LE(named_by_noise(kHosts), 10); }

TEST(FindChange, NorDoesItWhereHalfOfTheFlowsAreNeverWaitedFor) {
  EXPECT_LE(named_by_noise(2), 10);
}

/// The flow from NIC 1, which is blamed for what is slow.
const Explanation kFlowOfOne = {.suspect = {.place = Place::link, .nic = 1, .destination = 2},
                                .blamed = {false, true, false, false}};

TEST(MayHaveChanged, KnowsAFlowThatDidFromOneThatDidNot) {
  EXPECT_TRUE(may_have_changed(Ring{.waited_for = 1.5}.observed(), kFlowOfOne, kStretches));
  EXPECT_FALSE(may_have_changed(Ring{}.observed(), kFlowOfOne, kStretches));
}

TEST(MayHaveChanged, KnowsItToWhereHalfOfTheFlowsAreNeverWaitedFor) {
  const Ring slow{.waited_for = 1.5, .hidden_from = 2};
  EXPECT_TRUE(may_have_changed(slow.observed(), kFlowOfOne, kStretches));
  EXPECT_FALSE(may_have_changed(Ring{.hidden_from = 2}.observed(), kFlowOfOne, kStretches));
}

TEST(MayHaveChanged, IsTrueOfAFlowThatCarriedNothingInNormalWindows) {
  Observations observations = Ring{}.observed();
  for (const std::size_t window : kStretches.normal) observations.flows[1].windows[window] = {};
  EXPECT_TRUE(may_have_changed(observations, kFlowOfOne, kStretches));
}

}  // namespace
}  // namespace rehearsal::diagnosis

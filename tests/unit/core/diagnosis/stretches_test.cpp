#include "core/diagnosis/stretches.hpp"

#include <gmock/gmock.h>

#include "core/base/random.hpp"

namespace rehearsal::diagnosis {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Observations run_of(const std::vector<double>& milliseconds, std::uint32_t iterations = 4) {
  Observations observations;
  for (const double time : milliseconds)
    observations.windows.push_back(
        {.iterations = iterations,
         .iteration_time = Duration{static_cast<std::int64_t>(time * 1e6)}});
  return observations;
}

TEST(Stretches, AreNotThereWhereAllWindowsAreAlike) {
  EXPECT_FALSE(stretches_of({}));
  EXPECT_FALSE(stretches_of(run_of({100, 100, 100, 100})));
  EXPECT_FALSE(stretches_of(run_of({100, 102, 99, 101, 103, 98, 100, 102})));
}

TEST(Stretches, ALittleSlowerIsSeenWhereTheRestIsQuiet) {
  const auto stretches = stretches_of(run_of({100, 101, 100, 108, 107, 100, 101, 100}));
  ASSERT_TRUE(stretches);
  EXPECT_THAT(stretches->slow, ElementsAre(3, 4));
  EXPECT_THAT(stretches->normal, SizeIs(6));
  EXPECT_FALSE(stretches->much);
}

TEST(Stretches, WhatIsBetweenNormalAndMuchSlowerIsNeither) {
  const auto stretches = stretches_of(run_of({100, 101, 100, 115, 200, 210, 101, 100, 101, 100}));
  ASSERT_TRUE(stretches);
  EXPECT_TRUE(stretches->much);
  EXPECT_THAT(stretches->slow, ElementsAre(4, 5));
}

TEST(Stretches, OneShortWindowIsAnAccident) {
  EXPECT_FALSE(stretches_of(run_of({100, 100, 300, 100, 100}, 1)));
  EXPECT_TRUE(stretches_of(run_of({100, 100, 300, 100, 100}, 3)));
}

TEST(Stretches, WindowsOfWhichNothingIsKnownAreInNeither) {
  Observations observations = run_of({100, 100, 100, 0, 200, 200});
  observations.windows[0].iterations = 0;
  const auto stretches = stretches_of(observations);
  ASSERT_TRUE(stretches);
  EXPECT_THAT(stretches->normal, ElementsAre(1, 2));
  EXPECT_THAT(stretches->slow, ElementsAre(4, 5));
}

TEST(Stretches, NoiseIsCutInTwoInAtMostThreeOfTwentyRuns) {
  Random random(7);
  int parted = 0;
  for (int run = 0; run < 1000; ++run) {
    std::vector<double> times;
    for (int i = 0; i < 16; ++i) {
      double noise = 0;  // about normal, 4 %
      for (int j = 0; j < 12; ++j) noise += random.fraction() - 0.5;
      times.push_back(100 + 4 * noise);
    }
    parted += stretches_of(run_of(times)) ? 1 : 0;
  }
  EXPECT_LE(parted, 150);  // who is then to blame must stand out too
}

}  // namespace
}  // namespace rehearsal::diagnosis

#include "core/coordination/phase_barrier.hpp"

#include <gmock/gmock.h>

namespace rehearsal::coordination {
namespace {

using plan::SyncMode;
using testing::ElementsAre;

constexpr HostIndex kHost0{0};
constexpr HostIndex kHost1{1};

TEST(PhaseBarrier, AnIterationEndsWhenTheLastHostArrives) {
  PhaseBarrier barrier({.mode = SyncMode::iteration, .iterations = 2, .hosts = 2});
  EXPECT_FALSE(barrier.arrive(kHost1, {0, 0}));
  EXPECT_THAT(barrier.missing(), ElementsAre(kHost0));
  EXPECT_TRUE(barrier.arrive(kHost0, {0, 0}));
  EXPECT_EQ(barrier.advance(), (Step{1, 0}));
  EXPECT_EQ(barrier.iterations_done(), 1u);
  EXPECT_THAT(barrier.missing(), ElementsAre(kHost0, kHost1));
  barrier.arrive(kHost0, {1, 0});
  barrier.arrive(kHost1, {1, 0});
  EXPECT_EQ(barrier.advance(), std::nullopt);
  EXPECT_EQ(barrier.iterations_done(), 2u);
}

TEST(PhaseBarrier, PhasesFollowOneAnotherWithinEachIteration) {
  PhaseBarrier barrier({.mode = SyncMode::phase, .iterations = 2, .phases = 3, .hosts = 1});
  std::vector<Step> steps = {barrier.step()};
  while (barrier.arrive(kHost0, barrier.step())) {
    const std::optional<Step> next = barrier.advance();
    if (!next) break;
    steps.push_back(*next);
  }
  EXPECT_THAT(steps,
              ElementsAre(Step{0, 0}, Step{0, 1}, Step{0, 2}, Step{1, 0}, Step{1, 1}, Step{1, 2}));
}

TEST(PhaseBarrier, FreeRunsAreOneStepThatEndsWithTheLastIteration) {
  PhaseBarrier barrier({.mode = SyncMode::free, .iterations = 5, .phases = 3, .hosts = 1});
  EXPECT_EQ(barrier.step(), (Step{0, 0}));
  EXPECT_FALSE(barrier.arrive(kHost0, {3, 0}));
  EXPECT_TRUE(barrier.arrive(kHost0, {4, 0}));
  EXPECT_EQ(barrier.advance(), std::nullopt);
  EXPECT_EQ(barrier.iterations_done(), 5u);
}

TEST(PhaseBarrier, RepeatsAndStepsThatAreOverOrToComeChangeNothing) {
  PhaseBarrier barrier({.mode = SyncMode::iteration, .iterations = 3, .hosts = 2});
  barrier.arrive(kHost0, {0, 0});
  EXPECT_FALSE(barrier.arrive(kHost0, {0, 0}));
  EXPECT_TRUE(barrier.arrive(kHost1, {0, 0}));
  barrier.advance();
  EXPECT_FALSE(barrier.arrive(kHost0, {0, 0})) << "late";
  EXPECT_FALSE(barrier.arrive(kHost0, {2, 0})) << "early";
  EXPECT_THAT(barrier.missing(), ElementsAre(kHost0, kHost1));
}

}  // namespace
}  // namespace rehearsal::coordination

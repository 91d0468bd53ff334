#include "core/plan/stages.hpp"

#include <gmock/gmock.h>

#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

fault::PlannedFault by_iteration(std::uint32_t iteration, std::uint32_t iterations) {
  return {.name = "cut",
          .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
          .when = {.iteration = iteration, .length = 1min, .iterations = iterations}};
}
fault::PlannedFault by_time() {
  return {.name = "late",
          .what = {.kind = fault::Kind::delay, .levels = {{.delay = 1ms}}},
          .when = {.after = 1s, .length = 1min}};
}

Plan with(std::vector<fault::PlannedFault> faults) {
  Plan plan = test::sample_plan(4, 2);
  plan.iterations = 60;
  plan.faults = std::move(faults);
  return plan;
}

TEST(FaultRange, OfAFaultByIteration) {
  EXPECT_EQ(planned_range(by_iteration(20, 20), 60), (FaultRange{20, 40}));
  EXPECT_EQ(planned_range(by_iteration(50, 20), 60), (FaultRange{50, 60}));
  EXPECT_EQ(planned_range(by_iteration(20, 0), 60), (FaultRange{20, 60})) << "it ends by time";
  EXPECT_FALSE(planned_range(by_time(), 60)) << "it begins by time";
}

TEST(FaultRange, ACrashGoesOnToTheEnd) {
  fault::PlannedFault crash = by_iteration(20, 5);
  crash.what.kind = fault::Kind::crash;
  EXPECT_EQ(planned_range(crash, 60), (FaultRange{20, 60}));
}

TEST(StageEdges, AreTheFirstBeginAndTheLastEnd) {
  EXPECT_THAT(stage_edges(with({by_iteration(20, 20)})), ElementsAre(20U, 40U));
  EXPECT_THAT(stage_edges(with({by_iteration(30, 10), by_iteration(10, 5)})),
              ElementsAre(10U, 40U));
  EXPECT_THAT(stage_edges(with({by_iteration(20, 0)})), ElementsAre(20U));
  EXPECT_THAT(stage_edges(with({by_iteration(0, 40)})), ElementsAre(40U));
}

TEST(StageEdges, AreNotKnownOfFaultsByTime) {
  EXPECT_THAT(stage_edges(with({by_time()})), IsEmpty());
  EXPECT_THAT(stage_edges(with({})), IsEmpty());
  EXPECT_THAT(stage_edges(with({by_time(), by_iteration(20, 20)})), ElementsAre(20U, 40U));
}

}  // namespace
}  // namespace rehearsal::plan

#include "core/replay/compute_faults.hpp"

#include <gmock/gmock.h>

#include "tests/support/cluster/cluster.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::replay {
namespace {

using namespace std::chrono_literals;
using fault::Kind;
using profile::OpKind;
using test::Cluster;
using test::compute_of;
using test::op_of;
using test::plan_of;
using test::profile_of;
using testing::IsEmpty;

/// 10 ms of compute, then an all_reduce, on one rank a host.
plan::Plan train(std::uint32_t hosts, std::uint32_t iterations, plan::SyncMode mode) {
  plan::Plan plan =
      plan_of(profile_of(hosts, {compute_of(10ms), op_of(OpKind::all_reduce, 1 << 20)}), 1);
  plan.iterations = iterations;
  plan.synchronisation = mode;
  return plan;
}

fault::PlannedFault on_rank(Kind kind, std::uint32_t rank, fault::When when,
                            std::uint32_t percent = 100) {
  return {.name = "fault",
          .what = {.kind = kind, .levels = {{.compute = {percent * 10'000}}}},
          .when = std::move(when),
          .places = {{.host = HostIndex{rank}, .job = JobIndex{0}, .rank = Rank{rank}}}};
}

/// Time of each iteration: of the slowest rank.
std::vector<Duration> iterations_of(const plan::Plan& plan) {
  test::VirtualClock clock;
  MemoryFabric fabric({.latency = 0ns, .rate = BitRate{10'000'000'000}});
  Cluster cluster(plan, clock,
                  [&](HostIndex) { return std::make_unique<MemoryTransport>(fabric); });
  EXPECT_THAT(cluster.connect(), IsEmpty());
  EXPECT_THAT(cluster.run(), IsEmpty());
  std::vector<Instant> done(plan.iterations, Instant::min());
  Instant start = kNever;
  for (const auto& record : cluster.iterations()) {
    done[record.iteration] = std::max(done[record.iteration], record.done);
    start = std::min(start, record.start);
  }
  std::vector<Duration> times;
  for (const Instant end : done) times.push_back(end - std::exchange(start, end));
  return times;
}

class ComputeFaultsTest : public testing::TestWithParam<plan::SyncMode> {};

TEST_P(ComputeFaultsTest, AStragglerOnTheCriticalPathAddsWhatItIsSlowerToEachIteration) {
  plan::Plan plan = train(4, 6, GetParam());
  const auto healthy = iterations_of(plan);
  plan.faults = {on_rank(Kind::straggler, 2, {.iteration = 2, .length = 1h, .iterations = 3}, 150)};
  const auto slow = iterations_of(plan);
  for (std::size_t i = 0; i < slow.size(); ++i)
    EXPECT_EQ(slow[i], healthy[i] + (i >= 2 && i < 5 ? 5ms : 0ms)) << "iteration " << i;
}

TEST_P(ComputeFaultsTest, StragglersByStepsAddMoreAndMore) {
  plan::Plan plan = train(2, 5, GetParam());
  const auto healthy = iterations_of(plan);
  auto slower = on_rank(Kind::straggler, 0, {.iteration = 1, .length = 1h, .iterations = 4}, 110);
  slower.what.levels.push_back({.compute = {2'000'000}});
  plan.faults = {slower};
  const auto slow = iterations_of(plan);
  for (std::size_t i = 0; i < slow.size(); ++i)
    EXPECT_EQ(slow[i], healthy[i] + (i == 0 ? 0ms : i <= 2 ? 1ms : 10ms)) << "iteration " << i;
}

TEST_P(ComputeFaultsTest, APauseAddsItsLength) {
  plan::Plan plan = train(3, 4, GetParam());
  const auto healthy = iterations_of(plan);
  // In the middle of the second iteration's compute.
  const Duration after = healthy[0] + 4ms;
  plan.faults = {on_rank(Kind::pause, 1, {.after = after, .length = 250ms})};
  const auto paused = iterations_of(plan);
  for (std::size_t i = 0; i < paused.size(); ++i)
    EXPECT_EQ(paused[i], healthy[i] + (i == 1 ? 250ms : 0ms)) << "iteration " << i;
}

TEST_P(ComputeFaultsTest, APauseAtAnIterationAddsItsLengthToo) {
  plan::Plan plan = train(3, 4, GetParam());
  const auto healthy = iterations_of(plan);
  plan.faults = {on_rank(Kind::pause, 1, {.iteration = 2, .length = 250ms})};
  const auto paused = iterations_of(plan);
  for (std::size_t i = 0; i < paused.size(); ++i)
    EXPECT_EQ(paused[i], healthy[i] + (i == 2 ? 250ms : 0ms)) << "iteration " << i;
}

INSTANTIATE_TEST_SUITE_P(Modes, ComputeFaultsTest,
                         testing::Values(plan::SyncMode::free, plan::SyncMode::iteration,
                                         plan::SyncMode::phase),
                         [](const auto& mode) { return std::string(to_string(mode.param)); });

TEST(ComputeFaults, OnlyTheRankThatIsMeantHasThem) {
  plan::Plan plan = train(3, 1, plan::SyncMode::free);
  plan.faults = {on_rank(Kind::straggler, 1, {.after = 0s, .length = 1h}, 200)};
  EXPECT_NE(ComputeFaults::of(plan, JobIndex{0}, Rank{1}), nullptr);
  EXPECT_EQ(ComputeFaults::of(plan, JobIndex{0}, Rank{0}), nullptr);
  plan.faults[0].what.kind = Kind::delay;
  EXPECT_EQ(ComputeFaults::of(plan, JobIndex{0}, Rank{1}), nullptr);
}

TEST(ComputeFaults, RecordWhenTheyWereOn) {
  plan::Plan plan = train(1, 1, plan::SyncMode::free);
  plan.faults = {on_rank(Kind::straggler, 0, {.iteration = 1, .length = 1h}, 200)};
  const auto faults = ComputeFaults::of(plan, JobIndex{0}, Rank{0});
  const Instant start{100s};
  faults->edge(0, 0, start);
  faults->at(start);
  EXPECT_EQ(faults->slowed(10ms), 10ms);
  faults->edge(1, 0, start);
  faults->at(start + 5s);
  EXPECT_EQ(faults->slowed(10ms), 20ms);
  faults->close(start + 9s);
  ASSERT_EQ(faults->spells().size(), 1U);
  EXPECT_EQ(faults->spells()[0].began, start + 5s);
  EXPECT_EQ(faults->spells()[0].ended, start + 9s);
}

}  // namespace
}  // namespace rehearsal::replay

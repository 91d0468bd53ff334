// What only a world whose true time is known can tell: whether reports are right about time.
#include <gmock/gmock.h>

#include "core/report/summary.hpp"
#include "tests/simulation/cluster.hpp"

namespace rehearsal::simulation {
namespace {

report::Summary run_to_summary(World& world, const DrillOptions& drill) {
  EXPECT_TRUE(world.run_until([&] { return all_joined(world); }, 10s));
  const std::size_t person = request_run(world, drill);
  EXPECT_TRUE(world.run_until([&] { return finished(world, person) != nullptr; }, 60s))
      << log_tail(world);
  const auto summary = report::read_summary(stored_file(world, "summary.json"));
  EXPECT_TRUE(summary.has_value());
  return summary.value_or(report::Summary{});
}

TEST(Timing, TheClockOffsetIsFoundWithinItsBound) {
  WorldOptions options = cluster(2, 11);
  options.clock_offsets = {3s, -7s};
  options.control = {.delay_min = 20us, .delay_max = 2ms};
  World world(options);
  world.run_for(2s);
  for (std::size_t i = 0; i < 2; ++i) {
    const coordination::AgentView view = world.agent(i);
    ASSERT_TRUE(view.clock_known);
    const Duration off = view.clock_offset - options.clock_offsets[i];
    EXPECT_LE(off < Duration::zero() ? -off : off, view.clock_error_bound);
    EXPECT_LT(view.clock_error_bound, 500us);
  }
}

TEST(Timing, StartSkewOfAgentsSecondsApartIsReportedWithinItsBound) {
  WorldOptions options = cluster(2, 12);
  options.clock_offsets = {3s, -7s};
  World world(options);
  const report::Summary summary = run_to_summary(world, {.agents = 2, .iterations = 20});
  EXPECT_EQ(summary.verdict, report::Verdict::pass);
  ASSERT_TRUE(summary.sync.start_skew.max.has_value());
  ASSERT_TRUE(summary.sync.clock_error_bound.has_value());
  EXPECT_LT(*summary.sync.clock_error_bound, 1ms);
  // The true skew is what the two clocks' estimates were off, which their bounds cover twice over:
  // once in keeping the appointment, once in measuring it.
  EXPECT_LE(*summary.sync.start_skew.max, 2 * *summary.sync.clock_error_bound);
}

TEST(Timing, AnIterationTakesWhatItsComputeAndItsBytesTake) {
  World world(cluster(2, 13));
  const report::Summary summary = run_to_summary(world, {.agents = 2, .iterations = 5});
  ASSERT_EQ(summary.jobs.size(), 1u);
  ASSERT_TRUE(summary.jobs[0].iteration_time.mean.has_value());
  // 1 ms of compute, then an all_reduce of 1 MiB on 4 ranks over 10 Gbit/s: at least 1.5 MiB
  // through each pair of NICs.
  EXPECT_GT(*summary.jobs[0].iteration_time.mean, 1ms);
  EXPECT_LT(*summary.jobs[0].iteration_time.mean, 20ms);
}

TEST(Timing, TheSameSeedGivesTheSameHistory) {
  const auto history = [] {
    World world(cluster(3, 14));
    run_to_summary(world, {.agents = 3});
    return std::pair{stored_file(world, "summary.json"), world.log()};
  };
  EXPECT_EQ(history(), history());
}

}  // namespace
}  // namespace rehearsal::simulation

#include "core/replay/kernel_schedule.hpp"

#include <gtest/gtest.h>

#include "tests/support/sample_plan.hpp"

namespace rehearsal::replay {
namespace {

using namespace std::chrono_literals;

plan::Plan with_faults() {
  plan::Plan plan = test::sample_plan(4, 2);
  fault::PlannedFault cut{
      .name = "cut",
      .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}, {.rate = {250'000}}}},
      .when = {.iteration = 2, .length = 60s, .iterations = 4},
      .places = {{.host = HostIndex{1}, .side = fault::Side::sent, .nic = NicIndex{0}}},
      .mechanism = fault::Mechanism::kernel};
  fault::PlannedFault inside = cut;
  inside.name = "inside";
  inside.mechanism = fault::Mechanism::sender;
  plan.faults = {inside, cut};
  return plan;
}

TEST(KernelSchedule, IsOfTheFaultsThatTheHostsKernelDoes) {
  const plan::Plan plan = with_faults();
  EXPECT_TRUE(KernelSchedule(plan, HostIndex{0}).empty());
  EXPECT_FALSE(KernelSchedule(plan, HostIndex{1}).empty());
}

TEST(KernelSchedule, SaysEachChangeOnce) {
  const plan::Plan plan = with_faults();
  KernelSchedule schedule(plan, HostIndex{1});
  Instant now{100s};
  schedule.start(now);
  const auto reach = [&](std::uint32_t iteration) {
    schedule.edge(JobIndex{0}, iteration, 0);
    schedule.at(now);
  };
  reach(1);
  EXPECT_FALSE(schedule.take_change());
  reach(2);
  const auto begins = schedule.take_change();
  ASSERT_TRUE(begins);
  EXPECT_EQ(begins->fault, 1U);
  EXPECT_EQ(begins->level, 0U);
  EXPECT_EQ(begins->until, now + 60s);
  EXPECT_FALSE(schedule.take_change());
  reach(4);
  EXPECT_EQ(schedule.take_change()->level, 1U);
  reach(6);
  EXPECT_EQ(schedule.take_change()->level, fault::Schedule::kOff);
}

TEST(KernelSchedule, WhatChangedTwiceMeanwhileIsOneChangeOrNone) {
  const plan::Plan plan = with_faults();
  KernelSchedule schedule(plan, HostIndex{1});
  Instant now{100s};
  schedule.start(now);
  schedule.edge(JobIndex{0}, 2, 0);
  schedule.at(now);
  schedule.edge(JobIndex{0}, 6, 0);
  schedule.at(now);
  EXPECT_FALSE(schedule.take_change());
}

}  // namespace
}  // namespace rehearsal::replay

#include "core/plan/plan_faults.hpp"

#include <gmock/gmock.h>

#include <set>

#include "core/plan/plan_codec.hpp"
#include "core/plan/plan_json.hpp"
#include "core/plan/plan_table.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using namespace std::chrono_literals;
using fault::Fault;
using fault::Kind;
using fault::Mechanism;
using testing::AllOf;
using testing::HasSubstr;

/// Eight ranks, two a host, with two NICs each.
struct Planned {
  Drill drill = test::sample_drill(4);
  std::vector<Inventory> inventories = test::sample_inventories(4);
  test::Profiles profiles = {
      {"sample", std::make_shared<const profile::Profile>(test::sample_profile(8))}};

  Result<Plan> make() const { return make_plan(drill, inventories, profiles); }
  std::string error() const {
    const auto plan = make();
    return plan ? "" : plan.error().text();
  }
  fault::PlannedFault first() const {
    const auto plan = make();
    EXPECT_TRUE(plan) << plan.error().text();
    return plan ? plan->faults.at(0) : fault::PlannedFault{};
  }
};

/// A helper that allows these on the sample's NICs.
fault::KernelOffer offer(std::vector<fault::FaultKind> kinds) {
  return {.helper = true,
          .faults = std::move(kinds),
          .interfaces = {"data0", "data1"},
          .duration_max = 1min};
}

Fault delay_at(std::vector<std::string> hosts) {
  return {.name = "late",
          .what = {.kind = Kind::delay, .levels = {{.delay = 5ms}}},
          .where = {.hosts = std::move(hosts)},
          .when = {.iteration = 2, .length = 10s, .iterations = 3}};
}

Planned with(Fault fault) {
  Planned planned;
  planned.drill.faults = {std::move(fault)};
  return planned;
}

TEST(PlanFaults, NamesBecomePlaces) {
  Fault fault = delay_at({"host2"});
  fault.where.nics = {"data1"};
  fault.where.peers = {"host1", "host3"};
  fault.where.side = fault::Side::sent;
  const auto planned = with(fault).first();
  ASSERT_EQ(planned.places.size(), 2U);
  EXPECT_EQ(planned.places[0], (fault::Place{.host = HostIndex{2},
                                             .side = fault::Side::sent,
                                             .nic = NicIndex{1},
                                             .peer = HostIndex{1}}));
  EXPECT_EQ(planned.places[1].peer, HostIndex{3});
  EXPECT_EQ(planned.mechanism, Mechanism::sender);
}

TEST(PlanFaults, RanksAndCommunicatorsPickTheirHosts) {
  Fault fault = delay_at({});
  fault.where.ranks = {5};
  EXPECT_EQ(with(fault).first().places.at(0),
            (fault::Place{.host = HostIndex{2}, .job = JobIndex{0}, .rank = Rank{5}}));
  fault = delay_at({});
  fault.where.communicator = "world";
  EXPECT_EQ(with(fault).first().places.size(), 4U);
  fault = delay_at({});
  fault.where.job = "sample";
  EXPECT_EQ(with(fault).first().places.size(), 4U);
}

TEST(PlanFaults, AShareOfHostsIsDrawnByTheSeed) {
  Fault fault = delay_at({});
  fault.where.share = {500'000};
  Planned planned = with(fault);
  const auto places = planned.first().places;
  EXPECT_EQ(places.size(), 2U);
  EXPECT_EQ(planned.first().places, places);
  std::set<std::uint32_t> drawn;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    planned.drill.seed = seed;
    for (const auto& place : planned.first().places) drawn.insert(place.host.value);
  }
  EXPECT_EQ(drawn.size(), 4U);
  fault.where.share = {1};
  EXPECT_EQ(with(fault).first().places.size(), 1U);
}

TEST(PlanFaults, WhatIsNotThereIsRefused) {
  EXPECT_THAT(with(delay_at({"host9"})).error(),
              AllOf(HasSubstr("faults[0].where.hosts"), HasSubstr("'host9'"),
                    HasSubstr("known are host0, host1")));
  Fault fault = delay_at({"host1"});
  fault.where.nics = {"data7"};
  EXPECT_THAT(with(fault).error(), AllOf(HasSubstr("no data NIC 'data7'"), HasSubstr("data0")));
  fault = delay_at({"host1"});
  fault.where.rail = 5;
  EXPECT_THAT(with(fault).error(), HasSubstr("no rail 5"));
  fault = delay_at({});
  fault.where.ranks = {8};
  EXPECT_THAT(with(fault).error(), HasSubstr("ranks are 0 to 7"));
  fault = delay_at({});
  fault.where.communicator = "wrold";
  EXPECT_THAT(with(fault).error(), HasSubstr("did you mean 'world'?"));
  fault = delay_at({"host1"});
  fault.when.phase = "sideways";
  EXPECT_THAT(with(fault).error(), HasSubstr("known are forward, backward"));
  fault = delay_at({"host1"});
  fault.when.iteration = 20;
  EXPECT_THAT(with(fault).error(), HasSubstr("0 to 19"));
}

TEST(PlanFaults, ThePhaseOfAnIterationIsFound) {
  Fault fault = delay_at({"host1"});
  fault.when.phase = "backward";
  EXPECT_EQ(with(fault).first().phase, 1U);
}

TEST(PlanFaults, AControlInterfaceIsRefused) {
  Fault fault = delay_at({"host1"});
  fault.where.nics = {"eth0"};
  Planned planned = with(fault);
  planned.inventories[1].control_interfaces = {"eth0"};
  EXPECT_THAT(planned.error(), HasSubstr("carries its control connection"));
  planned.drill.faults[0].where.nics = {"data0"};
  planned.drill.faults[0].mechanism = Mechanism::kernel;
  planned.drill.faults[0].where.side = fault::Side::sent;
  planned.inventories[1].control_interfaces = {"data0"};
  planned.inventories[1].kernel = offer({fault::FaultKind::delay});
  EXPECT_THAT(planned.error(), HasSubstr("carries its control connection"));
}

TEST(PlanFaults, WhatOnlyTheKernelCanDoNeedsAHelperThatMay) {
  Fault fault = delay_at({"host1"});
  fault.what = {.kind = Kind::link_down, .levels = {{}}};
  Planned planned = with(fault);
  EXPECT_THAT(planned.error(),
              AllOf(HasSubstr("has no rehearsal-helper"), HasSubstr("a blackhole of a NIC")));
  planned.inventories[1].kernel = offer({fault::FaultKind::rate});
  EXPECT_THAT(planned.error(), HasSubstr("does not allow link_down"));
  planned.inventories[1].kernel = offer({fault::FaultKind::rate, fault::FaultKind::link_down});
  EXPECT_EQ(planned.first().mechanism, Mechanism::kernel);
  planned.drill.faults = {delay_at({"host0"})};
  planned.drill.faults[0].mechanism = Mechanism::kernel;
  planned.drill.faults[0].where.side = fault::Side::sent;
  EXPECT_THAT(planned.error(), HasSubstr("the agent itself can do delay (mechanism: sender)"));
}

TEST(PlanFaults, ARateNeedsAWhole) {
  Fault fault = delay_at({"host1"});
  fault.what = {.kind = Kind::rate, .levels = {{.rate = {500'000}}}};
  Planned planned = with(fault);
  EXPECT_EQ(planned.error(), "");
  planned.inventories[1].nics[1].line_rate = BitRate{};
  EXPECT_THAT(planned.error(), AllOf(HasSubstr("what.of"), HasSubstr("data1 on host 'host1'")));
  planned.drill.faults[0].what.of = BitRate{1'000'000'000};
  EXPECT_EQ(planned.error(), "");
}

TEST(PlanFaults, WhatWouldTimeTheRunOutIsRefused) {
  Fault fault = delay_at({"host1"});
  fault.what = {.kind = Kind::blackhole, .levels = {{}}};
  fault.when = {.after = 1s, .length = 40s};
  Planned planned = with(fault);
  EXPECT_THAT(planned.error(), HasSubstr("less than limits.progress, 30s"));
  planned.drill.faults[0].when.on = 1s;
  planned.drill.faults[0].when.off = 1s;
  EXPECT_EQ(planned.error(), "");
  planned.drill.faults[0].when.after = 11min;
  EXPECT_THAT(planned.error(), HasSubstr("less than limits.duration"));
}

TEST(PlanFaults, TwoOnOneTargetAtOnceAreRefused) {
  Planned planned = with(delay_at({"host1"}));
  planned.drill.faults.push_back(delay_at({"host1", "host2"}));
  planned.drill.faults[1].name = "later";
  EXPECT_THAT(planned.error(), AllOf(HasSubstr("'later' and 'late'"), HasSubstr("host1")));
  planned.drill.faults[1].when.iteration = 5;  // the first is over by then
  EXPECT_EQ(planned.error(), "");
  planned.drill.faults[1].when.iteration = 4;
  EXPECT_NE(planned.error(), "");
  planned.drill.faults[1].where.nics = {"data0"};
  planned.drill.faults[0].where.nics = {"data1"};
  EXPECT_EQ(planned.error(), "");
  planned.drill.faults[0].where.nics = {};
  planned.drill.faults[0].where.side = fault::Side::sent;
  planned.drill.faults[1].where.side = fault::Side::received;
  EXPECT_EQ(planned.error(), "");
}

TEST(PlanFaults, TimesAndIterationsCannotBeComparedAndAreRefused) {
  Planned planned = with(delay_at({"host1"}));
  planned.drill.faults.push_back(delay_at({"host1"}));
  planned.drill.faults[1].name = "later";
  planned.drill.faults[1].when = {.after = 100s, .length = 5s};
  EXPECT_THAT(planned.error(), HasSubstr("could both be on"));
}

TEST(PlanFaults, SlowComputeAndSlowMessagesAreDifferentTargets) {
  Planned planned = with(delay_at({"host1"}));
  Fault slow = delay_at({"host1"});
  slow.name = "slow";
  slow.what = {.kind = Kind::straggler, .levels = {{.compute = {1'500'000}}}};
  planned.drill.faults.push_back(slow);
  EXPECT_EQ(planned.error(), "");
}

TEST(PlanFaults, StandInThePlanItsHashAndItsOutputs) {
  Fault fault = delay_at({});
  fault.where.ranks = {5};
  fault.when.repeats();
  Planned planned = with(fault);
  const auto plan = planned.make();
  ASSERT_TRUE(plan);
  const auto read = decode(encode(*plan));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->faults, plan->faults);
  EXPECT_EQ(plan_hash(*read), plan_hash(*plan));

  Plan healthy = *plan;
  healthy.faults.clear();
  EXPECT_NE(plan_hash(healthy), plan_hash(*plan));
  EXPECT_EQ(plan_hash(healthy), plan_hash(*Planned{}.make()));

  const Load load = expand_load(*plan);
  EXPECT_THAT(plan_table(*plan, load),
              AllOf(HasSubstr("delay 5ms"), HasSubstr("host2, rank 5 of job sample"),
                    HasSubstr("from iteration 2, 3 iterations, at most 10s"),
                    HasSubstr("gone with the agent")));
  EXPECT_THAT(plan_json(*plan, load),
              AllOf(HasSubstr(R"("mechanism":"sender")"), HasSubstr(R"("delay_seconds":0.005)")));
}

TEST(PlanFaults, ADamagedOneIsNotRead) {
  Planned planned = with(delay_at({"host1"}));
  auto plan = planned.make();
  ASSERT_TRUE(plan);
  plan->faults[0].places[0].host = HostIndex{9};
  EXPECT_FALSE(decode(encode(*plan)));
  plan->faults[0].places[0].host = HostIndex{1};
  plan->faults[0].what.levels.clear();
  EXPECT_FALSE(decode(encode(*plan)));
  plan->faults[0].what.levels = {{.delay = 5ms}};
  plan->faults[0].when.length = Duration::zero();
  EXPECT_FALSE(decode(encode(*plan)));
}

}  // namespace
}  // namespace rehearsal::plan

#include <gmock/gmock.h>

#include "core/plan/checks.hpp"
#include "core/plan/connection_estimate.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/plan_warnings.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using test::sample_drill;
using test::sample_inventories;
using test::sample_profile;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Case {
  Drill drill = sample_drill(2);
  std::vector<Inventory> inventories = sample_inventories(4);
  profile::Profile profile = sample_profile(4);

  Result<Plan> plan() const {
    return make_plan(drill, inventories,
                     {{"sample", std::make_shared<const profile::Profile>(profile)}});
  }
  std::string failure() const {
    const auto result = plan();
    return result ? "" : result.error().message;
  }
};

Expectation expect(std::string metric, Duration at_most, BitRate at_least) {
  return {std::move(metric), at_most, at_least};
}

std::vector<std::string> bindings_of(const Plan& plan) {
  std::vector<std::string> result;
  for (const Binding& binding : plan.jobs.front().bindings) {
    const Inventory& host = plan.hosts[binding.host.value];
    result.push_back(host.host + "/" + host.nics[binding.nic.value].name);
  }
  return result;
}

TEST(MakePlan, DealsRanksInBlocksAndNicsByRail) {
  Case c;
  EXPECT_THAT(bindings_of(*c.plan()),
              ElementsAre("host0/data0", "host0/data1", "host1/data0", "host1/data1"));
  c.drill.jobs[0].hosts = {"host3", "host1", "host0"};
  EXPECT_THAT(bindings_of(*c.plan()),
              ElementsAre("host3/data0", "host3/data1", "host1/data0", "host0/data0"));
  c.drill.jobs[0].nics = {"data1"};
  c.drill.jobs[0].hosts = {"host0", "host1"};
  c.drill.jobs[0].ranks_per_host = 2;
  EXPECT_THAT(bindings_of(*c.plan()),
              ElementsAre("host0/data1", "host0/data1", "host1/data1", "host1/data1"));
  c.drill.jobs[0].nics = {"data1", "data0"};
  EXPECT_THAT(bindings_of(*c.plan()),
              ElementsAre("host0/data1", "host0/data0", "host1/data1", "host1/data0"));
}

TEST(MakePlan, KeepsTheHostsOfTheDrillInItsOrder) {
  Case c;
  c.drill.jobs[0].hosts = {"host2", "host1"};
  c.drill.jobs.push_back(c.drill.jobs[0]);
  c.drill.jobs[1].name = "other";
  c.drill.jobs[1].hosts = {"host1", "host3"};
  const auto plan = c.plan();
  ASSERT_TRUE(plan) << plan.error().text();
  std::vector<std::string> hosts;
  for (const Inventory& host : plan->hosts) hosts.push_back(host.host);
  EXPECT_THAT(hosts, ElementsAre("host2", "host1", "host3"));
  EXPECT_EQ(plan->jobs[1].bindings[0].host, HostIndex{1});
  EXPECT_EQ(plan->jobs[0].profile_identity, profile::identity(c.profile));
}

TEST(MakePlan, NamesUnknownHostsAndTheKnownOnes) {
  Case c;
  c.drill.jobs[0].hosts[1] = "hots1";
  EXPECT_EQ(c.failure(),
            "jobs[0].hosts[1]: host 'hots1' is not known; did you mean 'host1'? known are host0, "
            "host1, host2, host3");
  EXPECT_EQ(c.plan().error().code, ErrorCode::not_found);
  c.inventories.clear();
  EXPECT_THAT(c.failure(), HasSubstr("no agent is connected"));
}

TEST(MakePlan, RefusesHostsThatCannotCarryTheRanks) {
  Case c;
  c.drill.jobs[0].hosts = {"host0", "host0"};
  EXPECT_EQ(c.failure(), "jobs[0].hosts: host 'host0' is listed twice; every host once");
  c.drill.jobs[0].hosts = {"host0", "host1", "host2", "host3"};
  c.profile = sample_profile(3);
  EXPECT_EQ(
      c.failure(),
      "jobs[0].hosts: 4 hosts for the 3 ranks of 'sample'; at most one host a rank: list 3 or "
      "fewer");
  c.profile = sample_profile(8);
  c.drill.jobs[0].ranks_per_host = 4;
  EXPECT_EQ(
      c.failure(),
      "jobs[0].ranks_per_host: 4 on each of 4 hosts makes 16 ranks, but 'sample' has 8; list 2 "
      "hosts, or leave it out");
  c.drill.jobs[0].ranks_per_host = 3;
  EXPECT_THAT(c.failure(), HasSubstr("leave it out to deal them as evenly as they go"));
}

TEST(MakePlan, RefusesNicsThatAreNotThere) {
  Case c;
  c.drill.jobs[0].nics = {"dat1"};
  EXPECT_EQ(c.failure(),
            "jobs[0].nics: host 'host0' has no data NIC 'dat1'; did you mean 'data1'? known are "
            "data0, data1");
  c.drill.jobs[0].nics.clear();
  c.inventories[1].nics.clear();
  EXPECT_THAT(c.failure(), StartsWith("jobs[0].hosts: host 'host1' has no data NIC; "));
}

TEST(MakePlan, RefusesCreditsThatCouldDeadlock) {
  Case c;
  c.drill.collectives.credits = 2;
  EXPECT_EQ(c.failure(),
            "collectives.credits: is 2 with 2 slices per chunk: a ring's receive-reduce-send can "
            "then wait for itself; expected at least slices_per_chunk + 1 = 3");
  c.drill.collectives.credits = 3;
  EXPECT_EQ(c.failure(), "");
}

TEST(MakePlan, RefusesSizesThatDoNotDivide) {
  Case c;
  c.drill.collectives.chunk = Bytes{16};
  EXPECT_EQ(c.failure(),
            "collectives.chunk: is 16B; expected a multiple of 32B (2 slices of whole 16 B) up to "
            "64MiB");
  c.drill.collectives.chunk = Bytes{32};
  EXPECT_EQ(c.failure(), "");
  c.drill.collectives.point_to_point_chunk = Bytes{100};
  EXPECT_THAT(c.failure(), StartsWith("collectives.point_to_point_chunk: is 100B; expected"));
}

TEST(MakePlan, RefusesTransportsThatAHostDoesNotOffer) {
  Case c;
  c.inventories[1].transports = {TransportKind::tcp};
  EXPECT_EQ(c.failure(), "");
  c.drill.transport.kind = TransportKind::loopback;
  EXPECT_EQ(c.failure(), "transport.kind: host 'host1' does not offer loopback; it offers tcp");
  EXPECT_EQ(c.plan().error().code, ErrorCode::unsupported);
  c.drill.transport.receive = ReceiveMode::discard;
  EXPECT_THAT(c.failure(), StartsWith("transport.receive: discard is a setting of tcp"));
}

TEST(MakePlan, RefusesProfilesThatAreMissingOrWrong) {
  Case c;
  c.profile.classes[0].ranks.pop_back();
  EXPECT_THAT(c.failure(), StartsWith("jobs[0].profile: profile 'sample' is not valid: "));
  c.drill.jobs[0].profile = "sampel";
  EXPECT_EQ(
      c.failure(),
      "jobs[0].profile: profile 'sampel' is not here; did you mean 'sample'? known are sample");
}

TEST(MakePlan, RefusesLimitsAndCountsOutOfRange) {
  Case c;
  c.drill.iterations = 0;
  EXPECT_EQ(c.failure(), "iterations: is 0; expected 1 to 1000000");
  c.drill.iterations = 1;
  c.drill.limits.progress = Duration::zero();
  EXPECT_EQ(c.failure(), "limits.progress: is 0ns; expected 100ms to 1h");
  c.drill.limits = {};
  c.drill.local.rate = BitRate{0};
  EXPECT_THAT(c.failure(), StartsWith("local.rate: is 0bit/s"));
  c.drill.local = {};
  c.drill.jobs.push_back(c.drill.jobs[0]);
  EXPECT_EQ(c.failure(), "jobs: two jobs are named 'sample'; every job a name of its own");
}

TEST(MakePlan, RefusesExpectationsThatCanNotBeMet) {
  Case c;
  c.drill.expectations = {expect("iteration_p5O", std::chrono::milliseconds{1}, {})};
  EXPECT_THAT(c.failure(), StartsWith("expectations[0].metric: 'iteration_p5O' is no metric; did "
                                      "you mean 'iteration_p50'? expected one of iteration_p50"));
  c.drill.expectations = {expect("reduce_busbw", {}, BitRate{1})};
  EXPECT_EQ(c.failure(),
            "expectations[0].metric: 'reduce_busbw', but no job issues reduce; the jobs issue "
            "all_reduce, all_to_all");
  c.drill.expectations = {expect("all_reduce_busbw", std::chrono::seconds{1}, {})};
  EXPECT_THAT(c.failure(), StartsWith("expectations[0].at_most: all_reduce_busbw is a rate"));
  c.drill.expectations = {expect("all_reduce_busbw", {}, BitRate{1'000'000})};
  EXPECT_EQ(c.failure(), "");
}

TEST(MakePlan, PlansMoreConnectionsThanAHostCanHoldWhichIsRefusedWhenItIsToRun) {
  Case c;
  c.profile = sample_profile(512);
  const auto plan = c.plan();
  ASSERT_TRUE(plan) << plan.error().text();
  const auto fits = check_connections(*plan);
  ASSERT_FALSE(fits);
  EXPECT_EQ(fits.error().code, ErrorCode::refused);
  EXPECT_EQ(fits.error().message,
            "collectives: host 'host0' would hold up to 263168 connections; at most 32768: use "
            "fewer channels, or fewer ranks on a host");
  EXPECT_THAT(plan_warnings(*plan, expand_load(*plan)),
              testing::ElementsAre("this cannot be run: " + fits.error().message));
}

TEST(MakePlan, RefusesTwoAgentsOfOneName) {
  Case c;
  c.inventories[3].host = "host0";
  EXPECT_THAT(c.failure(), StartsWith("agent 'host0': two agents have this name; "));
  c.inventories[3].host = "bad name";
  EXPECT_THAT(c.failure(), StartsWith("agent 'bad name': this is no name; "));
}

TEST(PlanHash, CoversWhatDecidesTheTraffic) {
  const Case base;
  const std::string hash = plan_hash(*base.plan());
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(hash, plan_hash(*base.plan()));
  const auto changed = [&](auto change) {
    Case c;
    change(c);
    return plan_hash(*c.plan()) != hash;
  };
  EXPECT_TRUE(changed([](Case& c) { c.drill.seed = 2; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.iterations = 21; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.transport.congestion_control = "reno"; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.transport.receive = ReceiveMode::discard; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.collectives.channels = 3; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.collectives.credits = 5; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.collectives.cross_nic = 1; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.collectives.pxn_level = 0; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.local.latency = Duration{1}; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.limits.progress = std::chrono::seconds{7}; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.synchronisation = SyncMode::free; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.jobs[0].hosts = {"host1", "host0"}; }));
  EXPECT_TRUE(changed([](Case& c) { c.drill.jobs[0].nics = {"data1"}; }));
  EXPECT_TRUE(changed([](Case& c) { c.profile.classes[0].ops[2].bytes = Bytes{7}; }));
}

TEST(PlanHash, LeavesOutNamesJudgementsAndWhatAgentsReport) {
  const Case base;
  Case c;
  c.drill.name = "renamed";
  c.drill.jobs[0].name = "renamed";
  c.drill.expectations = {expect("iteration_p50", std::chrono::seconds{1}, {})};
  c.profile.provenance.note = "imported again";
  for (Inventory& inventory : c.inventories) {
    inventory.nics[0] = {.name = "data0", .address = "10.1.2.3", .line_rate = {}, .mtu = 1500};
  }
  EXPECT_EQ(plan_hash(*c.plan()), plan_hash(*base.plan()));
}

}  // namespace
}  // namespace rehearsal::plan

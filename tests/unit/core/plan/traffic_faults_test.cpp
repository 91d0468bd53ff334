#include "core/plan/traffic_faults.hpp"

#include <gmock/gmock.h>

#include <set>

#include "core/plan/background.hpp"
#include "core/plan/connection_estimate.hpp"
#include "core/plan/flow_list_text.hpp"
#include "core/plan/plan_codec.hpp"
#include "core/plan/plan_json.hpp"
#include "core/plan/plan_table.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using namespace std::chrono_literals;
using fault::Fault;
using fault::Kind;
using fault::Side;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr BitRate kGigabit{1'000'000'000};

/// Eight ranks on host0 … host3, two NICs each at 10 Gbit/s.
Result<Plan> planned(std::vector<Fault> faults, std::vector<Inventory> inventories = {}) {
  Drill drill = test::sample_drill(4);
  drill.faults = std::move(faults);
  if (inventories.empty()) inventories = test::sample_inventories(4);
  const test::Profiles profiles = {
      {"sample", std::make_shared<const profile::Profile>(test::sample_profile(8))}};
  return make_plan(drill, inventories, profiles);
}

Plan plan_with(Fault fault) {
  auto plan = planned({std::move(fault)});
  EXPECT_TRUE(plan) << plan.error().text();
  return plan.value_or(Plan{});
}

std::string error_with(Fault fault) {
  const auto plan = planned({std::move(fault)});
  return plan ? "" : plan.error().text();
}

Fault traffic(Kind kind, std::vector<std::string> hosts, fault::Level level) {
  return {.name = "jam",
          .what = {.kind = kind, .levels = {level}, .message = Bytes{1U << 20}, .credits = 4},
          .where = {.hosts = std::move(hosts)},
          .when = {.iteration = 2, .length = 10s, .iterations = 3}};
}

Fault incast_of_one_nic() {
  Fault fault = traffic(Kind::incast, {"host0"}, {.traffic = kGigabit});
  fault.where.nics = {"data1"};
  return fault;
}

TEST(TrafficFaults, AnIncastIsAFlowFromEveryOtherHostByTheSameRail) {
  const Plan plan = plan_with(incast_of_one_nic());
  const auto flows = background_flows(plan);
  ASSERT_EQ(flows.size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(flows[i].source, (Binding{HostIndex{i + 1}, NicIndex{1}}));
    EXPECT_EQ(flows[i].destination, (Binding{HostIndex{0}, NicIndex{1}}));
    EXPECT_EQ(rate_of(plan, flows[i], 0), kGigabit) << "each source has it to itself";
  }
}

TEST(TrafficFaults, WhereNoNicIsNamedAllThatRanksUseAreAimedAt) {
  Fault fault = traffic(Kind::incast, {"host0", "host1"}, {.rate = {500'000}});
  fault.where.peers = {"host1", "host2"};
  const Plan plan = plan_with(fault);
  const auto flows = background_flows(plan);
  // host0 from two peers by two NICs, host1 from host2 alone.
  ASSERT_EQ(flows.size(), 6U);
  for (const BackgroundFlow& flow : flows) {
    EXPECT_NE(flow.source.host, flow.destination.host);
    // A NIC of host2 sends to two hosts, and they share the half of its 10 Gbit/s.
    const bool shares = flow.source.host == HostIndex{2};
    EXPECT_EQ(flow.sharers, shares ? 2U : 1U);
    EXPECT_EQ(rate_of(plan, flow, 0), BitRate{shares ? 2'500'000'000U : 5'000'000'000U});
  }
}

TEST(TrafficFaults, ABackgroundsRateIsThatOfTheNicItIsAimedAt) {
  Fault fault = traffic(Kind::background, {"host3"}, {.rate = {300'000}});
  fault.where.nics = {"data0"};
  fault.where.side = Side::received;
  Plan plan = plan_with(fault);
  auto flows = background_flows(plan);
  ASSERT_EQ(flows.size(), 3U);
  for (const BackgroundFlow& flow : flows) {
    EXPECT_EQ(flow.destination.host, HostIndex{3});
    EXPECT_EQ(rate_of(plan, flow, 0), kGigabit) << "a third of 30 % of 10 Gbit/s";
  }
  fault.where.side = Side::both;
  plan = plan_with(fault);
  flows = background_flows(plan);
  ASSERT_EQ(flows.size(), 6U);
  for (const BackgroundFlow& flow : flows) EXPECT_EQ(rate_of(plan, flow, 0), kGigabit);
}

TEST(TrafficFaults, AFlowThatIsAimedAtFromBothEndsIsOne) {
  Fault fault = traffic(Kind::background, {"host0", "host1"}, {});
  fault.where.nics = {"data0"};
  fault.where.peers = {"host0", "host1"};
  const Plan plan = plan_with(fault);
  const auto flows = background_flows(plan);
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].source, flows[1].destination);
  EXPECT_EQ(rate_of(plan, flows[0], 0), BitRate{}) << "as fast as it goes";
}

TEST(TrafficFaults, LevelsAreSharesOrRates) {
  Fault fault = incast_of_one_nic();
  fault.what.levels = {{.rate = {100'000}}, {.traffic = BitRate{3'000'000'000}}};
  fault.when.iterations = 4;
  const Plan plan = plan_with(fault);
  const BackgroundFlow flow = background_flows(plan).at(0);
  EXPECT_EQ(rate_of(plan, flow, 0), kGigabit);
  EXPECT_EQ(rate_of(plan, flow, 1), BitRate{3'000'000'000});
}

TEST(TrafficFaults, ConnectionsAreTheirOwnAndBothEndsAgree) {
  const Plan with = plan_with(incast_of_one_nic());
  const auto without = planned({});
  ASSERT_TRUE(without);
  std::set<ConnectionKey> sent;
  std::set<ConnectionKey> received;
  for (std::uint32_t host = 0; host < 4; ++host) {
    const Connections connections = connections_of(with, HostIndex{host});
    const Connections of_job = connections_of(*without, HostIndex{host});
    EXPECT_EQ(connections.outgoing.size(), of_job.outgoing.size());
    EXPECT_EQ(connections.incoming.size(), of_job.incoming.size());
    std::uint32_t next = static_cast<std::uint32_t>(
        connections.outgoing.size() + connections.incoming.size() + connections.local.size());
    for (const auto* specs : {&connections.background_outgoing, &connections.background_incoming}) {
      for (const ConnectionSpec& spec : *specs) {
        EXPECT_EQ(spec.index.value, next++);
        EXPECT_EQ(spec.nic, NicIndex{1});
        EXPECT_EQ(spec.credits, 4U);
        EXPECT_EQ(spec.message_bytes_max, 1U << 20);
        const auto ends = host_ends(with, spec.key);
        ASSERT_TRUE(ends);
        EXPECT_EQ(ends->destination, HostIndex{0});
      }
    }
    for (const auto& spec : connections.background_outgoing) sent.insert(spec.key);
    for (const auto& spec : connections.background_incoming) received.insert(spec.key);
  }
  EXPECT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent, received);
}

TEST(TrafficFaults, AKeyOfNoConnectionHasNoEnds) {
  const Plan plan = plan_with(incast_of_one_nic());
  ConnectionKey key = key_of(background_flows(plan).at(0));
  EXPECT_TRUE(host_ends(plan, key));
  key.source = Rank{4};
  EXPECT_FALSE(host_ends(plan, key)) << "there are four hosts";
  key.source = Rank{1};
  key.job = JobIndex{1};
  EXPECT_FALSE(host_ends(plan, key)) << "there is one fault";
  key = {.job = JobIndex{0}, .communicator = {}, .source = Rank{0}, .destination = Rank{8}};
  EXPECT_FALSE(host_ends(plan, key)) << "there are eight ranks";
}

TEST(TrafficFaults, TheLoadHasItApartFromTheBytesOfJobs) {
  const Plan with = plan_with(incast_of_one_nic());
  const auto without = planned({});
  ASSERT_TRUE(without);
  const Load load = expand_load(with);
  const Load plain = expand_load(*without);
  ASSERT_EQ(load.nics.size(), plain.nics.size());
  for (std::size_t i = 0; i < load.nics.size(); ++i) {
    EXPECT_EQ(load.nics[i].sent, plain.nics[i].sent);
    EXPECT_EQ(load.nics[i].received, plain.nics[i].received);
  }
  EXPECT_TRUE(plain.background.empty());
  ASSERT_EQ(load.background.size(), 4U);
  EXPECT_EQ(load.background[0].received, BitRate{3'000'000'000});
  EXPECT_EQ(load.background[0].sent, BitRate{});
  EXPECT_EQ(load.background[1].sent, kGigabit);
  EXPECT_EQ(load.connections[0].background, 3U);
  EXPECT_EQ(load.connections[1].background, 1U);
  EXPECT_EQ(connections_per_host_most(with)[0], connections_per_host_most(*without)[0] + 3);

  Fault fault = incast_of_one_nic();
  fault.what.levels = {{}};
  EXPECT_EQ(expand_load(plan_with(fault)).background[0].received, std::nullopt);
}

TEST(TrafficFaults, PlansShowIt) {
  const Plan plan = plan_with(incast_of_one_nic());
  const Load load = expand_load(plan);
  EXPECT_THAT(plan_table(plan, load),
              AllOf(HasSubstr("Background traffic of faults"), HasSubstr("3.00 Gbit/s"),
                    HasSubstr("incast 1Gbit/s, messages of 1MiB, 4 of a flow under way"),
                    HasSubstr("connections of their own")));
  EXPECT_THAT(plan_json(plan, load), AllOf(HasSubstr("\"background\""),
                                           HasSubstr("\"received_bits_per_second\":3000000000"),
                                           HasSubstr("\"message_bytes\":1048576")));
  EXPECT_EQ(background_lines(plan, FlowFormat::csv),
            "fault,src_host,dst_host,src_nic,dst_nic,level,rate_bits_per_second,message_bytes,"
            "credits\n"
            "jam,host1,host0,data1,data1,0,1000000000,1048576,4\n"
            "jam,host2,host0,data1,data1,0,1000000000,1048576,4\n"
            "jam,host3,host0,data1,data1,0,1000000000,1048576,4\n");
  Fault fault = incast_of_one_nic();
  fault.what.levels = {{}};
  EXPECT_THAT(background_lines(plan_with(fault), FlowFormat::jsonl),
              HasSubstr("\"rate_bits_per_second\":null"));
}

TEST(TrafficFaults, SurviveTheCodecAndAreInTheHash) {
  Fault fault = incast_of_one_nic();
  const Plan plan = plan_with(fault);
  const auto again = decode(encode(plan));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->faults, plan.faults);
  EXPECT_EQ(plan_hash(*again), plan_hash(plan));
  fault.what.message = Bytes{2U << 20};
  EXPECT_NE(plan_hash(plan_with(fault)), plan_hash(plan));
  fault = incast_of_one_nic();
  fault.what.levels[0].traffic = BitRate{2'000'000'000};
  EXPECT_NE(plan_hash(plan_with(fault)), plan_hash(plan));
}

TEST(TrafficFaults, AFlowWithoutTwoEndsIsNoPlan) {
  Plan plan = plan_with(incast_of_one_nic());
  const auto error = [&] {
    const auto decoded = decode(encode(plan));
    return decoded ? "" : decoded.error().text();
  };
  plan.faults[0].places[0].peer.reset();
  EXPECT_THAT(error(), HasSubstr("a flow without two ends"));
  plan.faults[0].places[0].peer = HostIndex{0};
  EXPECT_THAT(error(), HasSubstr("a flow without two ends"));
  plan.faults[0].places[0] = plan.faults[0].places[1];
  EXPECT_THAT(error(), HasSubstr("a flow twice"));
}

TEST(TrafficFaults, OnlyHostsOfTheRunSend) {
  Fault fault = incast_of_one_nic();
  fault.where.peers = {"storage1"};
  EXPECT_THAT(error_with(fault), AllOf(HasSubstr("faults[0].where.peers"), HasSubstr("storage1"),
                                       HasSubstr("hosts of the run only")));
  fault.where.peers = {"host0"};
  EXPECT_THAT(error_with(fault), HasSubstr("no other host to send"));
}

TEST(TrafficFaults, AShareOfAnUnknownLineRateIsRefused) {
  Fault fault = traffic(Kind::incast, {"host0"}, {.rate = {500'000}});
  auto inventories = test::sample_inventories(4);
  inventories[2].nics[0].line_rate = {};
  auto plan = planned({fault}, inventories);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(), AllOf(HasSubstr("data0"), HasSubstr("host2"),
                                         HasSubstr("is not known"), HasSubstr("of:")));
  fault.what.of = kGigabit;
  EXPECT_TRUE(planned({fault}, inventories));
  fault.what.of = {};
  fault.what.levels = {{.traffic = kGigabit}};
  EXPECT_TRUE(planned({fault}, inventories));
}

TEST(TrafficFaults, WhoHasNoRankOfTheJobCannotFollowItsIterations) {
  Drill drill = test::sample_drill(2);
  drill.jobs.push_back(drill.jobs[0]);
  drill.jobs[1].name = "other";
  drill.jobs[1].hosts = {"host2", "host3"};
  Fault fault = incast_of_one_nic();
  fault.where.job = "sample";
  drill.faults = {fault};
  const test::Profiles profiles = {
      {"sample", std::make_shared<const profile::Profile>(test::sample_profile(8))}};
  const auto inventories = test::sample_inventories(4);
  const auto refused = make_plan(drill, inventories, profiles);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              AllOf(HasSubstr("host2"), HasSubstr("job 'sample'"), HasSubstr("after: a time")));
  drill.faults[0].where.peers = {"host1"};
  EXPECT_TRUE(make_plan(drill, inventories, profiles));
  drill.faults[0] = incast_of_one_nic();
  EXPECT_TRUE(make_plan(drill, inventories, profiles)) << "any job's iterations count";
}

TEST(TrafficFaults, TwoOfOneFlowAtATimeAreRefusedOthersNot) {
  Fault second = incast_of_one_nic();
  second.name = "second";
  EXPECT_FALSE(planned({incast_of_one_nic(), second}));
  second.when.iteration = 5;
  EXPECT_TRUE(planned({incast_of_one_nic(), second}));
  Fault first = incast_of_one_nic();
  first.where.peers = {"host1"};
  second.when.iteration = 2;
  second.where.peers = {"host2"};
  EXPECT_TRUE(planned({first, second}));
  Fault cut{.name = "cut",
            .what = {.kind = Kind::rate, .levels = {{.rate = {500'000}}}},
            .where = {.hosts = {"host0"}},
            .when = {.iteration = 2, .length = 10s}};
  EXPECT_TRUE(planned({incast_of_one_nic(), cut})) << "a slow NIC may be jammed, too";
}

TEST(TrafficFaults, OnLoopbackThereIsNoNicToJam) {
  Drill drill = test::sample_drill(1);
  drill.transport.kind = TransportKind::loopback;
  drill.faults = {traffic(Kind::background, {"host0"}, {})};
  const test::Profiles profiles = {
      {"sample", std::make_shared<const profile::Profile>(test::sample_profile(8))}};
  const auto plan = make_plan(drill, test::sample_inventories(1), profiles);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(), HasSubstr("faults[0]"));
}

}  // namespace
}  // namespace rehearsal::plan

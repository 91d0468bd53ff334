#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/table.hpp"
#include "core/plan/connection_estimate.hpp"
#include "core/plan/plan_estimate.hpp"
#include "core/plan/plan_json.hpp"
#include "core/plan/plan_table.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

using testing::HasSubstr;

Plan two_jobs() {
  Drill drill = test::sample_drill(4);
  drill.transport = {TransportKind::tcp, "reno", ReceiveMode::discard};
  drill.limits.start_skew = std::chrono::milliseconds{1};
  drill.jobs.push_back({.name = "other",
                        .profile = "pair",
                        .hosts = {"host1", "host3"},
                        .ranks_per_host = 1,
                        .nics = {"data1"}});
  drill.expectations = {{"iteration_p50", std::chrono::milliseconds{20}, {}},
                        {"all_reduce_busbw", {}, BitRate{1'000'000'000}}};
  auto plan =
      make_plan(drill, test::sample_inventories(4),
                {{"sample", std::make_shared<const profile::Profile>(test::sample_profile(8))},
                 {"pair", std::make_shared<const profile::Profile>(test::sample_profile(2))}});
  EXPECT_TRUE(plan) << plan.error().text();
  return std::move(*plan);
}

TEST(PlanTable, IsOneThatAPersonLikes) {
  const Plan plan = two_jobs();
  test::expect_golden("plan/table.txt", plan_table(plan, expand_load(plan)));
}

TEST(PlanTable, ListsTheLargestPairsWhereAMatrixDoesNotFit) {
  Plan plan = test::sample_plan(16, 16);
  for (Inventory& host : plan.hosts) host.nics.at(0).line_rate = BitRate{};
  test::expect_golden("plan/table_16_hosts.txt", plan_table(plan, expand_load(plan)));
}

TEST(PlanTable, SaysThatNothingLeavesASingleHost) {
  const Plan plan = test::sample_plan(4, 1);
  EXPECT_THAT(plan_table(plan, expand_load(plan)),
              HasSubstr("No host sends to another: all ranks are on one host."));
}

TEST(PlanTable, NoLineIsWiderThanAScreen) {
  Plan plan = two_jobs();
  for (Inventory& host : plan.hosts) {
    host.host = "a-rather-long-name-of-a-host." + host.host;
    for (Nic& nic : host.nics) nic.address = "fd00:1234:5678:9abc:def0:1234:5678:9abc";
  }
  std::istringstream lines(plan_table(plan, expand_load(plan)));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kTableWidthMax) << line;
}

TEST(PlanJson, IsStable) {
  const Plan plan = two_jobs();
  test::expect_golden("plan/plan.json", plan_json(plan, expand_load(plan)));
}

TEST(PlanJson, AddsUp) {
  const Plan plan = two_jobs();
  const Load load = expand_load(plan);
  const auto json = nlohmann::json::parse(plan_json(plan, load));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["plan_hash"], plan_hash(plan));
  std::uint64_t wire = 0;
  for (const auto& job : json["jobs"])
    wire += job["per_iteration"]["wire_bytes"].get<std::uint64_t>();
  std::uint64_t sent = 0;
  std::uint64_t received_in_all = 0;
  for (const auto& nic : json["nics"]) {
    sent += nic["per_iteration"]["sent_bytes"].get<std::uint64_t>();
    received_in_all += nic["in_all"]["received_bytes"].get<std::uint64_t>();
  }
  std::uint64_t flows = 0;
  for (const auto& flow : json["flows"]) flows += flow["bytes"].get<std::uint64_t>();
  EXPECT_GT(wire, 0U);
  EXPECT_EQ(sent, wire);
  EXPECT_EQ(flows, wire);
  EXPECT_EQ(received_in_all, wire * plan.iterations);
}

TEST(PlanJson, SurvivesNamesThatAreNotText) {
  Plan plan = test::sample_plan(2, 2);
  plan.hosts[0].nics[0].name = "eth\xff\"0";
  EXPECT_TRUE(nlohmann::json::accept(plan_json(plan, expand_load(plan))));
}

TEST(Estimate, NamesWhatItRestsOn) {
  Plan plan = test::sample_plan(4, 4);
  Load load = expand_load(plan);
  Estimate expected = estimate(plan, load);
  EXPECT_THAT(expected.basis,
              HasSubstr("the busiest NIC, host0/data0, at its line rate of 10.0 Gbit/s"));
  EXPECT_EQ(*expected.run, *expected.iteration * plan.iterations);
  for (Inventory& host : plan.hosts) {
    for (Nic& nic : host.nics) nic.line_rate = BitRate{};
  }
  load = expand_load(plan);
  expected = estimate(plan, load);
  EXPECT_EQ(expected.basis,
            "the longest compute of a rank; NICs of unknown line rate are taken to be no limit");
  EXPECT_EQ(*expected.iteration, std::chrono::milliseconds{1});
  load.expected_iteration = Duration::zero();
  EXPECT_FALSE(estimate(plan, load).run);
}

profile::Profile profile_with(profile::OpKind kind, std::uint32_t ranks) {
  profile::Profile profile = test::sample_profile(ranks);
  profile::Op op = profile.classes[0].ops[2];
  op.kind = kind;
  op.after.clear();
  op.bytes = kind == profile::OpKind::barrier ? Bytes{} : Bytes{1U << 20};
  profile.classes[0].ops = {op};
  return profile;
}

// The estimate that guards planning must never be below what the agents would open.
TEST(ConnectionEstimate, IsNeverBelowTheConnections) {
  using enum profile::OpKind;
  for (const auto kind : {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce,
                          gather, scatter, barrier}) {
    for (const std::uint32_t hosts : {1U, 2U, 3U, 4U}) {
      const auto plan =
          make_plan(test::sample_drill(hosts), test::sample_inventories(hosts),
                    {{"sample", std::make_shared<const profile::Profile>(profile_with(kind, 9))}});
      ASSERT_TRUE(plan) << plan.error().text();
      const std::vector<std::uint64_t> most = connections_per_host_most(*plan);
      for (std::uint32_t host = 0; host < hosts; ++host) {
        const Connections connections = connections_of(*plan, HostIndex{host});
        const std::size_t ends = connections.outgoing.size() + connections.incoming.size();
        EXPECT_EQ(ends == 0, hosts == 1) << to_string(kind);
        EXPECT_LE(ends, most[host]) << to_string(kind) << " on " << hosts << " hosts";
      }
    }
  }
}

TEST(ConnectionEstimate, CountsSendsAtBothEnds) {
  profile::Profile profile = test::sample_profile(2);
  profile::Op send = profile.classes[0].ops[2];
  send.kind = profile::OpKind::send;
  send.after.clear();
  send.peer = 1;
  profile::Op receive = send;
  receive.kind = profile::OpKind::recv;
  receive.peer = 0;
  profile.classes = {{"first", {Rank{0}}, {send}}, {"second", {Rank{1}}, {receive}}};
  const auto plan = make_plan(test::sample_drill(2), test::sample_inventories(2),
                              {{"sample", std::make_shared<const profile::Profile>(profile)}});
  ASSERT_TRUE(plan) << plan.error().text();
  const std::vector<std::uint64_t> most = connections_per_host_most(*plan);
  for (std::uint32_t host = 0; host < 2; ++host) {
    const Connections connections = connections_of(*plan, HostIndex{host});
    EXPECT_EQ(connections.outgoing.size() + connections.incoming.size(), most[host]);
  }
}

}  // namespace
}  // namespace rehearsal::plan

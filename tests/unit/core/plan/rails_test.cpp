#include "core/plan/rails.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/sample_plan.hpp"

namespace rehearsal::plan {
namespace {

Inventory host(const std::vector<std::string>& names) {
  Inventory inventory;
  for (const std::string& name : names) inventory.nics.emplace_back().name = name;
  return inventory;
}

/// One rank of a job on a NIC of host 0, the other on one of host 1.
Plan pair(const std::vector<std::string>& first, std::uint32_t first_nic,
          const std::vector<std::string>& second, std::uint32_t second_nic) {
  Plan plan;
  plan.hosts = {host(first), host(second)};
  PlannedJob& job = plan.jobs.emplace_back();
  job.bindings = {{HostIndex{0}, NicIndex{first_nic}}, {HostIndex{1}, NicIndex{second_nic}}};
  return plan;
}

NicIndex arrival(const Plan& plan, std::uint32_t source) {
  const collective::Shape shape = collective::Shape::flat(2);
  const Rails rails{plan, JobIndex{0}};
  const std::uint32_t destination = 1 - source;
  const auto route = rails.route(shape, ConnectionUse::collective, 0, {Rank{source}, source},
                                 {Rank{destination}, destination});
  EXPECT_EQ(route.departure, plan.jobs[0].bindings[source].nic);
  return route.arrival;
}

TEST(Rails, TrafficArrivesAtTheNicOfTheSameName) {
  const std::vector<std::string> two = {"rail0", "rail1"};
  const std::vector<std::string> three = {"other", "rail1", "rail0"};
  EXPECT_EQ(arrival(pair(two, 0, three, 1), 0), NicIndex{2});
  EXPECT_EQ(arrival(pair(two, 1, three, 0), 0), NicIndex{1});
  EXPECT_EQ(arrival(pair(two, 1, three, 2), 1), NicIndex{0});
}

TEST(Rails, WithoutSuchANicTheRanksOwnOneTakesIt) {
  EXPECT_EQ(arrival(pair({"eth0", "eth1"}, 0, {"ens1", "ens2"}, 1), 0), NicIndex{1});
}

TEST(Rails, WhatNodesOfOneHostSayToEachOtherIsOffTheWire) {
  Plan plan = pair({"rail0"}, 0, {"rail0"}, 0);
  PlannedJob& job = plan.jobs[0];
  job.bindings[1] = job.bindings[0];
  EXPECT_EQ((Rails{plan, JobIndex{0}}.passage(Rank{0}, Rank{1})), Passage::inside_node);
  job.node = PlannedNode{.name = "n", .ranks = 1, .rails = 1, .per_host = 2, .assumed = {}};
  job.seats = {{0, 0}, {1, 0}};
  EXPECT_EQ((Rails{plan, JobIndex{0}}.passage(Rank{0}, Rank{1})), Passage::between_nodes);
  job.bindings[1].host = HostIndex{1};
  EXPECT_EQ((Rails{plan, JobIndex{0}}.passage(Rank{0}, Rank{1})), Passage::wire);
}

// Two ranks a host: the ring leaves h0 by its second rank's rail and must enter h1 by the same one,
// though the receiving rank is bound to the first.
TEST(Rails, NothingOfAPlanChangesItsRail) {
  const Plan plan = rehearsal::test::sample_plan(6, 3);
  const Load load = expand_load(plan);
  ASSERT_FALSE(load.flows.empty());
  for (const Flow& flow : load.flows) EXPECT_EQ(flow.source_nic, flow.destination_nic);

  std::map<ConnectionKey, NicIndex> leaves;
  std::size_t arrivals = 0;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    for (const ConnectionSpec& spec : connections_of(plan, HostIndex{host}).outgoing)
      leaves[spec.key] = spec.nic;
  }
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    for (const ConnectionSpec& spec : connections_of(plan, HostIndex{host}).incoming) {
      EXPECT_EQ(leaves.at(spec.key), spec.nic);
      ++arrivals;
    }
  }
  EXPECT_EQ(arrivals, leaves.size());
}

}  // namespace
}  // namespace rehearsal::plan

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

Binding at(std::uint32_t host, std::uint32_t nic) { return {HostIndex{host}, NicIndex{nic}}; }

TEST(Rails, TrafficArrivesAtTheNicOfTheSameName) {
  Plan plan;
  plan.hosts = {host({"rail0", "rail1"}), host({"other", "rail1", "rail0"})};
  const Rails rails{plan};
  EXPECT_EQ(rails.arrival(at(0, 0), at(1, 1)), NicIndex{2});
  EXPECT_EQ(rails.arrival(at(0, 1), at(1, 0)), NicIndex{1});
  EXPECT_EQ(rails.arrival(at(1, 2), at(0, 1)), NicIndex{0});
}

TEST(Rails, WithoutSuchANicTheRanksOwnOneTakesIt) {
  Plan plan;
  plan.hosts = {host({"eth0", "eth1"}), host({"ens1", "ens2"})};
  EXPECT_EQ(Rails{plan}.arrival(at(0, 0), at(1, 1)), NicIndex{1});
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

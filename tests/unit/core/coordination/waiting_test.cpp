#include "core/coordination/waiting.hpp"

#include <gmock/gmock.h>

namespace rehearsal::coordination {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr Instant kNow{100s};

std::vector<RunAgent> four_agents() {
  std::vector<RunAgent> agents(4);
  for (std::size_t i = 0; i < agents.size(); ++i) {
    agents[i].host = "host" + std::to_string(i);
    agents[i].heard = kNow;
  }
  return agents;
}

std::vector<HostIndex> hosts(std::initializer_list<std::uint32_t> values) {
  std::vector<HostIndex> indices;
  for (const std::uint32_t value : values) indices.push_back(HostIndex{value});
  return indices;
}

TEST(WaitingFor, TheSilentOneIsNamedThoughAllAreMissing) {
  std::vector<RunAgent> agents = four_agents();
  agents[2].heard = kNow - 1500ms;
  agents[3].waiting_for = hosts({2});
  agents[0].waiting_for = hosts({3});
  const Waiting who = waiting_for(agents, hosts({0, 1, 2, 3}), kNow, 1s);
  EXPECT_THAT(who.hosts, ElementsAre("host2"));
  EXPECT_EQ(who.text, "host2 (silent for 1.50 s; host3 waits for it)");
  EXPECT_TRUE(who.stands_out);
}

TEST(WaitingFor, TheEndOfAChainIsNamed) {
  std::vector<RunAgent> agents = four_agents();
  agents[0].waiting_for = hosts({1});
  agents[1].waiting_for = hosts({2});
  agents[3].waiting_for = hosts({2});
  const Waiting who = waiting_for(agents, hosts({0, 1, 2, 3}), kNow, 1s);
  EXPECT_THAT(who.hosts, ElementsAre("host2"));
  EXPECT_EQ(who.text, "host2 (host1, host3 wait for it)");
}

TEST(WaitingFor, OneThatWaitsForAHostThatIsDoneHoldsTheOthersUp) {
  std::vector<RunAgent> agents = four_agents();
  agents[0].waiting_for = hosts({1});
  agents[1].waiting_for = hosts({3});  // which is not missing
  EXPECT_THAT(waiting_for(agents, hosts({0, 1}), kNow, 1s).hosts, ElementsAre("host1"));
}

TEST(WaitingFor, WhenNoneStandsOutAllThatAreMissingAreNamed) {
  std::vector<RunAgent> agents = four_agents();
  agents[0].waiting_for = hosts({1});
  agents[1].waiting_for = hosts({0});
  const Waiting who = waiting_for(agents, hosts({0, 1}), kNow, 1s);
  EXPECT_THAT(who.hosts, ElementsAre("host0", "host1"));
  EXPECT_FALSE(who.stands_out);
}

}  // namespace
}  // namespace rehearsal::coordination

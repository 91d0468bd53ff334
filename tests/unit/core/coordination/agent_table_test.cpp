#include "core/coordination/agent_table.hpp"

#include <gtest/gtest.h>

#include "tests/support/sample_plan.hpp"

namespace rehearsal::coordination {
namespace {

TEST(AgentTable, AnAgentIsFoundByHostAndBySessionUntilItLeaves) {
  AgentTable table;
  AgentEntry entry;
  entry.session = SessionId{7};
  entry.inventory = test::sample_inventories(1).front();
  table.add(entry);
  ASSERT_NE(table.by_host("host0"), nullptr);
  EXPECT_EQ(table.by_session(SessionId{7}), table.by_host("host0"));
  EXPECT_EQ(table.inventories().size(), 1u);
  table.remove(SessionId{7});
  EXPECT_EQ(table.by_host("host0"), nullptr);
  EXPECT_EQ(table.by_session(SessionId{7}), nullptr);
  EXPECT_EQ(table.size(), 0u);
}

}  // namespace
}  // namespace rehearsal::coordination

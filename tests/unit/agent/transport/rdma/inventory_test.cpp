#include "agent/transport/rdma/inventory.hpp"

#include <gmock/gmock.h>

#include "tests/support/verbs/fake_verbs.hpp"

namespace rehearsal::rdma {
namespace {

TEST(RdmaInventoryTest, ListsPortsWithTheirGidsAndInterfaces) {
  const test::FakeVerbs verbs(2);
  const auto ports = list_ports(&verbs.api(), verbs.devices());
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(port_of(ports, "eth9"), std::nullopt);
  const auto port = port_of(ports, "eth2");
  ASSERT_TRUE(port.has_value());
  EXPECT_EQ(port->device, "fake2");
  EXPECT_EQ(port->port, 1U);
  EXPECT_TRUE(port->active);
  EXPECT_TRUE(port->ethernet);
  EXPECT_EQ(port->mtu, 1024U);
  EXPECT_EQ(port->rate, BitRate{}) << "nothing is behind a device in software";
  ASSERT_EQ(port->gids.size(), 2U);
  EXPECT_EQ(port->gids[1], (plan::RdmaGid{.type = plan::GidType::roce_v2, .address = "10.0.0.2"}));
  EXPECT_EQ(verbs.objects(), 0U);
}

TEST(RdmaInventoryTest, AHostWithoutRdmaHasNoPorts) {
  EXPECT_TRUE(list_ports(nullptr, "/nowhere").empty());
}

TEST(RdmaInventoryTest, TheLibraryIsLoadedOrItIsSaidWhyNot) {
  const auto verbs = load_verbs();
  if (!verbs) {
    EXPECT_THAT(verbs.error().text(), testing::HasSubstr("[REHEARSAL-RDMA-001]"));
    return;
  }
  EXPECT_NE((*verbs)->create_qp, nullptr);
  EXPECT_NE((*verbs)->poll_cq, nullptr);
}

}  // namespace
}  // namespace rehearsal::rdma

// How the other end is addressed on Ethernet and on InfiniBand, and what a device can limit.
#include <cerrno>

#include "agent/transport/rdma/inventory.hpp"
#include "tests/unit/agent/transport/rdma/transport_pair.hpp"

namespace rehearsal::rdma {
namespace {

using testing::HasSubstr;

/// Both ports on InfiniBand; the transports are told their GIDs, as a plan would.
class InfiniBandTest : public TransportPair {
 protected:
  void make_on(std::uint64_t prefix_1, const std::string& gid_1, std::uint64_t prefix_2,
               const std::string& gid_2) {
    verbs.make_infiniband(1, prefix_1);
    verbs.make_infiniband(2, prefix_2);
    for (const bool sends : {true, false}) {
      RdmaOptions options = verbs.options(sends ? 1 : 2);
      options.nics[0]->gid = {.type = plan::GidType::infiniband, .address = sends ? gid_1 : gid_2};
      options.settings.completions = plan::CompletionMode::event;
      auto made = RdmaTransport::create(std::move(options));
      ASSERT_TRUE(made.has_value()) << made.error().text();
      (sends ? sender : receiver) = std::move(*made);
    }
    ASSERT_EQ(join(), "");
    turns(5);
    ASSERT_EQ(count(at_sender, Completion::Kind::connected), 1U);
    ASSERT_EQ(send(1000), 1U);
    turns(3);
    ASSERT_EQ(count(at_receiver, Completion::Kind::received), 1U);
  }
};

constexpr std::uint64_t kDefaultSubnet = 0xfe80000000000000;

TEST_F(InfiniBandTest, WithinASubnetTheLidIsEnough) {
  ASSERT_NO_FATAL_FAILURE(make_on(kDefaultSubnet, "fe80::1", kDefaultSubnet, "fe80::2"));
  EXPECT_EQ(verbs.last_route(1).is_global, 0) << "no GRH";
  EXPECT_EQ(verbs.last_route(1).dlid, 102) << "the LID, not that of the subnet manager";
  EXPECT_EQ(verbs.last_route(2).dlid, 101);
  EXPECT_THAT(sender->bound()[0], HasSubstr("GID fe80::1 (IB)"));
}

TEST_F(InfiniBandTest, APortMayWantAGrhWithinItsSubnetToo) {
  verbs.require_grh(1);
  ASSERT_NO_FATAL_FAILURE(make_on(kDefaultSubnet, "fe80::1", kDefaultSubnet, "fe80::2"));
  EXPECT_EQ(verbs.last_route(1).is_global, 1);
  EXPECT_EQ(verbs.last_route(1).dlid, 102);
  EXPECT_EQ(verbs.last_route(1).grh.dgid.raw[15], 2);
  EXPECT_EQ(verbs.last_route(1).grh.hop_limit, 255);
  EXPECT_EQ(verbs.last_route(2).is_global, 0) << "each port for itself";
}

TEST_F(InfiniBandTest, AnotherSubnetIsReachedByItsGid) {
  ASSERT_NO_FATAL_FAILURE(
      make_on(0xfec0000000000001, "fec0:0:0:1::1", 0xfec0000000000002, "fec0:0:0:2::2"));
  EXPECT_EQ(verbs.last_route(1).is_global, 1);
  EXPECT_EQ(verbs.last_route(1).dlid, 102) << "no router's LID in the prefix: the peer's";
  EXPECT_EQ(verbs.last_route(1).grh.dgid.raw[15], 2);
  EXPECT_EQ(verbs.last_route(1).grh.sgid_index, 0);
}

TEST_F(InfiniBandTest, ARoutersLidInThePrefixIsTheWayToAnotherSubnet) {
  verbs.make_infiniband(1, 0xfec0000000330001);
  verbs.make_infiniband(2, 0xfec0000000440002);
  for (const bool sends : {true, false}) {
    RdmaOptions options = verbs.options(sends ? 1 : 2);
    options.nics[0]->gid = {.type = plan::GidType::infiniband,
                            .address = sends ? "fec0:0:33:1::1" : "fec0:0:44:2::2"};
    auto made = RdmaTransport::create(std::move(options));
    ASSERT_TRUE(made.has_value()) << made.error().text();
    (sends ? sender : receiver) = std::move(*made);
  }
  ASSERT_EQ(join(), "");
  EXPECT_EQ(verbs.last_route(1).is_global, 1);
  EXPECT_EQ(verbs.last_route(1).dlid, 0x44);
  EXPECT_EQ(verbs.last_route(2).dlid, 0x33);
}

TEST_F(TransportPair, OnEthernetThereIsAlwaysAGrh) {
  ASSERT_NO_FATAL_FAILURE(connect());
  EXPECT_EQ(verbs.last_route(1).is_global, 1);
  EXPECT_EQ(verbs.last_route(1).dlid, 0);
  EXPECT_EQ(verbs.last_route(1).grh.sgid_index, 1);
}

TEST_F(TransportPair, EndsOfDifferentLinkLayersAreRefused) {
  ASSERT_NO_FATAL_FAILURE(make());
  const auto here = sender->offer(spec()).value();
  verbs.make_infiniband(2, kDefaultSubnet);
  RdmaOptions options = verbs.options(2);
  options.nics[0]->gid = {.type = plan::GidType::infiniband, .address = "fe80::2"};
  receiver = std::move(RdmaTransport::create(std::move(options)).value());
  ASSERT_TRUE(receiver->open(spec()));
  EXPECT_THAT(receiver->accept(spec(), here).error().text(), HasSubstr("is on Ethernet"));
}

TEST_F(TransportPair, WhatTheDrillSetsReachesTheQueuePair) {
  ASSERT_NO_FATAL_FAILURE(connect({.completions = plan::CompletionMode::event,
                                   .traffic_class = 106,
                                   .service_level = 3,
                                   .hop_limit = 64,
                                   .flow_label = 12,
                                   .ack_timeout = 18,
                                   .retry_count = 6,
                                   .rnr_retry = 5,
                                   .rnr_timer = 14,
                                   .path_mtu = 512}));
  for (const std::uint32_t device : {1U, 2U}) {
    const ibv_ah_attr route = verbs.last_route(device);
    EXPECT_EQ(route.grh.traffic_class, 106);
    EXPECT_EQ(route.sl, 3);
    EXPECT_EQ(route.grh.hop_limit, 64);
    EXPECT_EQ(route.grh.flow_label, 12U);
    const ibv_qp_attr set = verbs.last_attributes(device);
    EXPECT_EQ(set.timeout, 18);
    EXPECT_EQ(set.retry_cnt, 6);
    EXPECT_EQ(set.rnr_retry, 5);
    EXPECT_EQ(set.min_rnr_timer, 14);
    EXPECT_EQ(set.path_mtu, IBV_MTU_512);
  }
}

constexpr BitRate kOneGigabit{1'000'000'000};

TEST_F(TransportPair, ARateLimitGoesToEachQueuePairOfADeviceThatHasOne) {
  verbs.give_rate_limits(1, 1'000, 100'000'000);
  verbs.give_rate_limits(2, 1'000, 100'000'000);
  ASSERT_NO_FATAL_FAILURE(
      connect({.completions = plan::CompletionMode::event, .rate_limit = kOneGigabit}));
  EXPECT_EQ(verbs.last_rate_limit(1), 1'000'000U) << "kbit/s";
  EXPECT_EQ(verbs.calls("modify_qp_rate_limit"), 2U);
}

TEST_F(TransportPair, ARateLimitThatTheDeviceHasNotIsAnError) {
  const plan::RdmaSettings limited{.completions = plan::CompletionMode::event,
                                   .rate_limit = kOneGigabit};
  ASSERT_NO_FATAL_FAILURE(make(limited));
  EXPECT_THAT(join(), HasSubstr("[REHEARSAL-RDMA-003]"));
  verbs.give_rate_limits(1, 1'000, 100'000);
  verbs.give_rate_limits(2, 1'000, 100'000);
  ASSERT_NO_FATAL_FAILURE(make(limited));
  EXPECT_THAT(join(), HasSubstr("limits a queue pair to 1Mbit/s … 100Mbit/s, the drill asks for "
                                "1Gbit/s"));
}

TEST_F(TransportPair, ALimitThatTheDeviceRefusesAfterAllIsAnError) {
  verbs.give_rate_limits(1, 1'000, 100'000'000);
  verbs.give_rate_limits(2, 1'000, 100'000'000);
  ASSERT_NO_FATAL_FAILURE(
      make({.completions = plan::CompletionMode::event, .rate_limit = kOneGigabit}));
  verbs.fail("modify_qp_rate_limit", EINVAL);
  EXPECT_THAT(join(), HasSubstr("takes no rate limit of 1Gbit/s"));
}

TEST_F(TransportPair, TheInventorySaysWhatADeviceCanLimit) {
  verbs.give_rate_limits(1, 1'000, 100'000'000);
  const auto ports = list_ports(&verbs.api(), verbs.devices());
  ASSERT_GE(ports.size(), 2U);
  EXPECT_EQ(ports[0].port.rate_limits.min, BitRate{1'000'000});
  EXPECT_EQ(ports[0].port.rate_limits.max, BitRate{100'000'000'000});
  EXPECT_EQ(ports[1].port.rate_limits.max, BitRate{});
}

}  // namespace
}  // namespace rehearsal::rdma

#include "core/plan/rdma.hpp"

#include <gmock/gmock.h>

#include "core/plan/drill_text.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {
namespace {

using testing::HasSubstr;

Nic nic(std::string address, std::vector<RdmaGid> gids) {
  return {.name = "eth2",
          .address = std::move(address),
          .line_rate = {},
          .rdma = RdmaPort{.device = "mlx5_0", .active = true, .gids = std::move(gids)}};
}

const RdmaGid kLinkLocal{.type = GidType::roce_v2, .address = "fe80::1"};
const RdmaGid kV1{.type = GidType::roce_v1, .address = "10.0.0.1"};
const RdmaGid kV2{.type = GidType::roce_v2, .address = "10.0.0.1"};

TEST(ChooseGidTest, TakesTheAddressOfTheNicAndRoceV2BeforeV1) {
  EXPECT_EQ(choose_gid(nic("10.0.0.1", {kLinkLocal, kV1, kV2})).value(), kV2);
  EXPECT_EQ(choose_gid(nic("10.0.0.1", {kV1, kLinkLocal})).value(), kV1);
}

TEST(ChooseGidTest, WithoutAFittingGidItSaysWhatThereIs) {
  const auto wrong = choose_gid(nic("10.0.0.2", {kLinkLocal, kV2}));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().text(), HasSubstr("[REHEARSAL-RDMA-006]"));
  EXPECT_THAT(wrong.error().text(), HasSubstr("fe80::1 (RoCE v2), 10.0.0.1 (RoCE v2)"));
}

TEST(ChooseGidTest, InfiniBandHasItsOwn) {
  Nic infiniband = nic("10.0.0.1", {{.type = GidType::infiniband, .address = "fe80::7"}});
  infiniband.rdma->ethernet = false;
  EXPECT_EQ(choose_gid(infiniband).value().address, "fe80::7");
}

TEST(ChooseGidTest, APortMustBeThereAndActive) {
  Nic down = nic("10.0.0.1", {kV2});
  down.rdma->active = false;
  EXPECT_THAT(choose_gid(down).error().text(), HasSubstr("[REHEARSAL-RDMA-005]"));
  down.rdma.reset();
  EXPECT_THAT(choose_gid(down).error().text(), HasSubstr("no RDMA port"));
}

Plan two_hosts(Nic first, Nic second);

TEST(CheckRdmaTest, ARateLimitNeedsADeviceThatHasIt) {
  Plan plan = two_hosts(nic("10.0.0.1", {kV2}), nic("10.0.0.1", {kV2}));
  plan.transport.rdma.rate_limit = BitRate{1'000'000'000};
  EXPECT_THAT(check_rdma(plan).error().text(),
              HasSubstr("transport.rate_limit: host 'h1', NIC eth2: mlx5_0 has no limit"));
  EXPECT_THAT(check_rdma(plan).error().text(), HasSubstr("mechanism: sender"));
  for (Inventory& host : plan.hosts) {
    host.nics[0].rdma->rate_limits.min = BitRate{1'000'000};
    host.nics[0].rdma->rate_limits.max = BitRate{100'000'000'000};
  }
  EXPECT_TRUE(check_rdma(plan));
  plan.hosts[1].nics[0].rdma->rate_limits.max = BitRate{100'000'000};
  EXPECT_THAT(check_rdma(plan).error().text(), HasSubstr("host 'h2', NIC eth2: mlx5_0 limits a "
                                                         "queue pair to 1Mbit/s … 100Mbit/s"));
}

Plan two_hosts(Nic first, Nic second) {
  Plan plan;
  plan.hosts = {{.host = "h1", .nics = {std::move(first)}},
                {.host = "h2", .nics = {std::move(second)}}};
  plan.jobs.emplace_back().bindings = {{HostIndex{0}, NicIndex{0}}, {HostIndex{1}, NicIndex{0}}};
  return plan;
}

TEST(CheckRdmaTest, AllPortsMustBeOfOneKindAndFamily) {
  EXPECT_TRUE(
      check_rdma(two_hosts(nic("10.0.0.1", {kV2}),
                           nic("10.9.0.2", {{.type = GidType::roce_v2, .address = "10.9.0.2"}}))));
  const auto mixed = check_rdma(two_hosts(nic("10.0.0.1", {kV2}), nic("10.0.0.1", {kV1})));
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().text(), HasSubstr("host 'h2', NIC eth2 has 10.0.0.1 (RoCE v1), host "
                                              "'h1', NIC eth2 has 10.0.0.1 (RoCE v2)"));
  EXPECT_FALSE(check_rdma(two_hosts(
      nic("10.0.0.1", {kV2}), nic("fd00::1", {{.type = GidType::roce_v2, .address = "fd00::1"}}))));
}

Result<Drill> drill_with(const std::string& transport) {
  return parse_drill(
      "drill: d\njobs:\n  - {name: j, profile: p, hosts: h1}\ntransport:\n" + transport, "d.yaml");
}

TEST(RdmaDrillTest, ReadsAllSettings) {
  const auto drill = drill_with(
      "  kind: rdma\n  operation: send\n  queue_pairs: 4\n  completions: event\n"
      "  traffic_class: 106\n  service_level: 3\n  hop_limit: 64\n  flow_label: 12\n"
      "  ack_timeout: 18\n  retry_count: 6\n  rnr_retry: 5\n  rnr_timer: 14\n  path_mtu: 1024B\n"
      "  ece: false\n  rate_limit: 10Gbit/s\n  verify_payload: true\n");
  ASSERT_TRUE(drill) << drill.error().text();
  const RdmaSettings expected{.operation = RdmaOperation::send,
                              .queue_pairs = 4,
                              .completions = CompletionMode::event,
                              .traffic_class = 106,
                              .service_level = 3,
                              .hop_limit = 64,
                              .flow_label = 12,
                              .ack_timeout = 18,
                              .retry_count = 6,
                              .rnr_retry = 5,
                              .rnr_timer = 14,
                              .path_mtu = 1024,
                              .rate_limit = BitRate{10'000'000'000},
                              .ece = false};
  EXPECT_EQ(drill->transport.rdma, expected);
  EXPECT_EQ(drill->transport.kind, TransportKind::rdma);
  EXPECT_TRUE(drill->transport.verify_payload);
}

TEST(RdmaDrillTest, DefaultsAreThoseOfNccl) {
  const auto drill = drill_with("  kind: rdma\n");
  ASSERT_TRUE(drill);
  EXPECT_EQ(drill->transport.rdma.ack_timeout, 20U);
  EXPECT_EQ(drill->transport.rdma.retry_count, 7U);
  EXPECT_EQ(drill->transport.rdma.queue_pairs, 1U);
  EXPECT_EQ(drill->transport.rdma.hop_limit, 255U);
}

TEST(RdmaDrillTest, WhatCannotBeIsRefusedWithItsLine) {
  const std::pair<const char*, const char*> wrongs[] = {
      {"  kind: rdma\n  retry_count: 8\n", "expected 0 to 7"},
      {"  kind: rdma\n  queue_pairs: 65\n", "expected 1 to 64"},
      {"  kind: rdma\n  path_mtu: 1500B\n", "4096B"},
      {"  kind: rdma\n  flow_label: 1048576\n", "expected 0 to 1048575"},
      {"  kind: rdma\n  operation: send\n  queue_pairs: 2\n  queue_pair_use: split\n",
       "operation: write"},
      {"  kind: rdma\n  receive: discard\n", "discard is a setting of tcp"},
      {"  kind: tcp\n  queue_pairs: 2\n", "settings of rdma"},
      {"  kind: tcp\n  receive: discard\n  verify_payload: true\n", "receive: copy"}};
  for (const auto& [text, right] : wrongs) {
    const auto drill = drill_with(text);
    ASSERT_FALSE(drill) << text;
    EXPECT_THAT(drill.error().text(), HasSubstr(right)) << text;
    EXPECT_THAT(drill.error().text(), HasSubstr("d.yaml:"));
  }
}

}  // namespace
}  // namespace rehearsal::plan

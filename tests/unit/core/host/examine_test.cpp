#include "core/host/examine.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace rehearsal::host {
namespace {

using testing::HasSubstr;
using testing::Not;

HostFacts healthy() {
  return {
      .host = "h1",
      .rdma_devices = true,
      .clock = {.source = "tsc", .disciplined = true, .error_max = std::chrono::milliseconds{2}},
      .allowed = {0, 1, 2, 3},
      .nics = {{.place = {.nic = "eth2", .numa_node = 1, .near = {2, 3}},
                .hardware = true,
                .rdma_port = "mlx5_0 port 1",
                .loss = {.flow_control = {.value = "priorities 3"},
                         .congestion = {.value = "priorities 0,1,2,3,4,5,6,7"},
                         .dscp = {.value = "26:3"}}}},
      .place = {.cores = {3}, .why = "near eth2, NUMA node 1"}};
}
std::string text(const HostFacts& facts) { return findings_text(examine(facts)); }

TEST(Examine, WhatIsWellIsSaidToo) {
  const auto findings = examine(healthy());
  EXPECT_EQ(worst(findings), Finding::Health::good) << findings_text(findings);
  const std::string all = findings_text(findings);
  EXPECT_THAT(all, HasSubstr("ok   h1: may lock memory without limit"));
  EXPECT_THAT(all, HasSubstr("ok   h1: NTP or PTP keeps its wall clock, to ±2.00 ms"));
  EXPECT_THAT(all,
              HasSubstr("ok   h1: a worker that polls goes to core 3 (near eth2, NUMA node 1)"));
  EXPECT_THAT(all, HasSubstr("ok   h1 eth2: NUMA node 1, cores 2-3 are near it"));
  EXPECT_THAT(all, HasSubstr("ok   h1 eth2: PFC: priorities 3"));
  EXPECT_THAT(all, HasSubstr("ok   h1 eth2: DSCP to priority: 26:3"));
}

TEST(Examine, EveryFindingThatIsNotWellHasAFix) {
  HostFacts facts = healthy();
  facts.lock_limit = Bytes{8U << 20};
  facts.verbs_missing = "[REHEARSAL-RDMA-001] there is no RDMA library here";
  facts.clock = {.source = "hpet"};
  facts.allowed = {0};
  facts.place = {.why = "this process may use none of the cores 2-3", .hindered = true};
  facts.nics[0].loss = {.flow_control = {.why_not = "its driver has no DCB"}};
  const auto findings = examine(facts);
  for (const Finding& finding : findings)
    EXPECT_EQ(finding.health == Finding::Health::good, finding.fix.empty()) << finding.what;
  const std::string all = findings_text(findings);
  EXPECT_THAT(all, HasSubstr("BAD  h1: may lock 8.00 MiB of memory (memlock)"));
  EXPECT_THAT(all, HasSubstr("BAD  h1: [REHEARSAL-RDMA-001]"));
  EXPECT_THAT(all, HasSubstr("note h1: clock source hpet"));
  EXPECT_THAT(all, HasSubstr("note h1: no NTP or PTP keeps its wall clock"));
  EXPECT_THAT(all, HasSubstr("note h1: has one core, 0, for all its threads"));
  EXPECT_THAT(all, HasSubstr("note h1: this process may use none of the cores 2-3"));
  EXPECT_THAT(all, HasSubstr("note h1 eth2: PFC cannot be read here: its driver has no DCB"));
  EXPECT_THAT(all, HasSubstr("note h1 eth2: ECN of RoCE is off"));
  EXPECT_THAT(all, HasSubstr("note h1 eth2: no DSCP goes to a priority"));
}

TEST(Examine, WithoutRdmaDevicesItsLibraryAndMemoryAreNotesOnly) {
  HostFacts facts = healthy();
  facts.rdma_devices = false;
  facts.lock_limit = Bytes{64U << 10};
  facts.verbs_missing = "no library";
  facts.nics[0].rdma_port.clear();
  EXPECT_EQ(worst(examine(facts)), Finding::Health::notable);
  EXPECT_THAT(text(facts), Not(HasSubstr("PFC")));
}

TEST(Examine, AVethHasNoPlaceAndNoSettingsOfASwitch) {
  HostFacts facts = healthy();
  facts.nics[0].hardware = false;
  facts.nics[0].loss = {.flow_control = {.why_not = "its driver has no DCB"}};
  EXPECT_THAT(text(facts), HasSubstr("ok   h1 eth2: no hardware behind it"));
  EXPECT_THAT(text(facts), Not(HasSubstr("PFC")));
}

TEST(Examine, APortsFindingsSayWhatItsDeviceCanLimit) {
  plan::Nic nic{.name = "eth2", .address = "10.0.0.1", .line_rate = {}};
  nic.rdma = plan::RdmaPort{.device = "mlx5_0",
                            .active = true,
                            .gids = {{.type = plan::GidType::roce_v2, .address = "10.0.0.1"}}};
  const auto text_of = [&] {
    std::vector<Finding> findings;
    EXPECT_TRUE(examine_port(nic, "h1 eth2", findings));
    return findings_text(findings);
  };
  EXPECT_THAT(text_of(), HasSubstr("ok   h1 eth2: mlx5_0 cannot limit the rate of a queue pair"));
  nic.rdma->rate_limits = {.min = BitRate{1'000'000}, .max = BitRate{100'000'000'000}};
  EXPECT_THAT(text_of(), HasSubstr("ok   h1 eth2: mlx5_0 limits the rate of a queue pair to "
                                   "1Mbit/s … 100Gbit/s, for transport.rate_limit and for faults "
                                   "of kind rate (mechanism: device)"));
}

TEST(Examine, FindingsAsJson) {
  EXPECT_THAT(
      findings_json({{Finding::Health::bad, "h1", "w", "f"}, {.subject = "h2", .what = "w"}}),
      testing::AllOf(HasSubstr(R"("health": "BAD")"), HasSubstr(R"("fix": null)")));
  EXPECT_EQ(worst({}), Finding::Health::good);
}

}  // namespace
}  // namespace rehearsal::host

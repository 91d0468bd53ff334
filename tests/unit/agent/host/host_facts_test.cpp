#include "agent/host/host_facts.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Folders like those of the kernel: eth1 and eth2 near cores 2 and 3, bond0 on eth2, veth0 on
/// nothing.
class HostFactsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string nic : {"eth1", "eth2", "bond0/lower_eth2"}) {
      write("net/" + nic + "/device/numa_node", "1\n");
      write("net/" + nic + "/device/local_cpulist", "2-3\n");
    }
    write("net/eth3/device/numa_node", "-1\n");
    write("net/veth0/mtu", "1500\n");
    write("system/clocksource/clocksource0/current_clocksource", "tsc\n");
    write("system/cpu/isolated", "3\n");
  }

  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / file).parent_path());
    std::ofstream(folder_.path() / file) << text;
  }
  KernelFolders folders() const {
    return {.network = folder_.path() / "net",
            .rdma = folder_.path() / "rdma",
            .system = folder_.path() / "system"};
  }
  static plan::Nic nic(const std::string& name) {
    return {.name = name, .address = "10.0.0.1", .line_rate = {}};
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(HostFactsTest, PlacesOfNicsComeFromTheHardwareBehindThem) {
  const auto places =
      find_nic_places({nic("eth2"), nic("bond0"), nic("eth3"), nic("veth0")}, folders());
  ASSERT_EQ(places.size(), 4U);
  EXPECT_EQ(places[0].numa_node, 1U);
  EXPECT_THAT(places[0].near, ElementsAre(2, 3));
  EXPECT_EQ(places[0].before, 2U) << "bond0 and eth1";
  EXPECT_THAT(places[1].near, ElementsAre(2, 3));
  EXPECT_EQ(places[2].numa_node, std::nullopt);
  EXPECT_THAT(places[3].near, IsEmpty());
}

TEST_F(HostFactsTest, AllThatCanBeReadIs) {
  write("rdma/mlx5_0/tc/1/traffic_class", "Global tclass=106\n");
  for (int priority = 0; priority < 8; ++priority) {
    const std::string file = std::to_string(priority);
    write("net/eth2/ecn/roce_np/enable/" + file, "1\n");
    write("net/eth2/ecn/roce_rp/enable/" + file, priority == 3 ? "1\n" : "0\n");
  }
  plan::Nic data = nic("eth2");
  data.rdma = plan::RdmaPort{.device = "mlx5_0", .gids = {}};
  const host::HostFacts facts =
      find_host_facts({.host = "h1", .nics = {data, nic("veth0")}}, {}, "none", folders());
  EXPECT_EQ(facts.host, "h1");
  EXPECT_EQ(facts.verbs_missing, "none");
  EXPECT_TRUE(facts.rdma_devices);
  EXPECT_EQ(facts.clock.source, "tsc");
  EXPECT_FALSE(facts.allowed.empty());
  ASSERT_EQ(facts.nics.size(), 2U);
  EXPECT_TRUE(facts.nics[0].hardware);
  EXPECT_EQ(facts.nics[0].rdma_port, "mlx5_0 port 1");
  EXPECT_EQ(facts.nics[0].loss.congestion.value, "priorities 3");
  EXPECT_THAT(facts.nics[0].loss.dscp.value, HasSubstr("Global tclass=106"));
  EXPECT_FALSE(facts.nics[0].loss.flow_control.readable()) << "no such interface in this kernel";
  EXPECT_FALSE(facts.nics[1].hardware);
  EXPECT_THAT(isolated_cores(folders()), ElementsAre(3));
}

TEST_F(HostFactsTest, WhatTheDriverHasNotIsSaid) {
  plan::Nic data = nic("eth1");
  data.rdma = plan::RdmaPort{.device = "irdma0", .gids = {}};
  const auto facts = find_host_facts({.host = "h1", .nics = {data}}, {}, "", folders());
  EXPECT_EQ(facts.nics[0].loss.congestion.why_not, "its driver has no ecn/roce_np/enable");
  EXPECT_FALSE(facts.rdma_devices);
}

}  // namespace
}  // namespace rehearsal::agent

#include "agent/host/nics.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "agent/host/nic_counters.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

using rehearsal::test::TemporaryFolder;
using namespace std::chrono_literals;
using testing::HasSubstr;

const std::vector<HostAddress> kAddresses = {
    {"lo", "127.0.0.1", true},    {"eth2", "10.79.2.3", false}, {"eth0", "10.78.0.3", false},
    {"eth1", "10.79.1.3", false}, {"eth1", "10.79.9.3", false}, {"eth1", "fd00::3", false},
};

/// A folder like /sys/class/net.
class Devices {
 public:
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / file).parent_path());
    std::ofstream(folder_.path() / file) << text;
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

TEST(Nics, NoneNamedTakesAllButLoopbackAndTheControlInterface) {
  Devices devices;
  devices.write("eth1/speed", "100000\n");
  devices.write("eth1/mtu", "9000\n");
  devices.write("eth1/device/vendor", "0x15b3\n");
  devices.write("eth2/speed", "-1\n");
  const auto nics = find_nics({}, kAddresses, "10.78.0.3", devices.path());
  ASSERT_TRUE(nics) << nics.error().text();
  ASSERT_EQ(nics->size(), 2U);
  EXPECT_EQ((*nics)[0], (plan::Nic{"eth1", "10.79.1.3", BitRate{100'000'000'000}, 9000}));
  EXPECT_EQ((*nics)[1], (plan::Nic{"eth2", "10.79.2.3", BitRate{0}, 0}))
      << "an unknown speed is zero";
}

TEST(Nics, ASpeedThatNoHardwareStandsBehindIsUnknown) {
  Devices devices;
  devices.write("eth1/speed", "10000\n");  // what every veth says
  devices.write("eth2/speed", "25000\n");
  devices.write("eth2/lower_eth0/speed", "25000\n");  // a VLAN or bond on a NIC
  const auto nics = find_nics({}, kAddresses, "10.78.0.3", devices.path());
  ASSERT_TRUE(nics) << nics.error().text();
  EXPECT_EQ((*nics)[0].line_rate, BitRate{0});
  EXPECT_EQ((*nics)[1].line_rate, BitRate{25'000'000'000});
}

TEST(Nics, NamedOnesKeepTheirOrderAndMayBeTheControlInterface) {
  const auto nics =
      find_nics({{"eth2"}, {"eth0"}, {"eth1", "10.79.9.3"}}, kAddresses, "10.78.0.3", "/none");
  ASSERT_TRUE(nics) << nics.error().text();
  ASSERT_EQ(nics->size(), 3U);
  EXPECT_EQ((*nics)[0].name, "eth2");
  EXPECT_EQ((*nics)[1].address, "10.78.0.3");
  EXPECT_EQ((*nics)[2].address, "10.79.9.3");
}

TEST(Nics, LoopbackHasAllOfItsNetwork) {
  const auto nics = find_nics({{"lo", "127.0.0.7"}}, kAddresses, "", "/none");
  ASSERT_TRUE(nics);
  EXPECT_EQ((*nics)[0].address, "127.0.0.7");
  EXPECT_TRUE(shared_by_nature(*nics, kAddresses));
  EXPECT_FALSE(find_nics({{"lo", "10.79.1.3"}}, kAddresses, "", "/none"));
}

TEST(Nics, WhatIsNotThereIsNamedWithWhatIs) {
  const auto wrong_name = find_nics({{"eth"}}, kAddresses, "", "/none");
  ASSERT_FALSE(wrong_name) << "names are exact, not prefixes";
  EXPECT_THAT(wrong_name.error().text(), HasSubstr("eth1=10.79.1.3"));
  EXPECT_FALSE(find_nics({{"eth1", "10.79.2.3"}}, kAddresses, "", "/none"));
  EXPECT_FALSE(find_nics({{"eth1"}, {"eth1"}}, kAddresses, "", "/none"));
  const auto none = find_nics({}, {{"lo", "127.0.0.1", true}}, "127.0.0.1", "/none");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("--nic lo"));
}

TEST(Nics, DataNicsAreNotShared) {
  const auto nics = find_nics({{"eth1"}}, kAddresses, "", "/none");
  ASSERT_TRUE(nics);
  EXPECT_FALSE(shared_by_nature(*nics, kAddresses));
}

TEST(Nics, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_nic_choice("eth1"), (NicChoice{"eth1"}));
  EXPECT_EQ(parse_nic_choice("eth1=10.79.1.3"), (NicChoice{"eth1", "10.79.1.3"}));
  EXPECT_FALSE(parse_nic_choice(""));
  EXPECT_FALSE(parse_nic_choice("=10.79.1.3"));
  EXPECT_FALSE(parse_nic_choice("eth1="));
}

TEST(Nics, ThisHostHasLoopback) {
  const auto addresses = host_addresses();
  ASSERT_TRUE(addresses) << addresses.error().text();
  EXPECT_THAT(*addresses, testing::Contains(HostAddress{"lo", "127.0.0.1", true}));
  EXPECT_EQ(local_address_towards("127.0.0.1", 7470), "127.0.0.1");
  EXPECT_FALSE(local_address_towards("head-node", 7470));
}

TEST(NicCounters, TheRiseBetweenTwoReadings) {
  Devices devices;
  const std::vector<plan::Nic> nics = {{.name = "eth1", .address = {}, .line_rate = {}},
                                       {.name = "eth2", .address = {}, .line_rate = {}},
                                       {.name = "gone", .address = {}, .line_rate = {}}};
  const auto write = [&](const std::string& nic, int sent, int received) {
    devices.write(nic + "/statistics/tx_bytes", std::to_string(sent) + "\n");
    devices.write(nic + "/statistics/rx_bytes", std::to_string(received) + "\n");
  };
  write("eth1", 1000, 2000);
  write("eth2", 500, 600);
  const auto before = read_nic_counts(nics, Instant{}, devices.path());
  write("eth1", 1500, 2700);
  write("eth2", 100, 700);  // made again in between
  const auto after = read_nic_counts(nics, Instant{}, devices.path());

  measure::AgentMeasurements measurements;
  measurements.nics.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) measurements.nics[i].nic = NicIndex{i};
  add_nic_counts(before, after, measurements);
  EXPECT_EQ(measurements.nics[0].counter_sent, Bytes{500});
  EXPECT_EQ(measurements.nics[0].counter_received, Bytes{700});
  EXPECT_EQ(measurements.nics[1].counter_sent, std::nullopt) << "it went backwards";
  EXPECT_EQ(measurements.nics[1].counter_received, Bytes{100});
  EXPECT_EQ(measurements.nics[2].counter_sent, std::nullopt);
}

TEST(NicCounters, OfAnRdmaPortWhatRose) {
  Devices devices;
  Devices rdma;
  plan::Nic nic{.name = "eth1", .address = {}, .line_rate = {}};
  nic.rdma = plan::RdmaPort{.device = "mlx5_0", .port = 1, .gids = {}};
  devices.write("eth1/statistics/tx_bytes", "1\n");
  devices.write("eth1/statistics/rx_bytes", "1\n");
  const std::string port = "mlx5_0/ports/1/";
  rdma.write(port + "counters/link_downed", "3\n");
  rdma.write(port + "hw_counters/out_of_sequence", "10\n");
  rdma.write(port + "hw_counters/lifespan", "10\n");
  const auto before = read_nic_counts({nic}, Instant{1s}, devices.path(), rdma.path());
  rdma.write(port + "counters/link_downed", "3\n");
  rdma.write(port + "hw_counters/out_of_sequence", "15\n");
  rdma.write(port + "hw_counters/lifespan", "12\n");
  const auto after = read_nic_counts({nic}, Instant{3s}, devices.path(), rdma.path());
  measure::AgentMeasurements measurements;
  measurements.nics.resize(1);
  add_nic_counts(before, after, measurements);
  EXPECT_THAT(measurements.nics[0].device_counters,
              testing::ElementsAre(measure::CounterRise{"out_of_sequence", 5}));
  EXPECT_EQ(measurements.nics[0].counters_span, Duration{2s});
}

}  // namespace
}  // namespace rehearsal::agent

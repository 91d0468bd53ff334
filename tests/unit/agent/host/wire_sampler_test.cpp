#include "agent/host/wire_sampler.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "agent/host/nic_counters.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

using namespace std::chrono_literals;

class WireSamplerTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / file).parent_path());
    std::ofstream(folder_.path() / file) << text;
  }
  void count(std::uint64_t sent) {
    write("net/eth2/statistics/tx_bytes", std::to_string(sent) + "\n");
    write("net/eth2/statistics/rx_bytes", "7\n");
  }
  KernelFolders folders() const {
    return {.network = folder_.path() / "net", .rdma = folder_.path() / "rdma"};
  }
  static plan::Nic nic(bool rdma) {
    plan::Nic nic{.name = "eth2", .address = "10.0.0.1", .line_rate = {}};
    if (rdma) nic.rdma = plan::RdmaPort{.device = "mlx5_0", .gids = {}};
    return nic;
  }

  test::TemporaryFolder folder_;
};

TEST_F(WireSamplerTest, TakesTheCountersThatSeeTheTransport) {
  EXPECT_FALSE(find_wire_counters(nic(true), plan::TransportKind::rdma, folders()));
  count(5);
  const auto interface = find_wire_counters(nic(true), plan::TransportKind::rdma, folders());
  ASSERT_TRUE(interface);
  EXPECT_EQ(interface->sent.name(), "tx_bytes") << "the port has none";
  const std::string port = "rdma/mlx5_0/ports/1/";
  write(port + "hw_counters/sent_bytes", "1\n");
  write(port + "hw_counters/rcvd_bytes", "1\n");
  EXPECT_EQ(find_wire_counters(nic(true), plan::TransportKind::rdma, folders())->sent.name(),
            "sent_bytes");
  write(port + "counters/port_xmit_data", "1\n");
  write(port + "counters/port_rcv_data", "1\n");
  const auto words = find_wire_counters(nic(true), plan::TransportKind::rdma, folders());
  EXPECT_EQ(words->sent.name(), "port_xmit_data");
  EXPECT_EQ(words->sent.unit, 4U);
  EXPECT_EQ(find_wire_counters(nic(true), plan::TransportKind::tcp, folders())->sent.name(),
            "tx_bytes");
}

TEST_F(WireSamplerTest, WhatACounterRoseByIsInItsSeries) {
  count(1000);
  auto sampler = WireSampler::start(
      {std::nullopt, find_wire_counters(nic(false), plan::TransportKind::tcp, folders())});
  for (std::uint64_t sent = 1100; sent <= 2000; sent += 100) {
    // In place, as the kernel does: who reads never sees less than a whole number.
    std::ofstream(folder_.path() / "net/eth2/statistics/tx_bytes", std::ios::in | std::ios::out)
        << sent << "\n";
  }
  const auto wire = sampler->stop();
  ASSERT_EQ(wire.size(), 2U);
  EXPECT_FALSE(wire[0]);
  ASSERT_TRUE(wire[1]);
  EXPECT_EQ(wire[1]->sent_source, "tx_bytes");
  EXPECT_EQ(wire[1]->received_source, "rx_bytes");
  EXPECT_EQ(wire[1]->sent.total(), 1000U) << "all from start to stop";
  EXPECT_EQ(wire[1]->received.total(), 0U);
  EXPECT_GE(wire[1]->sent.bin, Duration{1ms});
}

// The files of a port as mlx5 shows them: counters of the InfiniBand architecture, data in words of
// four bytes, beside hardware counters that count packets only.
TEST_F(WireSamplerTest, WordsOfAPortBecomeBytes) {
  count(5);
  const std::string port = "rdma/mlx5_0/ports/1/";
  for (const char* file :
       {"port_xmit_packets", "port_rcv_packets", "unicast_xmit_packets", "port_xmit_wait",
        "symbol_error", "link_downed", "port_rcv_errors", "VL15_dropped"})
    write(port + "counters/" + file, "0\n");
  for (const char* file : {"out_of_sequence", "packet_seq_err", "np_cnp_sent", "lifespan"})
    write(port + "hw_counters/" + file, "10\n");
  // Over 2^32, as on a port that is up for a while.
  write(port + "counters/port_xmit_data", "1099511627776\n");
  write(port + "counters/port_rcv_data", "2199023255552\n");
  auto sampler =
      WireSampler::start({find_wire_counters(nic(true), plan::TransportKind::rdma, folders())});
  std::ofstream(folder_.path() / port / "counters/port_xmit_data", std::ios::in | std::ios::out)
      << "1099511628776\n";
  std::ofstream(folder_.path() / port / "counters/port_rcv_data", std::ios::in | std::ios::out)
      << "2199023255553\n";
  const auto wire = sampler->stop();
  ASSERT_TRUE(wire.at(0));
  EXPECT_EQ(wire[0]->sent_source, "port_xmit_data");
  EXPECT_EQ(wire[0]->received_source, "port_rcv_data");
  EXPECT_EQ(wire[0]->sent.total(), 4000U);
  EXPECT_EQ(wire[0]->received.total(), 4U);
}

TEST_F(WireSamplerTest, CountersOfADeviceAreGivenAsItCountsThem) {
  count(5);
  const std::string port = "rdma/mlx5_0/ports/1/";
  write(port + "counters/port_xmit_data", "100\n");
  write(port + "hw_counters/out_of_sequence", "3\n");
  write(port + "hw_counters/lifespan", "10\n");
  const auto read = [&] {
    return read_nic_counts({nic(true)}, Instant{1s}, folders().network, folders().rdma);
  };
  const NicCounts before = read();
  write(port + "counters/port_xmit_data", "350\n");
  write(port + "hw_counters/lifespan", "12\n");
  measure::AgentMeasurements measurements;
  measurements.nics = {{.nic = NicIndex{0}}};
  add_nic_counts(before, read(), measurements);
  ASSERT_EQ(measurements.nics[0].device_counters.size(), 1U) << "what stood still is left out";
  EXPECT_EQ(measurements.nics[0].device_counters[0].name, "port_xmit_data");
  EXPECT_EQ(measurements.nics[0].device_counters[0].rise, 250U) << "words, as the name says";
}

TEST_F(WireSamplerTest, WithNothingToReadThereIsNothing) {
  EXPECT_FALSE(WireSampler::start({std::nullopt})->stop()[0]);
  EXPECT_TRUE(WireSampler::start({})->stop().empty());
}

TEST_F(WireSamplerTest, GoesBesideTheFiguresOfItsNic) {
  measure::AgentMeasurements measurements;
  measurements.nics = {{.nic = NicIndex{1}}, {.nic = NicIndex{0}}};
  std::vector<std::optional<measure::WireMeasurements>> wire(2);
  wire[1] = measure::WireMeasurements{.sent_source = "tx_bytes"};
  add_wire(std::move(wire), measurements);
  EXPECT_EQ(measurements.nics[0].wire->sent_source, "tx_bytes");
  EXPECT_FALSE(measurements.nics[1].wire);
}

}  // namespace
}  // namespace rehearsal::agent

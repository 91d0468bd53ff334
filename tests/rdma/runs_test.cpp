// The real programs over Soft-RoCE: runs that pass.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/rdma/rdma_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Runs : public RdmaCluster {};

void expect_bytes_as_planned(const json& report) {
  const json& job = report["jobs"][0];
  EXPECT_EQ(job["ops"]["completed"], job["ops"]["planned"]);
  EXPECT_GT(job["bytes"]["planned"], 0);
  EXPECT_EQ(job["bytes"]["sent"], job["bytes"]["planned"]);
  EXPECT_EQ(job["bytes"]["received"], job["bytes"]["planned"]);
  EXPECT_EQ(report["transport"]["kind"], "rdma");
  EXPECT_EQ(report["transport"]["byte_source"], "completed");
}

TEST_F(Runs, WhoReachesWhomIsTriedOverQueuePairs) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  int code = -1;
  const std::string output = rehearse({"doctor", "--reach", "--transport", "rdma"}, code);
  EXPECT_THAT(output, HasSubstr("2 of 2 ways between data NICs carry messages over rdma"));
  EXPECT_THAT(output, HasSubstr("path MTU 4096 B on all ways"));
}

TEST_F(Runs, TwoHostsPassWithTheBytesOfThePlan) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  const std::uint64_t packets = device_counter(1, "sent_pkts");
  const std::uint64_t on_wire = bytes_sent(1);
  const std::uint64_t again = retransmissions();
  const json report = pass(drill("two", 2, "1MiB", 3, "  verify_payload: true\n"));
  expect_bytes_as_planned(report);
  EXPECT_THAT(report["transport"]["bound"].dump(),
              HasSubstr("h1: rd1 port 1, GID 10.0.0.1 (RoCE v2), path MTU 4096"));
  EXPECT_THAT(report["transport"]["bound"].dump(), HasSubstr("no ECE")) << "Soft-RoCE has none";

  // A packet of RoCE v2 has Ethernet, IPv4 and UDP headers, BTH and ICRC; the first and last of a
  // message have more. Clear-to-sends and acknowledgements come on top.
  constexpr std::uint64_t kPathMtu = 4096;
  constexpr std::uint64_t kHeaders = 14 + 20 + 8 + 12 + 4;
  const std::uint64_t payload = report["nics"][0]["planned_sent_bytes"];
  const std::uint64_t data_packets = payload / kPathMtu;
  EXPECT_GE(device_counter(1, "sent_pkts") - packets, data_packets);
  EXPECT_GE(bytes_sent(1) - on_wire, payload + data_packets * kHeaders);
  // On a busy machine acknowledgements come late and packets are sent again.
  if (retransmissions() == again) {
    EXPECT_LE(bytes_sent(1) - on_wire, payload + payload / 10 + (std::uint64_t{256} << 10));
  }
}

TEST_F(Runs, BytesOnTheWireAreWatchedWhileItRuns) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  const json report = pass(drill("watched", 2, "4MiB", 5));
  const std::uint64_t payload = report["nics"][0]["sent_bytes"];
  std::size_t watched = 0;
  for (const json& burst : report["bursts"]) {
    if (burst["host"] != "h1" || burst["direction"] != "sent") continue;
    if (burst["source"] == "completed") continue;
    ++watched;
    // This kernel's devices count no bytes: their interface does.
    EXPECT_EQ(burst["source"], "counter tx_bytes");
    EXPECT_GE(burst["bin_seconds"].get<double>(), 0.001);
    EXPECT_GE(burst["bytes"].get<std::uint64_t>(), payload * 9 / 10) << "begin and end are cut off";
  }
  EXPECT_EQ(watched, 1U);
}

TEST_F(Runs, WhatAgentsReportIsShown) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  int code = -1;
  const std::string plan = rehearse({"plan", drill("shown", 2, "64KiB", 1)}, code);
  EXPECT_EQ(code, 0);
  EXPECT_THAT(plan, HasSubstr("rdma, RDMA WRITE WITH IMM, 1 queue pair a connection"));
  const std::string all = rehearse({"doctor"}, code);
  EXPECT_THAT(all, HasSubstr("h1 h1: rd1 port 1 active, GID 10.0.0.1 (RoCE v2)"));
  EXPECT_THAT(all, HasSubstr("ok   h2: libibverbs is loaded"));
  EXPECT_THAT(all, HasSubstr("ok   h2: may lock memory without limit"));
  EXPECT_THAT(all, HasSubstr("ok   h2 h2: no hardware behind it"));
  std::ofstream(folder() / "agent.yaml") << "name: here\n";
  const std::string local =
      rehearse({"doctor", "--local", "--config", folder() / "agent.yaml"}, code);
  EXPECT_THAT(local, HasSubstr("clock source"));
  EXPECT_THAT(local, HasSubstr("here h2: rd2 port 1 active")) << "NICs that nobody named are found";
  EXPECT_THAT(rehearse({"status", "--json"}, code), HasSubstr("\"device\": \"rd2\""));
  EXPECT_THAT(rehearse({"explain", "RDMA-020"}, code), HasSubstr("does not acknowledge"));
  EXPECT_EQ(code, 0);
}

TEST_F(Runs, AFaultThatTheDevicesCannotDoIsDoneInsideTheAgentAndTheReportSaysWhy) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  const json report = pass(drill("cut", 2, "256KiB", 4, "",
                                 "faults:\n"
                                 "  - name: half\n"
                                 "    what: {kind: rate, to: 50%, of: 80Mbit/s}\n"
                                 "    where: {hosts: h1, direction: sent}\n"
                                 "    when: {iteration: 1, iterations: 1, for: 60s}\n"));
  expect_bytes_as_planned(report);
  EXPECT_EQ(report["faults"][0]["mechanism"], "sender");
  EXPECT_GT(report["faults"][0]["hit"], 0);
  EXPECT_THAT(report["transport"]["notes"].dump(),
              HasSubstr("not the RDMA devices: host 'h1', NIC h1: rd1 has no limit of its own"));
  EXPECT_THAT(report["transport"]["bound"].dump(), HasSubstr("h1: rd1 port 1"));
}

TEST_F(Runs, PollingWorkersPassAsWell) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  expect_bytes_as_planned(pass(drill("polled", 2, "64KiB", 2, "  completions: poll\n")));
}

TEST_F(Runs, FourHostsPassInEveryWayOfUsingQueuePairs) {
  ASSERT_NO_FATAL_FAILURE(start(4));
  expect_bytes_as_planned(pass(drill("four", 4, "256KiB", 2, "  verify_payload: true\n")));
  expect_bytes_as_planned(pass(drill("send", 4, "256KiB", 2, "  operation: send\n")));
  expect_bytes_as_planned(
      pass(drill("split", 4, "256KiB", 2,
                 "  verify_payload: true\n  queue_pairs: 2\n  queue_pair_use: split\n")));
}

}  // namespace
}  // namespace rehearsal::test

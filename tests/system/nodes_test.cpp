// Jobs on multi-GPU nodes: what a run puts on each NIC is what `rehearse flows --per-nic` says.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/system/system_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;

class Nodes : public SystemCluster {
 protected:
  static constexpr std::uint32_t kIterations = 4;

  /// A drill of 8 ranks on four nodes of two GPUs and two rails, a node on each host.
  std::string drill_of(const std::string& name, const std::string& op,
                       const std::string& collectives) {
    std::ofstream{folder() / "two-gpus.yaml"}
        << "node: two-gpus\ngeneration: ampere\nnics:\n  - {name: a, rate: 10Gbit/s}\n"
           "  - {name: b, rate: 10Gbit/s}\ngpus: [a, b]\n";
    std::ofstream{folder() / (name + "-profile.yaml")}
        << "profile: made\nranks: 8\nstreams: [communication]\n"
           "communicators:\n  world: {ranks: 0-7}\nclasses:\n  worker:\n    ranks: all\n    ops:\n"
           "      - "
        << op << ": {name: it, communicator: world, bytes: 16MiB}\n";
    const auto path = drill(name, name + "-profile.yaml", kIterations, all_hosts(),
                            "collectives: " + collectives + "\n");
    std::ofstream{path, std::ios::app} << "    node: two-gpus.yaml\n";
    return path;
  }

  using Sent = std::map<std::pair<std::string, std::uint32_t>, std::uint64_t>;

  Sent sent_so_far() {
    Sent sent;
    for (const std::string& host : all_hosts())
      for (std::uint32_t rail = 0; rail < kRails; ++rail)
        sent[{host, rail}] = counters(host, rail).sent;
    return sent;
  }

  /// Bytes of one iteration.
  Sent planned(const std::string& path) {
    int code = -1;
    std::istringstream lines{rehearse({"flows", path, "--per-nic"}, code)};
    EXPECT_EQ(code, 0) << lines.str();
    Sent sent;
    for (std::string line; std::getline(lines, line);) {
      const json nic = json::parse(line, nullptr, false);
      if (nic.is_discarded()) continue;
      sent[{nic["host"], nic["rail"]}] = nic["sent_bytes"];
    }
    return sent;
  }

  void expect_measured_as_planned(const std::string& path) {
    const Sent plan = planned(path);
    ASSERT_EQ(plan.size(), kHosts * kRails);
    const Sent before = sent_so_far();
    int code = -1;
    const std::string output = rehearse({"run", path, "--out", folder() / "out"}, code);
    ASSERT_EQ(code, 0) << output;
    EXPECT_EQ(summary(folder() / "out")["verdict"], "pass");
    std::uint64_t in_all = 0;
    for (const auto& [nic, after] : sent_so_far()) {
      const std::uint64_t sent = after - before.at(nic);
      const std::uint64_t expected = plan.at(nic) * kIterations;
      in_all += expected;
      EXPECT_GE(sent, expected) << nic.first << " rail " << nic.second;
      // Headers, acknowledgements, handshakes, a few retransmissions.
      EXPECT_LE(sent, expected + expected / 10 + 300'000) << nic.first << " rail " << nic.second;
    }
    EXPECT_GT(in_all, 0U);
  }
};

TEST_F(Nodes, ARingPutsOnEachRailWhatFlowsSays) {
  expect_measured_as_planned(
      drill_of("ring", "all_reduce", "{algorithm: ring, protocol: simple, channels: 2}"));
}

TEST_F(Nodes, ATreePutsOnEachRailWhatFlowsSays) {
  expect_measured_as_planned(
      drill_of("tree", "all_reduce", "{algorithm: tree, protocol: ll128, channels: 2}"));
}

TEST_F(Nodes, AnAllToAllWithPxnPutsOnEachRailWhatFlowsSays) {
  expect_measured_as_planned(drill_of("pxn", "all_to_all", "{pxn_level: 2}"));
}

}  // namespace
}  // namespace rehearsal::test

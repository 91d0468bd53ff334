// Faults that agents do to their own messages and compute, live.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/system/system_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A rate that two busy cores can carry for all hosts at once.
constexpr const char* kShapedRate = "100mbit";
constexpr const char* kDrillRate = "100Mbit/s";

class MessageFaults : public SystemCluster {
 protected:
  /// Ring all_reduces on one rail, one channel, one slice a chunk, by appointment.
  std::filesystem::path rings(const std::string& name, std::uint32_t iterations,
                              const std::string& bytes, const std::string& more) {
    std::ofstream profile{folder() / "ring.yaml"};
    profile << "profile: ring\nranks: 2\nstreams: [compute, communication]\ncommunicators:\n  "
               "world: {ranks: 0-1}\n"
               "classes:\n  worker:\n    ranks: all\n    ops:\n"
               "      - all_reduce: {name: gradients, communicator: world, bytes: "
            << bytes << "}\n";
    const std::filesystem::path path = folder() / (name + ".yaml");
    std::ofstream drill{path};
    drill << "drill: " << name << "\niterations: " << iterations
          << "\nsynchronisation: iteration\ncollectives: {channels: 1, slices_per_chunk: 1, chunk: "
             "64KiB}\njobs:\n"
             "  - {name: hit, profile: ring.yaml, hosts: [h1, h2], nics: [rail0]}\n"
             "  - {name: alone, profile: ring.yaml, hosts: [h3, h4], nics: [rail0]}\n"
          << more;
    return path;
  }

  json run(const std::filesystem::path& drill, int expected_code = 0) {
    int code = -1;
    const std::string output = rehearse({"run", drill, "--out", folder() / "out"}, code);
    EXPECT_EQ(code, expected_code) << output;
    return summary(folder() / "out");
  }
};

TEST_F(MessageFaults, ANicAtAHalfAndAQuarterSlowsItsRingAsManyTimesAndNobodyElse) {
  if (!shape(kShapedRate)) GTEST_SKIP() << "SKIP: this kernel has no tbf";
  const json report = run(rings("rate", 12, "4MiB",
                                std::string(R"(faults:
  - name: cut
    what: {kind: rate, to: [50%, 25%], of: )") +
                                    kDrillRate + R"(}
    where: {hosts: h2, nics: rail0}
    when: {iteration: 4, iterations: 8, for: 2min}
)"));
  const double healthy = median("hit", 1, 4);
  EXPECT_NEAR(median("hit", 5, 8) / healthy, 2, 0.3);
  EXPECT_NEAR(median("hit", 9, 12) / healthy, 4, 0.6);
  EXPECT_NEAR(median("alone", 4, 12) / median("alone", 1, 4), 1, 0.15);
  ASSERT_EQ(report["faults"].size(), 1U);
  const json& fault = report["faults"][0];
  ASSERT_EQ(fault["spells"].size(), 2U);
  EXPECT_EQ(fault["spells"][0]["host"], "h2");
  EXPECT_GT(fault["spells"][0]["began_seconds"].get<double>(), 0);
  EXPECT_LE(fault["spells"][0]["ended_seconds"].get<double>(),
            fault["spells"][1]["began_seconds"].get<double>());
  EXPECT_GT(fault["hit"].get<int>(), 0);
}

TEST_F(MessageFaults, ADelayOfEachMessageAddsOneForEachStepOfTheRing) {
  run(rings("delay", 10, "64KiB", R"(faults:
  - name: late
    what: {kind: delay, by: 50ms}
    where: {hosts: "h[1-2]", direction: sent}
    when: {iteration: 4, iterations: 6, for: 1min}
)"));
  const double added = median("hit", 5, 10) - median("hit", 1, 4);
  EXPECT_NEAR(added, 2 * 1 * 0.050, 0.010);
  EXPECT_LT(median("alone", 4, 10), 0.050);
}

TEST_F(MessageFaults, LostMessagesComeLateAndAllBytesArrive) {
  const json report = run(rings("loss", 20, "4MiB", R"(faults:
  - name: worn
    what: {kind: loss, share: 5%, retransmission: 30ms}
    where: {hosts: "h[1-2]", direction: sent}
    when: {iteration: 10, iterations: 10, for: 2min}
)"));
  EXPECT_EQ(report["jobs"][0]["bytes"]["received"], report["jobs"][0]["bytes"]["planned"]);
  const double messages = report["faults"][0]["messages"].get<double>();
  const double hit = report["faults"][0]["hit"].get<double>();
  EXPECT_GE(messages, 1000);
  EXPECT_NEAR(hit, messages * 0.05, 4 * std::sqrt(messages * 0.05 * 0.95));
  EXPECT_GT(median("hit", 10, 20), median("hit", 1, 10) + 0.030);
}

TEST_F(MessageFaults, AnAgentThatAFaultCrashesIsNamedWithIt) {
  const json report = run(rings("crash", 1000, "64KiB", R"(faults:
  - name: power-cut
    what: {kind: crash}
    where: {hosts: h2}
    when: {iteration: 3}
)"),
                          3);
  EXPECT_EQ(report["stop"], "agent_lost");
  for (const json& agent : report["agents"]) {
    if (agent["host"] != "h2") continue;
    EXPECT_THAT(agent["lost"].get<std::string>(), HasSubstr("fault 'power-cut' of the plan"));
  }
}

TEST_F(MessageFaults, AnIncastSlowsTheRingOfTheHostThatItIsAimedAtAndIsCountedApart) {
  if (!shape(kShapedRate)) GTEST_SKIP() << "SKIP: this kernel has no tbf";
  const json report = run(rings("incast", 18, "2MiB", R"(faults:
  - name: jam
    what: {kind: incast, message: 64KiB}
    where: {hosts: h1, nics: rail0, peers: "h[3-4]"}
    when: {iteration: 5, iterations: 6, for: 1min}
)"));
  // h1 receives from three hosts what its link carries; its ring wants a part of that.
  const double healthy = median("hit", 1, 5);
  EXPECT_GT(median("hit", 6, 11) / healthy, 1.4);
  EXPECT_LT(median("hit", 14, 18) / healthy, 1.3) << "it recovers";
  EXPECT_LT(median("alone", 6, 11) / median("alone", 1, 5), 1.3);

  EXPECT_EQ(report["verdict"], "pass");
  for (const json& job : report["jobs"])
    EXPECT_EQ(job["bytes"]["received"], job["bytes"]["planned"]);
  const json& fault = report["faults"][0];
  EXPECT_EQ(fault["kind"], "incast");
  EXPECT_EQ(fault["spells"].size(), 2U) << "on both hosts that send";
  const auto sent = fault["background_sent_bytes"].get<std::uint64_t>();
  EXPECT_GT(sent, 1U << 20);
  EXPECT_LE(fault["background_received_bytes"].get<std::uint64_t>(), sent);
  for (const json& nic : report["nics"]) {
    EXPECT_EQ(nic["sent_bytes"], nic["planned_sent_bytes"]) << nic.dump();
    EXPECT_EQ(nic["received_bytes"], nic["planned_received_bytes"]) << nic.dump();
    if (nic["host"] != "h1" || nic["nic"] != "rail0") continue;
    EXPECT_GT(nic["background_received_bytes"].get<std::uint64_t>(), 1U << 20);
  }
}

TEST_F(MessageFaults, StopSilencesBackgroundTrafficToo) {
  Program run = rehearse({"run", rings("long", 100'000, "64KiB", R"(faults:
  - name: flood
    what: {kind: background}
    where: {hosts: h4}
    when: {after: 0s, for: 10min}
)"),
                          "--out", folder() / "out"});
  EXPECT_TRUE(run.wait_for_output("running ")) << run.output();
  const std::uint64_t before = counters("h4", 1).sent;
  const Instant begun = now();
  // Rail 1 has no rank: nothing is sent there but by mistake; rail 0 has the flood.
  while (counters("h4", 0).received < (16U << 20))
    ASSERT_LT(now() - begun, kPatience) << "no flood";
  EXPECT_LT(counters("h4", 1).sent - before, 100'000U);
  const Instant asked = now();
  Program stop = rehearse({"stop"});
  while (sent_within(std::chrono::milliseconds{100}) > 100'000U)
    ASSERT_LT(now() - asked, std::chrono::milliseconds{1500}) << "agents still send";
  EXPECT_EQ(stop.wait(), 0);
  EXPECT_EQ(run.wait(), 3);
}

TEST_F(MessageFaults, WhatCannotBeIsRefusedBeforeAnythingStarts) {
  const std::uint64_t before = sent_by_all();
  for (const auto& [fault, reason] : std::map<std::string, std::string>{
           {"what: {kind: blackhole}, where: {hosts: h1}, when: {iteration: 1}", "no deadline"},
           {"what: {kind: blackhole}, where: {hosts: h9}, when: {iteration: 1, for: 1s}", "h9"},
           {"what: {kind: incast}, where: {hosts: h1, peers: h9}, when: {iteration: 1, for: 1s}",
            "hosts of the run only"},
           {"what: {kind: link_down}, where: {hosts: h1}, when: {iteration: 1, for: 1s}",
            "a blackhole of a NIC"}}) {
    int code = -1;
    const std::string output = rehearse(
        {"run", rings("refused", 10, "64KiB", "faults:\n  - {name: f, " + fault + "}\n")}, code);
    EXPECT_NE(code, 0);
    EXPECT_THAT(output, HasSubstr(reason));
  }
  EXPECT_LT(sent_by_all() - before, 10'000U);
}

}  // namespace
}  // namespace rehearsal::test

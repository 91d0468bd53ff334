// What `rehearse` prints without a cluster, to the letter.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/system/program.hpp"

namespace rehearsal::test {
namespace {

constexpr const char* kProfile = R"(profile: small
ranks: 4
streams: [compute, communication]
communicators:
  world: {ranks: 0-3}
classes:
  all:
    ranks: all
    ops:
      - compute: {name: forward, duration: 1ms}
      - all_reduce: {name: gradients, communicator: world, bytes: 64KiB}
)";

constexpr const char* kDrill = R"(drill: small
jobs:
  - {name: small, profile: small.yaml, hosts: [h1, h2]}
iterations: 3
faults:
  - name: jam
    what: {kind: incast, rate: [1Gbit/s, 2Gbit/s]}
    where: {hosts: h1}
    when: {iteration: 1, iterations: 2, for: 1min}
)";

constexpr const char* kDrillOnNodes = R"(drill: nodes
jobs:
  - {name: small, profile: small.yaml, hosts: [h1, h2], node: h100, ranks_per_node: 2}
)";

class Output : public testing::Test {
 protected:
  void SetUp() override {
    write("small.yaml", kProfile);
    write("drill.yaml", kDrill);
    write("nodes.yaml", kDrillOnNodes);
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream{folder_.path() / name} << text;
  }
  void expect(const std::string& golden, std::vector<std::string> arguments,
              const std::string& drill = "drill.yaml") {
    std::vector<std::string> command = {programs() / "rehearse"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.push_back("--without-cluster");
    command.push_back(folder_.path() / drill);
    Program program{command, folder_.path() / golden.substr(golden.rfind('/') + 1)};
    EXPECT_EQ(program.wait(), 0) << program.output();
    expect_golden(golden, program.output());
  }

  TemporaryFolder folder_;
};

TEST_F(Output, FlowsOfAnIterationAsJsonLines) { expect("cli/flows.jsonl", {"flows"}); }

TEST_F(Output, FlowsOnTheWireAsCsv) {
  expect("cli/flows_on_wire.csv", {"flows", "--on-wire", "--format", "csv"});
}

TEST_F(Output, FlowsPerNic) {
  expect("cli/flows_per_nic.csv", {"flows", "--per-nic", "--format", "csv"});
}

TEST_F(Output, FlowsBesideTheJob) {
  expect("cli/flows_background.jsonl", {"flows", "--background"});
}

TEST_F(Output, APlanWithAnIncast) { expect("cli/plan.txt", {"plan"}); }

TEST_F(Output, WhatAPlanIsExplainedBy) {
  expect("cli/plan_explain.txt", {"plan", "--explain"}, "nodes.yaml");
}

}  // namespace
}  // namespace rehearsal::test

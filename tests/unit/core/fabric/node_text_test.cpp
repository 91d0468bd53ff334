#include "core/fabric/node_text.hpp"

#include <gtest/gtest.h>

#include "core/fabric/read.hpp"

namespace rehearsal::fabric {
namespace {

constexpr std::uint64_t kGigabit = 1'000'000'000;

std::string refusal(std::string_view text) {
  const auto node = read_node_text(text, "node.yaml");
  return node ? "was read" : node.error().text();
}

TEST(NodeText, LikeAUsualNode) {
  const auto node = read_node("node: dgx-1\nlike: h100\n", "node.yaml");
  ASSERT_TRUE(node) << node.error().text();
  Node expected = *usual_node("h100");
  expected.name = "dgx-1";
  EXPECT_EQ(*node, expected);
}

TEST(NodeText, EveryKey) {
  const auto node = read_node(R"(
node: two-sockets
generation: ampere
cpu: amd
inside: {kind: nvlink, bandwidth: 800Gbit/s, latency: 2us}
pcie: 128Gbit/s
nics:
  - {name: eth2, rate: 100Gbit/s, latency: 35us}
  - {name: eth3}
gpus:
  - eth2
  - {nic: eth2, path: phb}
  - {nic: eth3, path: pxb}
)",
                              "node.yaml");
  ASSERT_TRUE(node) << node.error().text();
  EXPECT_EQ(node->name, "two-sockets");
  EXPECT_EQ(node->generation, Generation::ampere);
  EXPECT_EQ(node->cpu, CpuVendor::amd);
  EXPECT_EQ(node->inside, Inside::nvlink);
  EXPECT_EQ(node->inside_bandwidth, BitRate{800 * kGigabit});
  EXPECT_EQ(node->inside_latency, Duration{2'000});
  EXPECT_EQ(node->pcie, BitRate{128 * kGigabit});
  EXPECT_EQ(node->nics, (std::vector<Nic>{{"eth2", BitRate{100 * kGigabit}, Duration{35'000}},
                                          {"eth3", BitRate{200 * kGigabit}, Duration{0}}}));
  EXPECT_EQ(node->gpus, (std::vector<Gpu>{{0, Path::pix}, {0, Path::phb}, {1, Path::pxb}}));
}

TEST(NodeText, WhatIsLeftOutFollowsTheGeneration) {
  const auto pcie = read_node(
      "node: n\ngeneration: hopper\ninside: {kind: pcie}\nnics: [{name: a}]\ngpus: [a, a]\n", "n");
  ASSERT_TRUE(pcie) << pcie.error().text();
  EXPECT_EQ(pcie->inside_bandwidth, pcie->pcie);
  EXPECT_EQ(pcie->inside_latency, usual_latency(Inside::pcie));
  const auto older = read_node("node: n\nlike: h100\ngeneration: ampere\n", "n");
  ASSERT_TRUE(older) << older.error().text();
  EXPECT_EQ(older->nics[0].rate, BitRate{200 * kGigabit});
  EXPECT_EQ(older->inside_bandwidth, BitRate{2400 * kGigabit});
}

TEST(NodeText, WrongFilesSayWhere) {
  EXPECT_EQ(refusal("node: n\nlike: dgx\n"),
            "node.yaml:2:7: like: 'dgx' is unknown; expected one of a100, h100, h200, b200");
  EXPECT_NE(refusal("node: n\n").find("generation is missing"), std::string::npos);
  EXPECT_NE(refusal("node: n\ngeneration: hopper\n").find("nics is missing"), std::string::npos);
  EXPECT_EQ(refusal("node: n\nlike: h100\ngpus: [rail9]\n"),
            "node.yaml:3:8: gpus[0]: there is no NIC 'rail9'; expected one of rail0, rail1, rail2, "
            "rail3, rail4, rail5, rail6, rail7");
  EXPECT_NE(refusal("node: n\nlike: h100\nnics: [{name: a}]\n").find("GPU 1 uses NIC number 1"),
            std::string::npos)
      << refusal("node: n\nlike: h100\nnics: [{name: a}]\n");
  EXPECT_NE(refusal("node: n\nlike: h100\nnics: [{name: a}, {name: a}]\n"), "was read");
  EXPECT_NE(refusal("node: n\nlike: h100\npcie: 0Gbit/s\n").find("is zero"), std::string::npos);
  EXPECT_NE(refusal("node: n\nlike: h100\ninside: {latency: 2s}\n").find("at most 1s"),
            std::string::npos);
  EXPECT_NE(refusal("node: two words\nlike: h100\n").find("is no name"), std::string::npos);
  EXPECT_NE(refusal("node: n\nlike: h100\ncolour: red\n"), "was read");
}

}  // namespace
}  // namespace rehearsal::fabric

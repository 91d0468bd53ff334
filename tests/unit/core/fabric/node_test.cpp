#include "core/fabric/node.hpp"

#include <gtest/gtest.h>

namespace rehearsal::fabric {
namespace {

constexpr std::uint64_t kGigabyte = 8'000'000'000;  // bits

// NVIDIA's data sheets and user guides of DGX A100, H100, H200, B200: NVLink 600, 900, 900 and 1800
// GB/s in both directions together; 8 × 200 and 8 × 400 Gb/s.
TEST(Node, UsualNodesHaveTheirDocumentedFigures) {
  struct Row {
    std::string_view name;
    Generation generation;
    std::uint64_t gigabytes;
    std::uint64_t nic_gigabits;
  };
  for (const Row& row :
       {Row{"a100", Generation::ampere, 300, 200}, Row{"h100", Generation::hopper, 450, 400},
        Row{"h200", Generation::hopper, 450, 400}, Row{"b200", Generation::blackwell, 900, 400}}) {
    const auto node = usual_node(row.name);
    ASSERT_TRUE(node) << row.name;
    EXPECT_TRUE(check(*node)) << check(*node).error().text();
    EXPECT_EQ(node->name, row.name);
    EXPECT_EQ(node->generation, row.generation);
    EXPECT_EQ(node->inside_bandwidth, BitRate{row.gigabytes * kGigabyte});
    EXPECT_EQ(node->gpus.size(), 8U);
    EXPECT_EQ(node->rails(), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    for (const Nic& nic : node->nics) {
      EXPECT_EQ(nic.rate, BitRate{row.nic_gigabits * 1'000'000'000});
    }
    EXPECT_TRUE(node->assumed.empty());
  }
  EXPECT_EQ(usual_nodes().size(), 4U);
  EXPECT_FALSE(usual_node("mi300"));
}

TEST(Node, RailsAreTheNicsThatSomeGpuUses) {
  Node node = *usual_node("h100");
  node.gpus.resize(3);
  node.gpus[0].nic = 5;
  node.gpus[1].nic = 2;
  node.gpus[2].nic = 5;
  EXPECT_EQ(node.rails(), (std::vector<std::uint32_t>{2, 5}));
}

TEST(Node, WhatIsNotWholeIsNamed) {
  const auto problem = [](const auto& change) {
    Node node = *usual_node("h100");
    change(node);
    const auto whole = check(node);
    return whole ? std::string() : whole.error().text();
  };
  EXPECT_EQ(problem([](Node&) {}), "");
  EXPECT_EQ(problem([](Node& node) { node.gpus[3].nic = 8; }),
            "node 'h100': GPU 3 uses NIC number 8; expected one of the 8 NICs, counted from 0");
  EXPECT_EQ(problem([](Node& node) { node.nics[1].name = "rail0"; }),
            "node 'h100': two NICs are called 'rail0'; expected a name of its own for each");
  EXPECT_NE(problem([](Node& node) { node.gpus.clear(); }), "");
  EXPECT_NE(problem([](Node& node) { node.gpus.resize(65); }), "");
  EXPECT_NE(problem([](Node& node) { node.nics.clear(); }), "");
  EXPECT_NE(problem([](Node& node) { node.nics[0].rate = BitRate{}; }), "");
  EXPECT_NE(problem([](Node& node) { node.pcie = BitRate{}; }), "");
}

}  // namespace
}  // namespace rehearsal::fabric

#include "core/collective/system.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "core/collective/cost_model.hpp"

namespace rehearsal::collective {

void PrintTo(const Graph& graph, std::ostream* out) {
  *out << graph.channels << " x " << graph.inside << "/" << graph.between;
}

namespace {

// NVIDIA/nccl#1197, one node of 8 H100: "Pattern 4, crossNic 0, nChannels 12, bw 30/30", "Pattern 1
// … nChannels 12, bw 30/30", "Pattern 5 … nChannels 8, bw 40/60"; "24 coll channels, 16 nvls
// channels".
TEST(System, GraphsOfOneNodeOfH100) {
  const System system = {.generation = Generation::hopper, .graphs = {}};
  const Graphs graphs = derive_graphs(system);
  EXPECT_EQ(graphs.ring, (Graph{12, 30, 30}));
  EXPECT_EQ(graphs.tree, (Graph{12, 30, 30}));
  EXPECT_EQ(graphs.nvls, (Graph{8, 40, 60}));
  EXPECT_FALSE(graphs.plain_tree);
  EXPECT_EQ(channels(system, graphs), 24U);
  EXPECT_EQ(nvls_channels(system), 16U);
}

// Public log of two nodes of 8 Hopper GPUs with 8 NICs of 400 Gbit/s: "Pattern 4, crossNic 2,
// nChannels 8, bw 48/48, type NVL/PIX"; "16 coll channels, 16 nvls channels".
TEST(System, GraphsOfTwoNodesWithEightRails) {
  const System system = {.generation = Generation::hopper, .nodes = 2, .ranks = 16, .graphs = {}};
  const Graphs graphs = derive_graphs(system);
  EXPECT_EQ(graphs.ring, (Graph{8, 48, 48}));
  EXPECT_EQ(channels(system, graphs), 16U);
  EXPECT_TRUE(graphs.plain_tree);
  EXPECT_FALSE(graphs.same_channels);
  EXPECT_EQ(graphs.nvls.channels, 8U);
}

// NVIDIA/nccl#1154: nodes of 8 H800 (8 NVLinks) with 8 NICs of 400 Gbit/s print 68.8 GB/s for the
// tree with Simple: 8 × 22 GB/s, of it 0.92, 0.85 for a plain tree, and half.
TEST(System, TheTreeOfH800) {
  const System system = {.generation = Generation::hopper,
                         .nodes = 2,
                         .ranks = 16,
                         .gpu_bandwidth = 8 * 20.6,
                         .graphs = {}};
  const Graphs graphs = derive_graphs(system);
  EXPECT_EQ(graphs.ring, (Graph{8, 22.5, 22.5})) << "four channels of 45, split";
  EXPECT_EQ(graphs.tree, (Graph{8, 22, 22}));
  const auto found =
      cost(profile::OpKind::all_reduce, Algorithm::tree, Protocol::simple, system, graphs);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->bandwidth, 68.8, 0.05);
}

// A100: 12 NVLinks of 20 GB/s; 24 channels on one node, 16 over 8 NICs of 200 Gbit/s (PCIe 4: 24).
TEST(System, GraphsOfA100) {
  System system = {.generation = Generation::ampere,
                   .gpu_bandwidth = 240,
                   .nic_bandwidth = 24,
                   .multicast = false,
                   .graphs = {}};
  EXPECT_EQ(derive_graphs(system).ring, (Graph{12, 20, 20}));
  EXPECT_EQ(derive_graphs(system).nvls, Graph{});
  EXPECT_EQ(channels(system, derive_graphs(system)), 24U);
  system.nodes = 4;
  system.ranks = 32;
  EXPECT_EQ(derive_graphs(system).ring, (Graph{8, 24, 24}));
  EXPECT_EQ(channels(system, derive_graphs(system)), 16U);
}

TEST(System, GraphsOfB200) {
  System system = {.generation = Generation::blackwell, .gpu_bandwidth = 18 * 40.1, .graphs = {}};
  EXPECT_EQ(derive_graphs(system).ring, (Graph{16, 45, 45}));
  EXPECT_EQ(derive_graphs(system).nvls.inside, 80);
  EXPECT_EQ(nvls_channels(system), 24U);
  system.nodes = 2;
  system.ranks = 16;
  EXPECT_EQ(derive_graphs(system).ring, (Graph{8, 48, 48}));
  EXPECT_EQ(nvls_channels(system), 32U);
}

// One GPU a node has its NIC alone; what is inside the node does not matter.
TEST(System, GraphsOfOneRankANode) {
  const System system = {
      .generation = Generation::hopper, .nodes = 16, .ranks = 16, .nics = 1, .graphs = {}};
  const Graphs graphs = derive_graphs(system);
  EXPECT_EQ(graphs.ring, (Graph{2, 24, 24}));
  EXPECT_TRUE(graphs.plain_tree);
  EXPECT_TRUE(graphs.same_channels);
  EXPECT_EQ(channels(system, graphs), 4U);
}

TEST(System, WhatNcclCountsOfDocumentedRates) {
  const auto gbit = [](std::uint64_t count) { return BitRate{count * 1'000'000'000}; };
  const auto gpu = [&](Generation generation, std::uint64_t count) {
    return counted_gpu_bandwidth(generation, Inside::nvswitch, gbit(count));
  };
  EXPECT_DOUBLE_EQ(gpu(Generation::ampere, 2400), 12 * 20.0);
  EXPECT_DOUBLE_EQ(gpu(Generation::hopper, 3600), 18 * 20.6) << "\"totalBw 370.8\"";
  EXPECT_DOUBLE_EQ(gpu(Generation::blackwell, 7200), 18 * 40.1);
  EXPECT_DOUBLE_EQ(counted_gpu_bandwidth(Generation::ampere, Inside::pcie, gbit(256)), 24);
  EXPECT_DOUBLE_EQ(counted_nic_bandwidth(gbit(400), gbit(512)), 48) << "\"maxBw 48.0\"";
  EXPECT_DOUBLE_EQ(counted_nic_bandwidth(gbit(200), gbit(256)), 24);
  EXPECT_DOUBLE_EQ(counted_nic_bandwidth(gbit(100), gbit(512)), 12.5);
}

TEST(System, ASlowNetworkStillHasAChannel) {
  const System system = {.nodes = 2, .ranks = 16, .nics = 1, .nic_bandwidth = 0.1, .graphs = {}};
  const Graphs graphs = derive_graphs(system);
  EXPECT_EQ(graphs.ring.channels, 1U);
  EXPECT_GT(graphs.ring.between, 0);
}

}  // namespace
}  // namespace rehearsal::collective

#include "core/collective/cost_model.hpp"

#include <gtest/gtest.h>

namespace rehearsal::collective {
namespace {

using profile::OpKind;

void expect(const System& system, const Graphs& graphs, OpKind kind, Algorithm algorithm,
            Protocol protocol, double latency_us, double bandwidth) {
  const auto found = cost(kind, algorithm, protocol, system, graphs);
  ASSERT_TRUE(found);
  // The tables print one decimal place.
  EXPECT_NEAR(found->latency_us, latency_us, 0.051)
      << to_string(algorithm) << "/" << to_string(protocol);
  EXPECT_NEAR(found->bandwidth, bandwidth, 0.051)
      << to_string(algorithm) << "/" << to_string(protocol);
}

// The whole table that NCCL 2.29.7 printed for two nodes with one GPU each over sockets (public log
// of an RTX 5090). LL128, which its path rules out, prints 0.0 there and is left out here.
TEST(CostModel, TheTableOfTwoRanksOverSockets) {
  const System system = {.generation = Generation::blackwell,
                         .nodes = 2,
                         .ranks = 2,
                         .inside = Inside::pcie,
                         .between_gpus = PathKind::phb,
                         .graphs = {}};
  const Graphs graphs = {
      .ring = {2, 1.2, 1.2}, .tree = {2, 2.4, 1.2}, .nvls = {}, .plain_tree = true};
  const auto ring = Algorithm::ring;
  const auto tree = Algorithm::tree;
  for (const OpKind kind : {OpKind::broadcast, OpKind::reduce}) {
    expect(system, graphs, kind, ring, Protocol::ll, 9.3, 1.2);
    expect(system, graphs, kind, ring, Protocol::simple, 22.4, 2.4);
  }
  for (const OpKind kind : {OpKind::all_gather, OpKind::reduce_scatter}) {
    expect(system, graphs, kind, ring, Protocol::ll, 11.6, 2.4);
    expect(system, graphs, kind, ring, Protocol::simple, 22.4, 4.8);
    expect(system, graphs, kind, Algorithm::pat, Protocol::simple, 17.6, 3.6);
  }
  expect(system, graphs, OpKind::all_reduce, tree, Protocol::ll, 16.8, 0.5);
  expect(system, graphs, OpKind::all_reduce, tree, Protocol::simple, 36.4, 1.9);
  expect(system, graphs, OpKind::all_reduce, ring, Protocol::ll, 16.6, 1.2);
  expect(system, graphs, OpKind::all_reduce, ring, Protocol::simple, 36.4, 2.4);
}

// Two nodes of 8 A100 with 12 channels of 20 GB/s and AMD CPUs, worked by hand from the formula:
// ring Simple 8.4 + (30 - 2)·max(3.4, 3·2) + 2·14, 240·16/30; LL 6.6 + 28·max(0.6, 2) + 2·2.7 and
// the cap of 22.5; LL128 14 + 28·2 + 2·4 and 0.92 of 240; tree Simple 8.4 + 2·(7·4 + 14) and
// 0.92·240/2, LL 6.8 + 2·(7·0.6 + 5) and 0.92·240/3.8 capped at 22.5, LL128 14 + 2·(7·1.25 + 8.5)
// and ·120/128.
TEST(CostModel, TwoNodesOfA100ByHand) {
  const System system = {.generation = Generation::ampere,
                         .cpu = CpuVendor::amd,
                         .nodes = 2,
                         .ranks = 16,
                         .graphs = {}};
  const Graphs graphs = {.ring = {12, 20, 20}, .tree = {12, 20, 20}, .nvls = {}};
  const OpKind kind = OpKind::all_reduce;
  expect(system, graphs, kind, Algorithm::ring, Protocol::simple, 204.4, 128.0);
  expect(system, graphs, kind, Algorithm::ring, Protocol::ll, 68.0, 12.0);
  expect(system, graphs, kind, Algorithm::ring, Protocol::ll128, 78.0, 117.76);
  expect(system, graphs, kind, Algorithm::tree, Protocol::simple, 92.4, 110.4);
  expect(system, graphs, kind, Algorithm::tree, Protocol::ll, 25.2, 11.25);
  expect(system, graphs, kind, Algorithm::tree, Protocol::ll128, 48.5, 103.5);
}

// One node of 8 H100 by hand: NVLS 8 heads of 40 GB/s, 0.85 of 7/8 of it, twice for all_reduce,
// 8/14.
TEST(CostModel, NvlsOfOneNodeByHand) {
  const System system = {.nodes = 1, .ranks = 8, .graphs = {}};
  const Graphs graphs = {.ring = {12, 30, 30}, .tree = {12, 30, 30}, .nvls = {8, 40, 60}};
  expect(system, graphs, OpKind::all_reduce, Algorithm::nvls, Protocol::simple, 25.0, 272.0);
  expect(system, graphs, OpKind::all_reduce, Algorithm::ring, Protocol::simple, 56.0, 205.7);
  expect(system, graphs, OpKind::all_reduce, Algorithm::ring, Protocol::ll, 15.0, 80.6);
  expect(system, graphs, OpKind::all_gather, Algorithm::nvls, Protocol::simple, 25.0, 208.25);
  EXPECT_FALSE(cost(OpKind::all_reduce, Algorithm::nvls, Protocol::ll, system, graphs));
  EXPECT_FALSE(cost(OpKind::broadcast, Algorithm::tree, Protocol::ll, system, graphs));
}

// src/graph/tuning.cc treeCorrectionFactor and the plateau of rings.
TEST(CostModel, TimesOfSizes) {
  const System system = {.nodes = 2, .ranks = 16, .graphs = {}};
  const Cost flat = {10, 1};  // 1 GB/s: 1000 B a microsecond
  const auto time = [&](Algorithm algorithm, Protocol protocol, std::uint64_t bytes) {
    return time_us(flat, OpKind::all_reduce, algorithm, protocol, Bytes{bytes}, system, 16);
  };
  EXPECT_DOUBLE_EQ(time(Algorithm::tree, Protocol::ll, 0), 10);
  EXPECT_DOUBLE_EQ(time(Algorithm::tree, Protocol::ll, 1000), 11);
  EXPECT_DOUBLE_EQ(time(Algorithm::tree, Protocol::ll, 1 << 18), 10 + 262.144 / .4);
  EXPECT_DOUBLE_EQ(time(Algorithm::tree, Protocol::simple, 1 << 20), 10 + 1048.576 / .5);
  EXPECT_DOUBLE_EQ(time(Algorithm::tree, Protocol::simple, 1ULL << 29), 10 + 536870.912);
  EXPECT_DOUBLE_EQ(time(Algorithm::ring, Protocol::simple, 64 * 256 - 1), 10 + 16.383);
  EXPECT_DOUBLE_EQ(time(Algorithm::ring, Protocol::simple, 64 * 256), 14 + 16.384);
  EXPECT_DOUBLE_EQ(time(Algorithm::ring, Protocol::ll, 64 * 256), 10 + 16.384);
}

}  // namespace
}  // namespace rehearsal::collective

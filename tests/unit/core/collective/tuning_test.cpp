#include "core/collective/tuning.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>

namespace rehearsal::collective {

// For readable failures.
void PrintTo(const Choice& choice, std::ostream* out) {
  *out << to_string(choice.algorithm) << "/" << to_string(choice.protocol) << " " << choice.channels
       << " channels, chunks of " << format_bytes_exact(choice.chunk);
}

namespace {

using profile::OpKind;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

System h100(std::uint32_t nodes) {
  return {.generation = Generation::hopper,
          .cpu = CpuVendor::intel,
          .nodes = nodes,
          .ranks = 8 * nodes,
          .inside = Inside::nvswitch,
          .gpu_bandwidth = 18 * 20.6,
          .nics = 8,
          .nic_bandwidth = 48,
          .to_nic = PathKind::pix,
          .graphs = {}};
}

std::string plan_of(OpKind kind, std::uint64_t bytes, const System& system,
                    const Forced& forced = {}) {
  const auto choice = choose(kind, Bytes{bytes}, system, forced);
  if (!choice) return choice.error().text();
  return std::string(to_string(choice->algorithm)) + "/" + std::string(to_string(choice->protocol));
}

Candidate candidate(OpKind kind, std::uint64_t bytes, const System& system, Algorithm algorithm,
                    Protocol protocol, const Forced& forced = {}) {
  for (const Candidate& each : candidates(kind, Bytes{bytes}, system, forced)) {
    if (each.algorithm == algorithm && each.protocol == protocol) return each;
  }
  ADD_FAILURE() << "no such candidate";
  return {};
}

// NCCL 2.30.7 on one node of 8 H100, all_reduce_perf from 256 B to 4 GiB: "ring with LL up to 1
// MiB, then straight to the switch from 2 MiB on", channels {0..0} at 4 KiB, {0..23} at 1 MiB,
// {0..15} with NVLS (public write-up of a sweep with commit 5067397c; the same on 8 H200).
TEST(Tuning, OneNodeOfH100AsMeasured) {
  const System system = h100(1);
  for (std::uint64_t bytes = 256; bytes <= kMiB; bytes *= 2) {
    EXPECT_EQ(plan_of(OpKind::all_reduce, bytes, system), "ring/ll") << bytes;
  }
  for (std::uint64_t bytes = 2 * kMiB; bytes <= 4096 * kMiB; bytes *= 2) {
    EXPECT_EQ(plan_of(OpKind::all_reduce, bytes, system), "nvls/simple") << bytes;
  }
  EXPECT_EQ(choose(OpKind::all_reduce, Bytes{4 * kKiB}, system)->channels, 1U);
  EXPECT_EQ(choose(OpKind::all_reduce, Bytes{kMiB}, system)->channels, 24U);
  EXPECT_EQ(choose(OpKind::all_reduce, Bytes{2 * kMiB}, system)->channels, 16U);
}

// Two nodes of 8 H100 with 8 rails, by hand (microseconds): 128 KiB takes the tree with LL
// 6.8 + 2·(7·0.6 + 5) + 131.1/(39·0.85·0.5·0.5) = 41.0, with LL128 48.5 +
// 131.1/(293.6·0.85·0.5·0.6) = 50.2; 256 KiB 64.7 and 52.0; 1 MiB takes the tree with LL128 62.5,
// NVLSTree 25 + 2·20.9 + 1048.6/(8·57.7·16/30) = 71.1; 2 MiB 76.5 and 75.3.
TEST(Tuning, TwoNodesWithEightRailsByHand) {
  const System system = h100(2);
  const auto time = [&](std::uint64_t bytes, Algorithm algorithm, Protocol protocol) {
    return candidate(OpKind::all_reduce, bytes, system, algorithm, protocol).time_us;
  };
  EXPECT_NEAR(time(128 * kKiB, Algorithm::tree, Protocol::ll), 41.0, 0.06);
  EXPECT_NEAR(time(128 * kKiB, Algorithm::tree, Protocol::ll128), 50.2, 0.06);
  EXPECT_NEAR(time(256 * kKiB, Algorithm::tree, Protocol::ll), 64.7, 0.06);
  EXPECT_NEAR(time(256 * kKiB, Algorithm::tree, Protocol::ll128), 52.0, 0.06);
  EXPECT_NEAR(time(kMiB, Algorithm::tree, Protocol::ll128), 62.5, 0.06);
  EXPECT_NEAR(time(kMiB, Algorithm::nvls_tree, Protocol::simple), 71.1, 0.06);
  EXPECT_NEAR(time(2 * kMiB, Algorithm::tree, Protocol::ll128), 76.5, 0.06);
  EXPECT_NEAR(time(2 * kMiB, Algorithm::nvls_tree, Protocol::simple), 75.3, 0.06);
  for (std::uint64_t bytes = 64; bytes <= 4096 * kMiB; bytes *= 2) {
    const std::string_view expected = bytes <= 128 * kKiB ? "tree/ll"
                                      : bytes <= kMiB     ? "tree/ll128"
                                                          : "nvls_tree/simple";
    EXPECT_EQ(plan_of(OpKind::all_reduce, bytes, system), expected) << bytes;
  }
}

// Without the switch's help: latency decides small ops, bandwidth large ones, and with more nodes
// the tree holds on longer.
TEST(Tuning, TreesGiveWayToRingsLaterOnMoreNodes) {
  Forced forced;
  ASSERT_TRUE(force(forced, "NCCL_NVLS_ENABLE", "0"));
  std::uint64_t before = 0;
  for (const std::uint32_t nodes : {2U, 4U, 16U, 64U}) {
    const System system = h100(nodes);
    std::uint64_t border = 64;
    while (plan_of(OpKind::all_reduce, border, system, forced).starts_with("tree")) border *= 2;
    EXPECT_GT(border, before) << nodes;
    before = border;
    EXPECT_EQ(plan_of(OpKind::all_reduce, 64, system, forced), "tree/ll");
    EXPECT_EQ(plan_of(OpKind::all_reduce, 1ULL << 36, system, forced), "ring/simple");
    EXPECT_EQ(plan_of(OpKind::all_gather, 64, system, forced), "ring/ll");
    EXPECT_EQ(plan_of(OpKind::all_gather, 1ULL << 36, system, forced), "ring/simple");
  }
}

// A slow CPU and a network that says of itself that it is slow (EFA: 75 µs) cost rings most.
TEST(Tuning, TheCpuAndTheNetworkCount) {
  System system = h100(2);
  const double quick =
      candidate(OpKind::all_reduce, 64, system, Algorithm::ring, Protocol::ll).time_us;
  system.cpu = CpuVendor::amd;
  EXPECT_NEAR(candidate(OpKind::all_reduce, 64, system, Algorithm::ring, Protocol::ll).time_us,
              quick + 28, 0.01)
      << "28 steps inside wait for a post of 2 µs, not 1";
  system.net_latency_us = 75;
  EXPECT_NEAR(candidate(OpKind::all_reduce, 64, system, Algorithm::ring, Protocol::ll).time_us,
              quick + 28 + 150, 0.01)
      << "two steps between nodes";
  EXPECT_NEAR(candidate(OpKind::all_reduce, 64, system, Algorithm::ring, Protocol::simple).time_us,
              8.4 + 28 * 6 + 2 * (14 + 150), 0.01)
      << "Simple posts three times, and flushes";
}

// NVIDIA/nccl#1453: three nodes of 8 H100 print the time of each all_reduce: "4 Bytes -> Algo 0
// proto 0 time 25.200462" and so on. The tree's graph behind them: 8 channels of 24 GB/s, a plain
// tree.
TEST(Tuning, TimesThatThreeNodesPrinted) {
  System system = h100(3);
  system.graphs = Graphs{.ring = {8, 24, 24}, .tree = {8, 24, 24}, .nvls = {}, .plain_tree = true};
  struct Line {
    std::uint64_t bytes;
    Protocol protocol;
    double time_us;
  };
  for (const Line& line :
       {Line{4, Protocol::ll, 25.200462}, Line{4096, Protocol::ll, 25.874907},
        Line{8192, Protocol::ll, 26.549810}, Line{65536, Protocol::ll, 37.798233},
        Line{131072, Protocol::ll128, 51.603912}, Line{262144, Protocol::ll128, 54.707825}}) {
    EXPECT_EQ(plan_of(OpKind::all_reduce, line.bytes, system),
              "tree/" + std::string(to_string(line.protocol)))
        << line.bytes;
    EXPECT_NEAR(
        candidate(OpKind::all_reduce, line.bytes, system, Algorithm::tree, line.protocol).time_us,
        line.time_us, 1e-5)
        << line.bytes;
  }
}

// NCCL 2.29.7, two nodes with one GPU each over sockets (public log of an RTX 5090): which channels
// an op takes.
TEST(Tuning, ChannelsOfTwoRanksOverSockets) {
  System system = {.generation = Generation::blackwell,
                   .nodes = 2,
                   .ranks = 2,
                   .inside = Inside::pcie,
                   .gpu_bandwidth = 12,
                   .nics = 1,
                   .nic_bandwidth = 2.4,
                   .between_gpus = PathKind::phb,
                   .to_nic = PathKind::phb,
                   .multicast = false,
                   .graphs = {}};
  system.graphs =
      Graphs{.ring = {2, 1.2, 1.2}, .tree = {2, 2.4, 1.2}, .nvls = {}, .plain_tree = true};
  struct Line {
    OpKind kind;
    std::uint64_t bytes;
    std::string plan;
    std::uint32_t channels;
  };
  for (const Line& line :
       {Line{OpKind::broadcast, 1024, "ring/ll", 1}, Line{OpKind::broadcast, 8192, "ring/ll", 1},
        Line{OpKind::broadcast, 16384, "ring/ll", 2},
        Line{OpKind::broadcast, 32768, "ring/simple", 1},
        Line{OpKind::broadcast, 65536, "ring/simple", 2},
        Line{OpKind::broadcast, 131072, "ring/simple", 4},
        Line{OpKind::broadcast, 128 * kMiB, "ring/simple", 4},
        Line{OpKind::all_reduce, 64, "ring/ll", 1}, Line{OpKind::all_reduce, 4096, "ring/ll", 1},
        Line{OpKind::all_reduce, 16384, "ring/ll", 2},
        Line{OpKind::all_reduce, 32768, "ring/ll", 4},
        Line{OpKind::all_reduce, 65536, "ring/ll", 4},
        Line{OpKind::all_reduce, 131072, "ring/simple", 4},
        Line{OpKind::all_reduce, 128 * kMiB, "ring/simple", 4}}) {
    EXPECT_EQ(plan_of(line.kind, line.bytes, system), line.plan) << line.bytes;
    EXPECT_EQ(choose(line.kind, Bytes{line.bytes}, system)->channels, line.channels) << line.bytes;
  }
}

TEST(Tuning, ALargeRingTakesMessagesOfOneMiBWithFourUnderWay) {
  Forced forced;
  ASSERT_TRUE(force(forced, "NCCL_ALGO", "Ring"));
  const auto choice = choose(OpKind::all_reduce, Bytes{1024 * kMiB}, h100(4), forced);
  ASSERT_TRUE(choice) << choice.error().text();
  EXPECT_EQ(*choice, (Choice{.algorithm = Algorithm::ring,
                             .protocol = Protocol::simple,
                             .channels = 16,
                             .chunk = Bytes{2 * kMiB},
                             .slices_per_chunk = 2,
                             .credits = 4}));
}

TEST(Tuning, PatTakesSmallArraysOfOneRankANode) {
  System system = h100(64);
  system.ranks = 64;
  system.nics = 1;
  EXPECT_EQ(plan_of(OpKind::all_gather, 64 * kKiB, system), "pat/simple");
  EXPECT_EQ(plan_of(OpKind::reduce_scatter, 64 * kKiB, system), "pat/simple");
  EXPECT_EQ(candidate(OpKind::all_gather, kMiB, h100(2), Algorithm::pat, Protocol::simple).why_not,
            "does one rank a node alone by default");
  Forced forced;
  ASSERT_TRUE(force(forced, "NCCL_PAT_ENABLE", "1"));
  EXPECT_TRUE(candidate(OpKind::all_gather, kMiB, h100(2), Algorithm::pat, Protocol::simple, forced)
                  .allowed);
}

TEST(Tuning, EveryCandidateIsListedAndEveryRefusalHasItsReason) {
  for (const OpKind kind : {OpKind::all_reduce, OpKind::all_gather, OpKind::reduce_scatter,
                            OpKind::broadcast, OpKind::reduce}) {
    for (const std::uint32_t nodes : {1U, 2U, 5U}) {
      const auto all = candidates(kind, Bytes{kMiB}, h100(nodes));
      ASSERT_EQ(all.size(), 11U);
      for (const Candidate& each : all) {
        EXPECT_EQ(each.allowed, each.why_not.empty());
        if (each.allowed) {
          EXPECT_GT(each.time_us, 0);
          EXPECT_GE(each.channels, 1U);
        }
      }
    }
  }
  EXPECT_TRUE(candidates(OpKind::all_to_all, Bytes{kMiB}, h100(2)).empty());
  EXPECT_FALSE(choose(OpKind::all_to_all, Bytes{kMiB}, h100(2)));
}

TEST(Tuning, CollNetIsRefusedWithItsReason) {
  Forced forced;
  ASSERT_TRUE(force(forced, "NCCL_ALGO", "CollNetDirect,CollNetChain"));
  const auto choice = choose(OpKind::all_reduce, Bytes{kMiB}, h100(2), forced);
  ASSERT_FALSE(choice);
  EXPECT_NE(choice.error().text().find("collnet_direct/simple needs a network plugin that reduces"),
            std::string::npos)
      << choice.error().text();
  EXPECT_NE(choice.error().text().find("ring/ll taken out by NCCL_ALGO"), std::string::npos);
}

// src/graph/tuning.cc: LL128 by default up to PXB, from Hopper on up to PXN; NCCL_PROTO overrules.
TEST(Tuning, Ll128OnlyWhereItsLinesArriveWhole) {
  const auto allowed = [](Generation generation, PathKind to_nic, const Forced& forced = {}) {
    System system = h100(2);
    system.generation = generation;
    system.to_nic = to_nic;
    return candidate(OpKind::all_reduce, kMiB, system, Algorithm::ring, Protocol::ll128, forced)
        .allowed;
  };
  EXPECT_TRUE(allowed(Generation::ampere, PathKind::pxb));
  EXPECT_FALSE(allowed(Generation::ampere, PathKind::pxn));
  EXPECT_TRUE(allowed(Generation::hopper, PathKind::pxn));
  EXPECT_TRUE(allowed(Generation::hopper, PathKind::p2c));
  EXPECT_FALSE(allowed(Generation::hopper, PathKind::phb));
  Forced forced;
  ASSERT_TRUE(force(forced, "NCCL_PROTO", "LL128"));
  EXPECT_TRUE(allowed(Generation::hopper, PathKind::phb, forced));
  System pcie = h100(1);
  pcie.between_gpus = PathKind::phb;
  EXPECT_FALSE(candidate(OpKind::all_reduce, kMiB, pcie, Algorithm::ring, Protocol::ll128).allowed);
}

TEST(Tuning, ForcedChannels) {
  Forced forced;
  ASSERT_TRUE(force(forced, "NCCL_ALGO", "Ring"));
  ASSERT_TRUE(force(forced, "NCCL_MAX_NCHANNELS", "4"));
  EXPECT_EQ(choose(OpKind::all_reduce, Bytes{1024 * kMiB}, h100(2), forced)->channels, 4U);
  forced.channels_max.reset();
  ASSERT_TRUE(force(forced, "NCCL_MIN_NCHANNELS", "32"));
  EXPECT_EQ(choose(OpKind::all_reduce, Bytes{1024 * kMiB}, h100(2), forced)->channels, 32U);
}

TEST(Tuning, OneRankHasNothingToChoose) {
  System system = h100(1);
  system.ranks = 1;
  EXPECT_EQ(plan_of(OpKind::all_reduce, kMiB, system), "ring/simple");
}

// Small ops care for latency, large ones for bandwidth, whatever the machines.
TEST(Tuning, RandomSystemsBehave) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto pick = [&](std::uint64_t least, std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(least, most)(random);
  };
  for (int turn = 0; turn < 300; ++turn) {
    System system = h100(static_cast<std::uint32_t>(pick(1, 512)));
    system.generation = static_cast<Generation>(pick(0, 3));
    system.cpu = static_cast<CpuVendor>(pick(0, 2));
    system.ranks = system.nodes * static_cast<std::uint32_t>(pick(1, 8));
    if (system.ranks == 1) continue;
    system.nics = static_cast<std::uint32_t>(pick(1, 8));
    system.nic_bandwidth = static_cast<double>(pick(1, 100));
    system.gpu_bandwidth = static_cast<double>(pick(12, 800));
    system.to_nic = static_cast<PathKind>(pick(3, 8));
    const auto kind = pick(0, 1) == 0 ? OpKind::all_reduce : OpKind::all_gather;
    double last_us = 0;
    std::uint32_t last_channels = 0;
    Forced ring;
    ASSERT_TRUE(force(ring, "NCCL_ALGO", "Ring"));
    ASSERT_TRUE(force(ring, "NCCL_PROTO", "Simple"));
    for (std::uint64_t bytes = 1; bytes <= 1ULL << 40; bytes *= 4) {
      const auto choice = choose(kind, Bytes{bytes}, system);
      ASSERT_TRUE(choice) << choice.error().text();
      EXPECT_GE(choice->channels, 1U);
      EXPECT_LE(choice->channels, 64U);
      EXPECT_GE(choice->chunk, Bytes{16 * kKiB});
      EXPECT_GE(choice->credits, choice->slices_per_chunk + 1);
      const Candidate simple =
          candidate(kind, bytes, system, Algorithm::ring, Protocol::simple, ring);
      EXPECT_GE(simple.time_us, last_us) << "a ring is not faster with more bytes";
      EXPECT_GE(simple.channels, last_channels) << "nor does it take fewer channels";
      last_us = simple.time_us;
      last_channels = simple.channels;
    }
  }
}

}  // namespace
}  // namespace rehearsal::collective

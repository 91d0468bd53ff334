#include "core/collective/chunking.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "core/collective/nccl_2_30.hpp"

namespace rehearsal::collective {

void PrintTo(const Chunking& cut, std::ostream* out) {
  *out << format_bytes_exact(cut.chunk) << " in " << cut.slices_per_chunk << ", credits "
       << cut.credits;
}

namespace {

using profile::OpKind;

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

class ChunkingTest : public testing::Test {
 protected:
  Chunking cut(OpKind kind, Algorithm algorithm, Protocol protocol, std::uint64_t bytes,
               std::uint32_t channels = 1, std::optional<Bytes> buffer = {}) {
    return chunking(kind, algorithm, protocol, Bytes{bytes}, channels, system_,
                    derive_graphs(system_), buffer, 300);
  }
  System system_ = {.nodes = 2, .ranks = 16, .graphs = {}};
};

// src/include/device.h: a step is an eighth of the buffer, less what the flags take.
TEST_F(ChunkingTest, Steps) {
  EXPECT_EQ(nccl_2_30::kBufferLl, 512 * kKiB);
  EXPECT_EQ(nccl_2_30::kBufferLl128, 4'915'200U);
  EXPECT_EQ(cut(OpKind::all_reduce, Algorithm::ring, Protocol::ll, 64 * kKiB),
            (Chunking{Bytes{32 * kKiB}, 1, 8}));
  EXPECT_EQ(cut(OpKind::all_reduce, Algorithm::ring, Protocol::ll128, 64 * kMiB),
            (Chunking{Bytes{576'000}, 1, 8}));
  EXPECT_EQ(cut(OpKind::all_reduce, Algorithm::ring, Protocol::simple, 64 * kMiB),
            (Chunking{Bytes{2 * kMiB}, 2, 4}));
  EXPECT_EQ(cut(OpKind::broadcast, Algorithm::ring, Protocol::simple, 64 * kMiB),
            (Chunking{Bytes{512 * kKiB}, 1, 8}));
  EXPECT_EQ(cut(OpKind::all_reduce, Algorithm::tree, Protocol::simple, 64 * kMiB),
            (Chunking{Bytes{512 * kKiB}, 1, 8}));
  EXPECT_EQ(
      cut(OpKind::all_gather, Algorithm::ring, Protocol::simple, 64 * kMiB, 1, Bytes{8 * kMiB}),
      (Chunking{Bytes{4 * kMiB}, 2, 4}));
}

// Two nodes of 8: 1 + 1 + 0.8 = 2.8 steps; halve below 2.8·64/8 = 22.4 chunks while above 128 KiB,
// below 2.8·16/8 = 5.6 while above 32 KiB; then down to whole lines of 1920 B.
TEST_F(ChunkingTest, TreeWithLl128) {
  const auto tree = [&](std::uint64_t bytes) {
    return cut(OpKind::all_reduce, Algorithm::tree, Protocol::ll128, bytes).chunk.count();
  };
  EXPECT_EQ(tree(23 * 576'000), 576'000U);
  EXPECT_EQ(tree(23 * 576'000 - 1), 288'000U);
  EXPECT_EQ(tree(23 * 144'000 - 1), 71'040U) << "72,000 B";
  EXPECT_EQ(tree(6 * 72'000), 71'040U);
  EXPECT_EQ(tree(6 * 72'000 - 1), 34'560U) << "36,000 B";
  EXPECT_EQ(tree(1), 17'280U) << "18,000 B";
}

TEST_F(ChunkingTest, Pat) {
  EXPECT_EQ(cut(OpKind::all_gather, Algorithm::pat, Protocol::simple, 16 * kMiB).chunk,
            Bytes{512 * kKiB});
  EXPECT_EQ(cut(OpKind::all_gather, Algorithm::pat, Protocol::simple, 16 * kMiB - 1).chunk,
            Bytes{256 * kKiB});
  EXPECT_EQ(cut(OpKind::reduce_scatter, Algorithm::pat, Protocol::simple, 8 * kMiB).chunk,
            Bytes{512 * kKiB});
  EXPECT_EQ(cut(OpKind::reduce_scatter, Algorithm::pat, Protocol::simple, 1).chunk,
            Bytes{64 * kKiB});
}

// Eight heads: 16, 4 and 1 times 8 chunks.
TEST_F(ChunkingTest, NvlsTree) {
  const auto nvls_tree = [&](std::uint64_t bytes, std::uint32_t channels = 1) {
    return cut(OpKind::all_reduce, Algorithm::nvls_tree, Protocol::simple, bytes, channels).chunk;
  };
  EXPECT_EQ(nvls_tree(16 * 8 * 128 * kKiB), Bytes{128 * kKiB});
  EXPECT_EQ(nvls_tree(16 * 16 * 8 * 128 * kKiB, 16), Bytes{128 * kKiB});
  EXPECT_EQ(nvls_tree(4 * 8 * 128 * kKiB - 1), Bytes{64 * kKiB});
  EXPECT_EQ(nvls_tree(8 * 64 * kKiB - 1), Bytes{32 * kKiB});
  system_.nodes = 4;
  system_.ranks = 32;
  EXPECT_EQ(nvls_tree(1024 * kMiB), Bytes{64 * kKiB}) << "from four nodes on";
}

// The published channel counts stand in tuning_test.cpp; here the limits.
TEST_F(ChunkingTest, ChannelsForSize) {
  const auto taken = [&](OpKind kind, Protocol protocol, std::uint64_t bytes) {
    return channels_for_size(kind, Algorithm::ring, protocol, Bytes{bytes}, 16, system_, 384);
  };
  EXPECT_EQ(taken(OpKind::all_reduce, Protocol::simple, 0), 1U);
  EXPECT_EQ(taken(OpKind::all_reduce, Protocol::simple, 1024 * kMiB), 16U);
  EXPECT_EQ(taken(OpKind::all_reduce, Protocol::simple, 32 * kKiB), 1U) << "512 threads × 64 B";
  EXPECT_EQ(taken(OpKind::all_reduce, Protocol::simple, 64 * kKiB), 2U);
  EXPECT_EQ(taken(OpKind::broadcast, Protocol::ll128, 64 * kKiB), 2U) << "32 KiB of traffic each";
  EXPECT_EQ(taken(OpKind::all_reduce, Protocol::ll128, 64 * kKiB), 4U) << "twice the traffic";
  EXPECT_EQ(taken(OpKind::all_reduce, Protocol::ll, 64 * kKiB), 1U) << "512 threads × 8 B × 16";
}

}  // namespace
}  // namespace rehearsal::collective

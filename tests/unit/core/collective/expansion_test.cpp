#include "core/collective/expansion.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "tests/support/collective/rehearsed.hpp"

namespace rehearsal::collective {
namespace {

using profile::Op;
using profile::OpKind;
using profile::PeerBytes;
using test::from_all;
using test::from_rank;
using test::Rehearsed;

Op op_of(OpKind kind, std::uint64_t bytes, std::uint32_t peer = 0) {
  Op op;
  op.kind = kind;
  op.bytes = Bytes{bytes};
  op.peer = peer;
  return op;
}

/// Ranks in groups (nodes) of `group`, in order.
Shape in_groups(std::uint32_t size, std::uint32_t group) {
  std::vector<Shape::Member> members;
  for (std::uint32_t i = 0; i < size; ++i) members.push_back({.node = i / group, .rail = 0});
  return Shape::in_order(members);
}

struct Case {
  std::uint32_t size = 1;
  std::uint64_t bytes = 0;
  std::uint32_t root = 0;
  std::uint32_t group = 1;
  Settings settings = {};
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.size << " ranks, " << c.bytes << " B, root " << c.root << ", group " << c.group
             << ", " << c.settings.channels << " channels, chunk " << c.settings.chunk.count()
             << ", " << c.settings.slices_per_chunk << " slices, p2p chunk "
             << c.settings.point_to_point_chunk.count();
}

Settings settings_from(Random& random) {
  Settings settings;
  settings.channels = static_cast<std::uint32_t>(random.between(1, 4));
  settings.chunk = Bytes{random.between(1, 20) * 16};
  settings.slices_per_chunk = static_cast<std::uint32_t>(random.between(1, 4));
  settings.pipeline_chunk = Bytes{random.between(1, 100)};
  settings.point_to_point_chunk = Bytes{random.between(1, 200)};
  settings.point_to_point_channels = static_cast<std::uint32_t>(random.between(1, 4));
  settings.channel_bytes_min = Bytes{random.between(1, 300)};
  return settings;
}

/// Ranks 1 … 9 and 16, each with sizes that are special and some that are not.
template <typename Check>
void for_each_case(std::uint64_t seed, Check check) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random{seed};
  for (const std::uint32_t size : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 16U}) {
    for (int round = 0; round < 12; ++round) {
      Case c{.size = size, .settings = settings_from(random)};
      const std::uint64_t special[] = {
          0, 1, 15, 17, c.settings.chunk.count(), size * c.settings.chunk.count()};
      c.bytes = round < 6 ? special[round] : random.below(4000);
      c.root = static_cast<std::uint32_t>(random.below(size));
      do {
        c.group = static_cast<std::uint32_t>(random.between(1, size));
      } while (size % c.group != 0);
      SCOPED_TRACE(testing::Message() << c);
      check(c, random);
      if (testing::Test::HasFailure()) return;
    }
  }
}

Rehearsed rehearse(OpKind kind, const Case& c, const PeerBytes* per_peer = nullptr) {
  return Rehearsed{{kind, per_peer != nullptr ? 0 : c.bytes, c.root, per_peer},
                   in_groups(c.size, c.group),
                   default_choice(op_of(kind, c.bytes, c.root), c.settings),
                   c.settings};
}

TEST(Expansion, AllReduceGivesEveryRankTheSumOfAll) {
  for_each_case(11, [](const Case& c, Random&) {
    const Rehearsed run = rehearse(OpKind::all_reduce, c);
    if (c.size == 1) return;
    for (std::uint32_t rank = 0; rank < c.size; ++rank)
      for (std::uint64_t i = 0; i < c.bytes; ++i)
        ASSERT_EQ(run.kept[rank][i], from_all(c.size)) << "rank " << rank << ", byte " << i;
    EXPECT_EQ(run.bytes_sent(), 2 * (c.size - 1) * c.bytes);
    for (const Amount& sent : run.sent)
      EXPECT_NEAR(static_cast<double>(sent.bytes),
                  busbw_factor(OpKind::all_reduce, c.size) * static_cast<double>(c.bytes),
                  32.0 * c.settings.channels);
  });
}

TEST(Expansion, AllGatherGivesEveryRankAllBlocks) {
  for_each_case(12, [](const Case& c, Random&) {
    const Rehearsed run = rehearse(OpKind::all_gather, c);
    for (std::uint32_t rank = 0; rank < c.size; ++rank)
      for (std::uint32_t owner = 0; owner < c.size; ++owner) {
        if (owner == rank) continue;
        const Range block = block_of(c.bytes, c.size, owner);
        for (std::uint64_t i = block.begin; i < block.end; ++i)
          ASSERT_EQ(run.kept[rank][i], from_rank(owner)) << "rank " << rank << ", byte " << i;
      }
    EXPECT_EQ(run.bytes_sent(), (c.size - 1) * c.bytes);
    for (const Amount& sent : run.sent)
      EXPECT_NEAR(static_cast<double>(sent.bytes),
                  busbw_factor(OpKind::all_gather, c.size) * static_cast<double>(c.bytes), 1.0);
  });
}

TEST(Expansion, ReduceScatterGivesEveryRankTheSumOfItsBlock) {
  for_each_case(13, [](const Case& c, Random&) {
    const Rehearsed run = rehearse(OpKind::reduce_scatter, c);
    if (c.size == 1) return;
    for (std::uint32_t rank = 0; rank < c.size; ++rank) {
      const Range block = block_of(c.bytes, c.size, rank);
      for (std::uint64_t i = 0; i < c.bytes; ++i)
        ASSERT_EQ(run.kept[rank][i], i >= block.begin && i < block.end ? from_all(c.size) : 0);
    }
    EXPECT_EQ(run.bytes_sent(), (c.size - 1) * c.bytes);
  });
}

TEST(Expansion, BroadcastGivesEveryRankTheRootsBytes) {
  for_each_case(14, [](const Case& c, Random&) {
    const Rehearsed run = rehearse(OpKind::broadcast, c);
    for (std::uint32_t rank = 0; rank < c.size; ++rank)
      for (std::uint64_t i = 0; rank != c.root && i < c.bytes; ++i)
        ASSERT_EQ(run.kept[rank][i], from_rank(c.root));
    EXPECT_EQ(run.bytes_sent(), (c.size - 1) * c.bytes);
  });
}

TEST(Expansion, ReduceGivesTheRootTheSumOfAll) {
  for_each_case(15, [](const Case& c, Random&) {
    const Rehearsed run = rehearse(OpKind::reduce, c);
    if (c.size == 1) return;
    for (std::uint64_t i = 0; i < c.bytes; ++i) ASSERT_EQ(run.kept[c.root][i], from_all(c.size));
    EXPECT_EQ(run.bytes_sent(), (c.size - 1) * c.bytes);
  });
}

/// Every pair's message arrived whole: each byte once.
template <typename BytesOf>
void expect_pairs(const Rehearsed& run, std::uint32_t size, BytesOf bytes_of) {
  for (std::uint32_t source = 0; source < size; ++source)
    for (std::uint32_t destination = 0; destination < size; ++destination) {
      const auto& arrived = run.pair_received[std::size_t{source} * size + destination];
      const std::uint64_t bytes = source == destination ? 0 : bytes_of(source, destination);
      ASSERT_EQ(arrived.empty(), bytes == 0) << source << " to " << destination;
      for (std::uint64_t i = 0; i < arrived.size(); ++i)
        ASSERT_EQ(arrived[i], i < bytes ? 1 : 0)
            << source << " to " << destination << ", byte " << i << " of " << bytes;
    }
}

TEST(Expansion, AllToAllGivesEveryPairItsBlock) {
  for_each_case(16, [](const Case& c, Random&) {
    const Rehearsed run = rehearse(OpKind::all_to_all, c);
    expect_pairs(run, c.size, [&](std::uint32_t, std::uint32_t destination) {
      return block_of(c.bytes, c.size, destination).size();
    });
    EXPECT_EQ(run.bytes_sent(), (c.size - 1) * c.bytes);
  });
}

TEST(Expansion, AllToAllWithPeerBytesGivesEveryPairItsSize) {
  for_each_case(17, [](const Case& c, Random& random) {
    PeerBytes sizes{.name = "v", .size = c.size, .bytes = {}};
    for (std::uint32_t i = 0; i < c.size * c.size; ++i)
      sizes.bytes.emplace_back(random.chance(0.3) ? 0 : random.below(700));
    const Rehearsed run = rehearse(OpKind::all_to_all, c, &sizes);
    expect_pairs(run, c.size, [&](std::uint32_t source, std::uint32_t destination) {
      return sizes.from_to(source, destination).count();
    });
  });
}

TEST(Expansion, GatherAndScatterMoveEachBlockOnce) {
  for_each_case(18, [](const Case& c, Random&) {
    const Rehearsed gather = rehearse(OpKind::gather, c);
    expect_pairs(gather, c.size, [&](std::uint32_t source, std::uint32_t destination) {
      return destination == c.root ? block_of(c.bytes, c.size, source).size() : 0;
    });
    const Rehearsed scatter = rehearse(OpKind::scatter, c);
    expect_pairs(scatter, c.size, [&](std::uint32_t source, std::uint32_t destination) {
      return source == c.root ? block_of(c.bytes, c.size, destination).size() : 0;
    });
  });
}

TEST(Expansion, SendReachesItsRecv) {
  for_each_case(19, [](const Case& c, Random&) {
    const Rehearsed run = rehearse(OpKind::send, c);
    expect_pairs(run, c.size, [&](std::uint32_t source, std::uint32_t destination) {
      return destination == c.root && source == run.sender_for(c.root) ? c.bytes : 0;
    });
  });
}

TEST(Expansion, BarrierWaitsForEveryRank) {
  for (const std::uint32_t size : {2U, 3U, 8U, 16U}) {
    const Rehearsed run = rehearse(OpKind::barrier, {.size = size});
    for (std::uint32_t rank = 0; rank < size; ++rank)
      for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(run.kept[rank][i], from_all(size));
  }
}

TEST(Expansion, Resnet50OnFourRanksSendsWhatTheFormulaSays) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const Op op = op_of(OpKind::all_reduce, 102'228'128);
    std::vector<Traffic> traffic;
    const Shape shape = Shape::flat(4);
    expand(op, rank, shape, default_choice(op, {}), nullptr, {}).append_sent(traffic);
    std::uint64_t bytes = 0;
    for (const Traffic& t : traffic) bytes += t.amount.bytes;
    EXPECT_NEAR(static_cast<double>(bytes), 153'342'192.0, 64.0) << "rank " << rank;
  }
}

TEST(Expansion, DefaultsSendNccls1MiBSlicesInItsOrder) {
  const Op op = op_of(OpKind::all_reduce, 3 * (2U << 20));
  Settings settings;
  settings.channels = 1;
  const Shape shape = Shape::flat(3);
  Cursor cursor = expand(op, 1, shape, default_choice(op, settings), nullptr, settings).lane(0);
  struct Expected {
    Action action;
    std::uint64_t chunk;
  };
  const Expected order[] = {{Action::send, 0},
                            {Action::recv_reduce_send, 2},
                            {Action::recv_reduce_copy_send, 1},
                            {Action::recv_copy_send, 0},
                            {Action::recv, 2}};
  for (const auto& [action, chunk] : order)
    for (std::uint64_t slice = 0; slice < 2; ++slice) {
      Step step;
      ASSERT_TRUE(cursor.next(step));
      EXPECT_EQ(step.action, action);
      EXPECT_EQ(step.from, 0U);
      EXPECT_EQ(step.to, 2U);
      EXPECT_EQ(step.bytes, 1U << 20);
      EXPECT_EQ(step.offset, (2 * chunk + slice) << 20);
    }
}

TEST(Expansion, ALargeAllToAllIsWalkedWithoutAList) {
  const Op op = op_of(OpKind::all_to_all, 4096 * 64);
  const Shape shape = in_groups(4096, 8);
  const Expansion expansion = expand(op, 17, shape, default_choice(op, {}), nullptr, {});
  EXPECT_EQ(expansion.lane_count(), 2U * 2 * 8);
  std::uint64_t sent = 0;
  for (std::uint32_t lane = 0; lane < expansion.lane_count(); ++lane) {
    Cursor cursor = expansion.lane(lane);
    Step step;
    while (cursor.next(step)) sent += step.action == Action::send ? step.bytes : 0;
  }
  EXPECT_EQ(sent, 4095U * 64);
}

TEST(BusbwFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(busbw_factor(OpKind::all_reduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(busbw_factor(OpKind::all_gather, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(OpKind::reduce_scatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(OpKind::all_to_all, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(OpKind::broadcast, 4), 1.0);
  EXPECT_DOUBLE_EQ(busbw_factor(OpKind::reduce, 4), 1.0);
}

}  // namespace
}  // namespace rehearsal::collective

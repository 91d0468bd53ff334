#include "core/collective/expansion.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <tuple>

#include "core/base/random.hpp"

namespace rehearsal::collective {
namespace {

using profile::Op;
using profile::OpKind;
using profile::PeerBytes;

/// What a byte holds: how often each of up to 16 ranks contributed to it, a hexadecimal digit a
/// rank.
using Content = std::uint64_t;
Content from_rank(std::uint32_t rank) { return Content{1} << (4 * rank); }

Op op_of(OpKind kind, std::uint64_t bytes, std::uint32_t peer = 0) {
  Op op;
  op.kind = kind;
  op.bytes = Bytes{bytes};
  op.peer = peer;
  return op;
}

/// Who a lane talks to: source, destination, channel.
using Link = std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>;

struct Message {
  std::uint64_t offset = 0;
  std::vector<Content> content;
};

/// Runs one op on all ranks with symbolic payload and unlimited queues, and keeps what arrived.
class Rehearsed {
 public:
  Rehearsed(OpKind kind, std::uint64_t bytes, std::uint32_t size, std::uint32_t root,
            const Settings& settings, std::uint32_t group = 1, const PeerBytes* per_peer = nullptr)
      : size_(size) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      Op op = op_of(kind, bytes, root);
      if (kind == OpKind::send && rank == root) op.kind = OpKind::recv, op.peer = sender_for(root);
      expansions.push_back(expand(op, {rank, size, group}, per_peer, settings));
      if (kind == OpKind::send && rank != root && rank != sender_for(root)) expansions.back() = {};
    }
    // For pairs the offset counts in the message of the pair, which is no longer than the array.
    const std::uint64_t room = per_peer != nullptr ? largest(*per_peer) : bytes + 4;
    in.assign(size, std::vector<Content>(room));
    for (std::uint32_t rank = 0; rank < size; ++rank) in[rank].assign(room, from_rank(rank));
    out.assign(size, std::vector<Content>(room, 0));
    pair_received.assign(std::size_t{size} * size, std::vector<int>(room, 0));
    sent.assign(size, 0);
    received.assign(size, 0);
    run();
  }

  std::uint32_t sender_for(std::uint32_t root) const { return (root + 1) % size_; }

  std::vector<Expansion> expansions;
  std::vector<std::vector<Content>> in;
  std::vector<std::vector<Content>> out;
  std::vector<std::vector<int>> pair_received;  // [source * size + destination][offset]
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> received;

 private:
  struct Lane {
    std::uint32_t rank;
    Cursor cursor;
    Step step;
    bool has_step;
  };

  static std::uint64_t largest(const PeerBytes& sizes) {
    std::uint64_t most = 0;
    for (const Bytes bytes : sizes.bytes) most = std::max(most, bytes.count());
    return most;
  }

  void run() {
    std::vector<Lane> lanes;
    for (std::uint32_t rank = 0; rank < size_; ++rank)
      for (std::uint32_t i = 0; i < expansions[rank].lane_count(); ++i) {
        Lane lane{rank, expansions[rank].lane(i), {}, false};
        lane.has_step = lane.cursor.next(lane.step);
        lanes.push_back(lane);
      }
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t i = 0; i < lanes.size(); ++i)
        while (lanes[i].has_step && move(lanes[i], i)) {
          moved = true;
          lanes[i].has_step = lanes[i].cursor.next(lanes[i].step);
        }
    }
    for (const Lane& lane : lanes) {
      EXPECT_FALSE(lane.has_step) << "rank " << lane.rank << " stands still";
      Step step;
      EXPECT_FALSE(Cursor{lane.cursor}.next(step)) << "a cursor that ended goes on";
    }
    for (const auto& [link, queue] : queues_) EXPECT_TRUE(queue.empty()) << "left over";
    compare_totals();
  }

  bool move(Lane& lane, std::size_t index) {
    const Step& step = lane.step;
    EXPECT_GT(step.bytes, 0U);
    std::vector<Content> content(
        in[lane.rank].begin() + static_cast<std::ptrdiff_t>(step.offset),
        in[lane.rank].begin() + static_cast<std::ptrdiff_t>(step.offset + step.bytes));
    if (receives(step.action)) {
      const Link link{step.from, lane.rank, step.channel};
      auto& queue = queues_[link];
      if (queue.empty()) return false;
      EXPECT_EQ(receiving_lane_.try_emplace(link, index).first->second, index);
      EXPECT_EQ(queue.front().content.size(), step.bytes);
      EXPECT_EQ(queue.front().offset, step.offset);
      received[lane.rank] += step.bytes;
      for (std::uint64_t i = 0; i < step.bytes; ++i)
        ++pair_received[std::size_t{step.from} * size_ + lane.rank][step.offset + i];
      take(step, queue.front().content, content, out[lane.rank]);
      queue.pop_front();
    }
    if (sends(step.action)) {
      const Link link{lane.rank, step.to, step.channel};
      EXPECT_NE(step.to, lane.rank);
      EXPECT_EQ(sending_lane_.try_emplace(link, index).first->second, index);
      auto& total = walked_[link];
      total.bytes += step.bytes;
      ++total.messages;
      total.message_bytes_max = std::max(total.message_bytes_max, step.bytes);
      sent[lane.rank] += step.bytes;
      queues_[link].push_back({step.offset, content});
    }
    return true;
  }

  /// `content`: own data before, what is passed on after.
  static void take(const Step& step, const std::vector<Content>& message,
                   std::vector<Content>& content, std::vector<Content>& kept) {
    const bool reduces = step.action == Action::recv_reduce ||
                         step.action == Action::recv_reduce_send ||
                         step.action == Action::recv_reduce_copy_send;
    const bool keeps = step.action != Action::recv_reduce_send && step.action != Action::recv_send;
    for (std::uint64_t i = 0; i < step.bytes; ++i) {
      content[i] = message[i] + (reduces ? content[i] : 0);
      if (keeps) kept[step.offset + i] = content[i];
    }
  }

  void compare_totals() {
    std::map<Link, Traffic> stated_sent;
    std::map<Link, Traffic> stated_received;
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      std::vector<Traffic> traffic;
      expansions[rank].append_sent(traffic);
      for (const Traffic& t : traffic) {
        EXPECT_TRUE(stated_sent.emplace(Link{rank, t.peer, t.channel}, t).second);
      }
      traffic.clear();
      expansions[rank].append_received(traffic);
      for (const Traffic& t : traffic) {
        EXPECT_TRUE(stated_received.emplace(Link{t.peer, rank, t.channel}, t).second);
      }
    }
    const auto same = [&](const std::map<Link, Traffic>& stated) {
      EXPECT_EQ(stated.size(), walked_.size());
      for (const auto& [link, walked] : walked_) {
        const auto found = stated.find(link);
        ASSERT_NE(found, stated.end());
        EXPECT_EQ(found->second.bytes, walked.bytes);
        EXPECT_EQ(found->second.messages, walked.messages);
        EXPECT_GE(found->second.message_bytes_max, walked.message_bytes_max);
        EXPECT_LE(found->second.message_bytes_max, walked.message_bytes_max + kAlignment);
        EXPECT_EQ(found->second.message_bytes_max, stated_received.at(link).message_bytes_max);
      }
    };
    same(stated_sent);
    same(stated_received);
  }

  std::uint32_t size_;
  std::map<Link, std::deque<Message>> queues_;
  std::map<Link, std::size_t> sending_lane_;
  std::map<Link, std::size_t> receiving_lane_;
  std::map<Link, Traffic> walked_;
};

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  std::uint64_t total = 0;
  for (const auto value : values) total += value;
  return total;
}

struct Case {
  std::uint32_t size = 1;
  std::uint64_t bytes = 0;
  std::uint32_t root = 0;
  std::uint32_t group = 1;
  Settings settings;
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

Content all_ranks(std::uint32_t size) {
  Content all = 0;
  for (std::uint32_t rank = 0; rank < size; ++rank) all += from_rank(rank);
  return all;
}

TEST(Expansion, AllReduceGivesEveryRankTheSumOfAll) {
  for_each_case(11, [](const Case& c, Random&) {
    const Rehearsed run{OpKind::all_reduce, c.bytes, c.size, 0, c.settings};
    if (c.size == 1) return;
    for (std::uint32_t rank = 0; rank < c.size; ++rank)
      for (std::uint64_t i = 0; i < c.bytes; ++i)
        ASSERT_EQ(run.out[rank][i], all_ranks(c.size)) << "rank " << rank << ", byte " << i;
    EXPECT_EQ(sum(run.sent), 2 * (c.size - 1) * c.bytes);
    for (const std::uint64_t sent : run.sent)
      EXPECT_NEAR(static_cast<double>(sent),
                  busbw_factor(OpKind::all_reduce, c.size) * static_cast<double>(c.bytes),
                  32.0 * c.settings.channels);
  });
}

TEST(Expansion, AllGatherGivesEveryRankAllBlocks) {
  for_each_case(12, [](const Case& c, Random&) {
    const Rehearsed run{OpKind::all_gather, c.bytes, c.size, 0, c.settings};
    for (std::uint32_t rank = 0; rank < c.size; ++rank)
      for (std::uint32_t owner = 0; owner < c.size; ++owner) {
        if (owner == rank) continue;
        const Range block = block_of(c.bytes, c.size, owner);
        for (std::uint64_t i = block.begin; i < block.end; ++i)
          ASSERT_EQ(run.out[rank][i], from_rank(owner)) << "rank " << rank << ", byte " << i;
      }
    EXPECT_EQ(sum(run.sent), (c.size - 1) * c.bytes);
    for (const std::uint64_t sent : run.sent)
      EXPECT_NEAR(static_cast<double>(sent),
                  busbw_factor(OpKind::all_gather, c.size) * static_cast<double>(c.bytes), 1.0);
  });
}

TEST(Expansion, ReduceScatterGivesEveryRankTheSumOfItsBlock) {
  for_each_case(13, [](const Case& c, Random&) {
    const Rehearsed run{OpKind::reduce_scatter, c.bytes, c.size, 0, c.settings};
    if (c.size == 1) return;
    for (std::uint32_t rank = 0; rank < c.size; ++rank) {
      const Range block = block_of(c.bytes, c.size, rank);
      for (std::uint64_t i = 0; i < c.bytes; ++i)
        ASSERT_EQ(run.out[rank][i], i >= block.begin && i < block.end ? all_ranks(c.size) : 0);
    }
    EXPECT_EQ(sum(run.sent), (c.size - 1) * c.bytes);
  });
}

TEST(Expansion, BroadcastGivesEveryRankTheRootsBytes) {
  for_each_case(14, [](const Case& c, Random&) {
    const Rehearsed run{OpKind::broadcast, c.bytes, c.size, c.root, c.settings};
    for (std::uint32_t rank = 0; rank < c.size; ++rank)
      for (std::uint64_t i = 0; rank != c.root && i < c.bytes; ++i)
        ASSERT_EQ(run.out[rank][i], from_rank(c.root));
    EXPECT_EQ(sum(run.sent), (c.size - 1) * c.bytes);
  });
}

TEST(Expansion, ReduceGivesTheRootTheSumOfAll) {
  for_each_case(15, [](const Case& c, Random&) {
    const Rehearsed run{OpKind::reduce, c.bytes, c.size, c.root, c.settings};
    if (c.size == 1) return;
    for (std::uint64_t i = 0; i < c.bytes; ++i) ASSERT_EQ(run.out[c.root][i], all_ranks(c.size));
    EXPECT_EQ(sum(run.sent), (c.size - 1) * c.bytes);
  });
}

/// Every pair's message arrived whole: each byte once.
template <typename BytesOf>
void expect_pairs(const Rehearsed& run, std::uint32_t size, BytesOf bytes_of) {
  for (std::uint32_t source = 0; source < size; ++source)
    for (std::uint32_t destination = 0; destination < size; ++destination) {
      const auto& arrived = run.pair_received[std::size_t{source} * size + destination];
      const std::uint64_t bytes = source == destination ? 0 : bytes_of(source, destination);
      for (std::uint64_t i = 0; i < arrived.size(); ++i)
        ASSERT_EQ(arrived[i], i < bytes ? 1 : 0)
            << source << " to " << destination << ", byte " << i << " of " << bytes;
    }
}

TEST(Expansion, AllToAllGivesEveryPairItsBlock) {
  for_each_case(16, [](const Case& c, Random&) {
    const Rehearsed run{OpKind::all_to_all, c.bytes, c.size, 0, c.settings, c.group};
    expect_pairs(run, c.size, [&](std::uint32_t, std::uint32_t destination) {
      return block_of(c.bytes, c.size, destination).size();
    });
    EXPECT_EQ(sum(run.sent), (c.size - 1) * c.bytes);
  });
}

TEST(Expansion, AllToAllWithPeerBytesGivesEveryPairItsSize) {
  for_each_case(17, [](const Case& c, Random& random) {
    PeerBytes sizes{.name = "v", .size = c.size, .bytes = {}};
    for (std::uint32_t i = 0; i < c.size * c.size; ++i)
      sizes.bytes.emplace_back(random.chance(0.3) ? 0 : random.below(700));
    const Rehearsed run{OpKind::all_to_all, 0, c.size, 0, c.settings, c.group, &sizes};
    expect_pairs(run, c.size, [&](std::uint32_t source, std::uint32_t destination) {
      return sizes.from_to(source, destination).count();
    });
  });
}

TEST(Expansion, GatherAndScatterMoveEachBlockOnce) {
  for_each_case(18, [](const Case& c, Random&) {
    const Rehearsed gather{OpKind::gather, c.bytes, c.size, c.root, c.settings, c.group};
    expect_pairs(gather, c.size, [&](std::uint32_t source, std::uint32_t destination) {
      return destination == c.root ? block_of(c.bytes, c.size, source).size() : 0;
    });
    const Rehearsed scatter{OpKind::scatter, c.bytes, c.size, c.root, c.settings, c.group};
    expect_pairs(scatter, c.size, [&](std::uint32_t source, std::uint32_t destination) {
      return source == c.root ? block_of(c.bytes, c.size, destination).size() : 0;
    });
  });
}

TEST(Expansion, SendReachesItsRecv) {
  for_each_case(19, [](const Case& c, Random&) {
    const Rehearsed run{OpKind::send, c.bytes, c.size, c.root, c.settings, c.group};
    expect_pairs(run, c.size, [&](std::uint32_t source, std::uint32_t destination) {
      return destination == c.root && source == run.sender_for(c.root) ? c.bytes : 0;
    });
  });
}

TEST(Expansion, BarrierWaitsForEveryRank) {
  for (const std::uint32_t size : {2U, 3U, 8U, 16U}) {
    const Rehearsed run{OpKind::barrier, 0, size, 0, Settings{}};
    for (std::uint32_t rank = 0; rank < size; ++rank)
      for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(run.out[rank][i], all_ranks(size));
  }
}

TEST(Expansion, Resnet50OnFourRanksSendsWhatTheFormulaSays) {
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const Op op = op_of(OpKind::all_reduce, 102'228'128);
    std::vector<Traffic> traffic;
    expand(op, {rank, 4, 1}, nullptr, Settings{}).append_sent(traffic);
    std::uint64_t bytes = 0;
    for (const Traffic& t : traffic) bytes += t.bytes;
    EXPECT_NEAR(static_cast<double>(bytes), 153'342'192.0, 64.0) << "rank " << rank;
  }
}

TEST(Expansion, DefaultsSendNccls1MiBSlicesInItsOrder) {
  const Op op = op_of(OpKind::all_reduce, 3 * (2U << 20));
  Settings settings;
  settings.channels = 1;
  Cursor cursor = expand(op, {1, 3, 1}, nullptr, settings).lane(0);
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
  const Expansion expansion = expand(op, {17, 4096, 8}, nullptr, Settings{});
  EXPECT_EQ(expansion.lane_count(), 2U * 2 * 8);
  std::uint64_t sent = 0;
  for (std::uint32_t lane = 0; lane < expansion.lane_count(); ++lane) {
    Cursor cursor = expansion.lane(lane);
    Step step;
    while (cursor.next(step)) sent += step.action == Action::send ? step.bytes : 0;
  }
  EXPECT_EQ(sent, 4095U * 64);
}

TEST(PairCut, HalvesAndQuartersTheChunkBelowNcclsThresholds) {
  const Settings settings;  // chunk 128 KiB, 2 channels
  EXPECT_EQ(PairCut::of(0, settings).parts, 0U);
  EXPECT_EQ(PairCut::of(1000, settings).chunk, 32U << 10);
  EXPECT_EQ(PairCut::of(128U << 10, settings).chunk, 64U << 10);
  EXPECT_EQ(PairCut::of(128U << 10, settings).parts, 1U);
  EXPECT_EQ(PairCut::of((128U << 10) + 1, settings).parts, 2U);
  EXPECT_EQ(PairCut::of(8U << 20, settings).chunk, 128U << 10);
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

#include "core/collective/pat_blocks.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "core/base/random.hpp"

namespace rehearsal::collective {
namespace {

using Kind = PatBlocks::Kind;

/// What a byte holds: a sum of numbers that no mistake makes up.
using Content = std::uint64_t;
Content from_rank(std::uint32_t rank) {
  Content mixed = (rank + 1) * 0x9e37'79b9'7f4a'7c15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9U;
  return mixed ^ (mixed >> 31);
}

/// Runs an op on all ranks with symbolic payload, in place, with as many messages on a connection
/// as there are credits, piece by piece (what a step says of an aggregated message is not enough).
class PatRun {
 public:
  PatRun(Kind kind, std::uint64_t bytes, std::uint32_t size, const Choice& choice)
      : size_(size), credits_(choice.credits) {
    const Shape shape = Shape::flat(size);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      ranks_.emplace_back(kind, bytes, rank, shape, choice);
      data.emplace_back(bytes, from_rank(rank));
    }
    for (std::uint32_t rank = 0; rank < size; ++rank)
      for (std::uint32_t channel = 0; channel < ranks_[rank].lane_count(); ++channel) {
        Lane lane{rank, channel, ranks_[rank].lane(channel), {}, {}, false};
        lane.advance();
        lanes_.push_back(lane);
      }
    while (round()) {
    }
    for (const Lane& lane : lanes_)
      EXPECT_FALSE(lane.has_step) << "rank " << lane.rank << " stands still";
    for (const auto& [key, queue] : queues_) EXPECT_TRUE(queue.empty()) << "left over";
    compare_totals();
  }

  std::vector<std::vector<Content>> data;
  Amount sent;

 private:
  struct Message {
    std::vector<Content> content;
    Range first;
    std::uint64_t wire = 0;
  };
  struct Lane {
    std::uint32_t rank;
    std::uint32_t channel;
    PatBlocks::Cursor cursor;
    Step step;
    PatBlocks::Parts parts;
    bool has_step;

    void advance() {
      has_step = cursor.next(step, parts);
      if (!has_step) {
        EXPECT_FALSE(PatBlocks::Cursor{cursor}.next(step)) << "a cursor that ended goes on";
      }
    }
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, channel

  bool round() {
    bool moved = false;
    for (Lane& lane : lanes_)
      while (lane.has_step && move(lane)) {
        moved = true;
        lane.advance();
      }
    return moved;
  }

  bool move(const Lane& lane) {
    const Step& step = lane.step;
    const Key in{step.from, lane.rank, lane.channel};
    const Key out{lane.rank, step.to, lane.channel};
    if (receives(step.action) && queues_[in].empty()) return false;
    if (sends(step.action) && queues_[out].size() >= credits_) return false;
    EXPECT_EQ(step.channel, lane.channel);
    std::vector<Content> passed_on;
    if (receives(step.action)) {
      passed_on = take(lane, queues_[in].front());
      queues_[in].pop_front();
    }
    if (sends(step.action)) {
      if (!receives(step.action)) passed_on = own(lane);
      EXPECT_EQ(passed_on.size(), step.bytes);
      const Amount amount{step.bytes, step.wire, 1};
      sent += amount;
      Traffic& link = walked_[out];
      link.amount += amount;
      link.message_bytes_max = std::max(link.message_bytes_max, step.wire);
      queues_[out].push_back({passed_on, lane.cursor.piece(lane.parts, 0), step.wire});
    }
    return true;
  }

  std::vector<Content> own(const Lane& lane) {
    std::vector<Content> content;
    for (std::uint32_t i = 0; i < lane.parts.count; ++i) {
      const Range piece = lane.cursor.piece(lane.parts, i);
      for (std::uint64_t at = piece.begin; at < piece.end; ++at)
        content.push_back(data[lane.rank][at]);
    }
    return content;
  }

  std::vector<Content> take(const Lane& lane, const Message& message) {
    const Step& step = lane.step;
    EXPECT_EQ(message.wire, step.wire);
    EXPECT_EQ(message.content.size(), step.bytes);
    EXPECT_EQ(message.first.begin, step.offset);
    const bool reduces =
        step.action == Action::recv_reduce || step.action == Action::recv_reduce_send;
    std::vector<Content> result;
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < lane.parts.count; ++i) {
      const Range piece = lane.cursor.piece(lane.parts, i);
      for (std::uint64_t at = piece.begin; at < piece.end && next < message.content.size(); ++at) {
        Content& here = data[lane.rank][at];
        result.push_back(message.content[next++] + (reduces ? here : 0));
        if (step.action != Action::recv_reduce_send) here = result.back();
      }
    }
    EXPECT_EQ(next, message.content.size());
    return result;
  }

  void compare_totals() {
    std::map<Key, Traffic> stated[2];
    for (std::uint32_t rank = 0; rank < size_; ++rank)
      for (const bool sending : {true, false}) {
        std::vector<Traffic> traffic;
        sending ? ranks_[rank].append_sent(traffic) : ranks_[rank].append_received(traffic);
        for (const Traffic& t : traffic) {
          const Key key{sending ? rank : t.peer, sending ? t.peer : rank, t.channel};
          EXPECT_TRUE(stated[sending ? 0 : 1].emplace(key, t).second);
        }
      }
    for (const auto& all : stated) {
      EXPECT_EQ(all.size(), walked_.size());
      for (const auto& [key, walked] : walked_) {
        const auto found = all.find(key);
        ASSERT_NE(found, all.end());
        EXPECT_EQ(found->second.amount, walked.amount);
        EXPECT_EQ(found->second.message_bytes_max, walked.message_bytes_max);
      }
    }
  }

  std::uint32_t size_;
  std::uint32_t credits_;
  std::vector<PatBlocks> ranks_;
  std::vector<Lane> lanes_;
  std::map<Key, std::deque<Message>> queues_;
  std::map<Key, Traffic> walked_;
};

Choice pat(std::uint32_t channels, std::uint64_t chunk, std::uint32_t credits = 8) {
  return {.algorithm = Algorithm::pat,
          .channels = channels,
          .chunk = Bytes{chunk},
          .slices_per_chunk = 1,
          .credits = credits};
}

template <typename Check>
void for_each_case(std::uint64_t seed, Check check) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random{seed};
  for (std::uint32_t size = 2; size <= 40; ++size)
    for (int i = 0; i < 12; ++i) {
      const std::uint32_t credits[] = {8, 2, 1, 3, 4, 5};
      const Choice choice = pat(static_cast<std::uint32_t>(random.between(1, 3)),
                                16 * random.between(1, 16), credits[i % 6]);
      const std::uint64_t bytes = random.below(i % 2 == 0 ? 4000 : 40 * size);
      SCOPED_TRACE(testing::Message() << size << " ranks, " << bytes << " B, " << choice.channels
                                      << " channels, chunk " << choice.chunk.count() << ", "
                                      << choice.credits << " credits");
      check(size, bytes, choice);
      if (testing::Test::HasFailure()) return;
    }
}

TEST(PatBlocks, AllGatherGivesEveryRankAllBlocks) {
  for_each_case(21, [](std::uint32_t size, std::uint64_t bytes, const Choice& choice) {
    const PatRun run{Kind::all_gather, bytes, size, choice};
    for (std::uint32_t rank = 0; rank < size; ++rank)
      for (std::uint32_t owner = 0; owner < size; ++owner) {
        const Range block = block_of(bytes, size, owner);
        for (std::uint64_t i = block.begin; i < block.end; ++i)
          ASSERT_EQ(run.data[rank][i], from_rank(owner)) << "rank " << rank << ", byte " << i;
      }
    EXPECT_EQ(run.sent.bytes, (size - 1) * bytes);
    EXPECT_EQ(run.sent.wire, run.sent.bytes);
  });
}

TEST(PatBlocks, ReduceScatterGivesEveryRankTheSumOfItsBlock) {
  for_each_case(22, [](std::uint32_t size, std::uint64_t bytes, const Choice& choice) {
    const PatRun run{Kind::reduce_scatter, bytes, size, choice};
    Content all = 0;
    for (std::uint32_t rank = 0; rank < size; ++rank) all += from_rank(rank);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      const Range block = block_of(bytes, size, rank);
      for (std::uint64_t i = block.begin; i < block.end; ++i)
        ASSERT_EQ(run.data[rank][i], all) << "rank " << rank << ", byte " << i;
    }
    EXPECT_EQ(run.sent.bytes, (size - 1) * bytes);
    if ((size & (size - 1)) == 0) {
      EXPECT_EQ(run.sent.wire, run.sent.bytes);
    }
  });
}

TEST(PatBlocks, ManyRanks) {
  for (const std::uint32_t size : {64U, 100U, 129U})
    for (const std::uint64_t piece : {1U, 16U, 100U})
      for (const Kind kind : {Kind::all_gather, Kind::reduce_scatter}) {
        SCOPED_TRACE(testing::Message() << size << " ranks, pieces of " << piece);
        const PatRun run{kind, size * piece, size, pat(1, 64)};
        EXPECT_EQ(run.sent.bytes, (size - 1) * size * piece);
      }
}

TEST(PatBlocks, SmallArraysTakeLogarithmicallyManyMessagesAndLargeOnesOneABlock) {
  const Shape shape = Shape::flat(16);
  const auto messages = [&](std::uint64_t bytes) {
    std::vector<Traffic> traffic;
    PatBlocks{Kind::all_gather, bytes, 3, shape, pat(1, 512U << 10)}.append_sent(traffic);
    std::uint64_t total = 0;
    for (const Traffic& t : traffic) total += t.amount.messages;
    return total;
  };
  EXPECT_EQ(messages(16 * 64U), 4U);                   // 8, 4, 2 and 1 blocks
  EXPECT_EQ(messages(16 * (512U << 10)), 15U);         // a block each
  EXPECT_EQ(messages(16 * (256U << 10)), 4U + 2 + 2);  // two blocks each: 8, 4, 2, 1 blocks
}

TEST(PatBlocks, PeersOfALargeOneStandAtPowersOfTwo) {
  const Shape shape = Shape::flat(6);
  std::vector<Traffic> traffic;
  PatBlocks{Kind::reduce_scatter, 6000, 1, shape, pat(1, 512)}.append_sent(traffic);
  ASSERT_EQ(traffic.size(), 3U);
  // Distances 1 3 5, then 2, then 4: three, one and one block of 1,000 B in chunks of 512 B.
  EXPECT_EQ(traffic[0].peer, 2U);
  EXPECT_EQ(traffic[0].amount, (Amount{3000, 3000, 6}));
  EXPECT_EQ(traffic[1].peer, 3U);
  EXPECT_EQ(traffic[1].amount, (Amount{1000, 1000, 2}));
  EXPECT_EQ(traffic[2].peer, 5U);
  EXPECT_EQ(traffic[2].amount, (Amount{1000, 1000, 2}));
  EXPECT_EQ(traffic[2].message_bytes_max, 512U);
}

}  // namespace
}  // namespace rehearsal::collective

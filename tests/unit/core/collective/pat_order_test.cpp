#include "core/collective/pat_order.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace rehearsal::collective {
namespace {

using testing::ElementsAre;

/// "r1{2,6}" for a receive from the peer at distance 2^1 of pieces at distances 2 and 6, "s…" for a
/// send; "+" and a number for room without pieces.
std::string text(char what, std::uint32_t dimension, const PatGroup& group) {
  std::string result = what + std::to_string(dimension) + "{";
  for (std::uint32_t i = 0; i < group.count; ++i)
    result += (i > 0 ? "," : "") + std::to_string(group.first + i * group.stride);
  result += "}";
  if (group.slots > group.count) result += "+" + std::to_string(group.slots - group.count);
  return result;
}

template <typename Order>
std::vector<std::string> walk(std::uint32_t ranks, PatAggregation aggregation) {
  std::vector<std::string> moves;
  Order order{ranks, aggregation};
  PatMove move;
  while (order.next(move)) {
    std::string one;
    if (move.receives) one = text('r', move.from, move.received);
    if (move.sends) one += (one.empty() ? "" : " ") + text('s', move.to, move.sent);
    moves.push_back(one);
  }
  return moves;
}

template <typename Order>
void expect_each_once(Order order, std::uint32_t ranks) {
  std::vector<int> sent(ranks), received(ranks);
  PatMove move;
  while (order.next(move)) {
    for (std::uint32_t i = 0; move.sends && i < move.sent.count; ++i)
      ++sent.at(move.sent.first + i * move.sent.stride);
    for (std::uint32_t i = 0; move.receives && i < move.received.count; ++i)
      ++received.at(move.received.first + i * move.received.stride);
  }
  std::vector<int> once(ranks, 1);
  once[0] = 0;  // its own block
  EXPECT_EQ(sent, once);
  EXPECT_EQ(received, once);
}

// Expected values: nccl src/include/collectives.h, PatRSAlgorithm and PatAGAlgorithm, by hand.

TEST(PatAggregation, AsManyPiecesAsFitAndAMessageForEachCredit) {
  const auto of = PatAggregation::of;
  EXPECT_EQ(of(512, 512, 8, 16), (PatAggregation{.factor = 8, .per_message = 1}));
  EXPECT_EQ(of(512, 257, 8, 16), (PatAggregation{.factor = 8, .per_message = 1}));
  EXPECT_EQ(of(512, 256, 8, 64), (PatAggregation{.factor = 16, .per_message = 2}));
  EXPECT_EQ(of(512, 1, 8, 64), (PatAggregation{.factor = 32, .per_message = 32}));
  EXPECT_EQ(of(512, 512, 3, 64), (PatAggregation{.factor = 2, .per_message = 1}));
  EXPECT_EQ(of(512, 512, 1, 64), (PatAggregation{.factor = 1, .per_message = 1}));
  EXPECT_EQ(of(512, 1, 8, 3), (PatAggregation{.factor = 1, .per_message = 1}));
  EXPECT_EQ(of(512, 0, 8, 2), (PatAggregation{.factor = 1, .per_message = 1}));
}

TEST(PatOrder, TwoRanksSwap) {
  EXPECT_THAT(walk<PatScatterOrder>(2, {}), ElementsAre("s0{1}", "r0{1}"));
  EXPECT_THAT(walk<PatGatherOrder>(2, {}), ElementsAre("s0{1}", "r0{1}"));
}

TEST(PatOrder, SmallPiecesTakeAMessageALevel) {
  const PatAggregation all{.factor = 4, .per_message = 4};
  EXPECT_THAT(walk<PatScatterOrder>(8, all),
              ElementsAre("s0{1,3,5,7}", "r0{1,3,5,7}", "s1{2,6}", "r1{2,6}", "s2{4}", "r2{4}"));
  EXPECT_THAT(walk<PatGatherOrder>(8, all),
              ElementsAre("s2{4}", "r2{4} s1{2,6}", "r1{2,6}", "s0{1,3,5,7}", "r0{1,3,5,7}"));
}

TEST(PatOrder, LargePiecesGoOneByOneThroughOneTreeAtATime) {
  EXPECT_THAT(walk<PatScatterOrder>(8, {}),
              ElementsAre("s0{7}", "r0{7} s1{6}", "r1{6}", "s0{5}", "r0{5} s2{4}", "r2{4}", "s0{3}",
                          "r0{3} s1{2}", "r1{2}", "s0{1}", "r0{1}"));
  EXPECT_THAT(walk<PatGatherOrder>(8, {}),
              ElementsAre("s2{4}", "r2{4} s1{6}", "r1{6} s0{7}", "r0{7}", "s0{5}", "r0{5}", "s1{2}",
                          "r1{2} s0{3}", "r0{3}", "s0{1}", "r0{1}"));
}

TEST(PatOrder, WithoutAPowerOfTwoReduceScatterSendsRoomForBlocksThatDoNotExist) {
  const PatAggregation all{.factor = 2, .per_message = 2};
  EXPECT_THAT(walk<PatScatterOrder>(5, all), ElementsAre("s0{3}+1", "r0{3}+1 s1{2}+1", "r1{2}+1",
                                                         "s0{1}+1", "s2{4}", "r2{4}", "r0{1}+1"));
  // The block at distance 4 is taken although nobody is left to pass it on to.
  EXPECT_THAT(walk<PatGatherOrder>(5, all),
              ElementsAre("s2{4}", "s1{2}", "r1{2} s0{3}", "r0{3}", "s0{1}", "r2{4}", "r0{1}"));
}

TEST(PatOrder, EveryDistanceIsSentAndReceivedOnce) {
  for (std::uint32_t ranks = 2; ranks <= 130; ++ranks)
    for (const std::uint64_t chunk : {1U, 2U, 4U, 16U, 64U})
      for (const std::uint32_t credits : {1U, 2U, 8U}) {
        const auto aggregation = PatAggregation::of(chunk, 1, credits, ranks);
        SCOPED_TRACE(testing::Message() << ranks << " ranks, " << aggregation.factor << " trees, "
                                        << aggregation.per_message << " a message");
        expect_each_once(PatScatterOrder{ranks, aggregation}, ranks);
        expect_each_once(PatGatherOrder{ranks, aggregation}, ranks);
      }
}

}  // namespace
}  // namespace rehearsal::collective

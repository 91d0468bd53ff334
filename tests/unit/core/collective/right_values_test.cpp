// What NCCL puts on the wire between nodes, from its source (nccl v2.30) and the formulas of
// nccl-tests.

#include <gtest/gtest.h>

#include <map>

#include "core/collective/expansion.hpp"
#include "core/collective/pair_channels.hpp"
#include "core/collective/rails.hpp"
#include "tests/support/collective/shapes.hpp"

namespace rehearsal::collective {
namespace {

using profile::OpKind;

constexpr std::uint32_t kRails = 8;

profile::Op op_of(OpKind kind, std::uint64_t bytes) {
  profile::Op op;
  op.kind = kind;
  op.bytes = Bytes{bytes};
  return op;
}

struct Crossing {
  std::uint32_t from_node, to_node;
  RailPath rails;
  auto operator<=>(const Crossing& other) const {
    return std::tie(from_node, to_node, rails.departure, rails.arrival) <=>
           std::tie(other.from_node, other.to_node, other.rails.departure, other.rails.arrival);
  }
};

/// All that leaves nodes, added up.
template <typename RailsOf>
std::map<Crossing, Amount> crossing(const profile::Op& op, const Shape& shape, const Choice& choice,
                                    RailsOf rails_of) {
  std::map<Crossing, Amount> result;
  for (std::uint32_t rank = 0; rank < shape.size(); ++rank) {
    std::vector<Traffic> traffic;
    expand(op, rank, shape, choice, nullptr, {}).append_sent(traffic);
    for (const Traffic& t : traffic) {
      if (shape.node_of(rank) == shape.node_of(t.peer)) continue;
      result[{shape.node_of(rank), shape.node_of(t.peer), rails_of(t.channel, rank, t.peer)}] +=
          t.amount;
    }
  }
  return result;
}

TEST(RightValues, RingAllReduceSendsAnEighthOnEachRailToTheNextNodesSameRail) {
  constexpr std::uint64_t kBytes = 1ULL << 30;
  for (const std::uint32_t nodes : {2U, 3U, 4U, 9U}) {
    const Shape shape = test::blocks(nodes, kRails);
    for (const std::uint32_t channels : {8U, 16U}) {  // 16: every ring twice
      const Choice choice{.channels = channels};
      const auto all = crossing(op_of(OpKind::all_reduce, kBytes), shape, choice,
                                [&](std::uint32_t channel, std::uint32_t from, std::uint32_t to) {
                                  return collective_rails(shape, channel, from, to);
                                });
      const double n = shape.size();
      const double node_bytes = 2 * (n - 1) / n * static_cast<double>(kBytes);
      EXPECT_EQ(all.size(), std::size_t{nodes} * kRails);
      std::map<std::uint32_t, std::uint64_t> by_node;
      for (const auto& [crossing, amount] : all) {
        EXPECT_EQ(crossing.to_node, (crossing.from_node + 1) % nodes);
        EXPECT_EQ(crossing.rails.departure, crossing.rails.arrival);
        EXPECT_NEAR(static_cast<double>(amount.bytes), node_bytes / kRails, 32.0 * channels);
        by_node[crossing.from_node] += amount.bytes;
      }
      for (const auto& [node, bytes] : by_node)
        EXPECT_NEAR(static_cast<double>(bytes), node_bytes, 32.0 * channels);
    }
  }
}

TEST(RightValues, LargeRingAllReduceSends1MiBSlicesAtMostFourUnderWay) {
  const profile::Op op = op_of(OpKind::all_reduce, 1ULL << 30);
  const Choice choice = default_choice(op, {});
  EXPECT_EQ(choice.credits, 4U);
  std::vector<Traffic> traffic;
  const Shape shape = test::blocks(2, kRails);
  expand(op, 0, shape, choice, nullptr, {}).append_sent(traffic);
  ASSERT_FALSE(traffic.empty());
  for (const Traffic& t : traffic) {
    EXPECT_EQ(t.message_bytes_max, 1U << 20);
    EXPECT_EQ(t.amount.messages, t.amount.wire >> 20);
  }
}

TEST(RightValues, ProtocolsInflateTheWire) {
  const Shape shape = test::blocks(2, kRails);
  const profile::Op op = op_of(OpKind::all_reduce, 32ULL * 576'000 * 16);
  const auto wire_over_data = [&](const Choice& choice) {
    std::vector<Traffic> traffic;
    expand(op, 5, shape, choice, nullptr, {}).append_sent(traffic);
    Amount sum;
    for (const Traffic& t : traffic) sum += t.amount;
    return static_cast<double>(sum.wire) / static_cast<double>(sum.bytes);
  };
  const Choice ll{.protocol = Protocol::ll,
                  .channels = 8,
                  .chunk = Bytes{32U << 10},
                  .slices_per_chunk = 1,
                  .credits = 8};
  EXPECT_DOUBLE_EQ(wire_over_data(ll), 2.0);
  const Choice ll128{.protocol = Protocol::ll128,
                     .channels = 8,
                     .chunk = Bytes{576'000},
                     .slices_per_chunk = 1,
                     .credits = 8};
  EXPECT_NEAR(wire_over_data(ll128), 128.0 / 120.0, 1e-3);
  EXPECT_DOUBLE_EQ(wire_over_data(Choice{.channels = 8}), 1.0);
}

TEST(RightValues, AllToAllCrossesNodesWithAllButTheNodesShareOnTheDestinationsRail) {
  constexpr std::uint64_t kBytes = 48ULL << 20;
  for (const std::uint32_t nodes : {2U, 3U, 4U}) {
    const Shape shape = test::blocks(nodes, kRails);
    const profile::Op op = op_of(OpKind::all_to_all, kBytes);
    const Choice choice =
        pair_choice(op, shape, {.channels = 16, .nic_rate = BitRate{400'000'000'000}}, {});
    const std::uint64_t n = shape.size();
    for (const std::uint32_t pxn_level : {0U, 2U}) {
      const Settings settings{.pxn_level = pxn_level};
      Amount sum;
      const auto all =
          crossing(op, shape, choice, [&](std::uint32_t, std::uint32_t from, std::uint32_t to) {
            const RailPath path = pair_rails(shape, settings, from, to);
            EXPECT_EQ(path.arrival, shape.rail_of(to));
            EXPECT_EQ(path.departure, shape.rail_of(pxn_level == 0 ? from : to));
            return path;
          });
      for (const auto& [crossing, amount] : all) sum += amount;
      EXPECT_EQ(sum.bytes, n * (kBytes * (n - kRails) / n));
      EXPECT_EQ(sum.wire, sum.bytes);
    }
  }
}

TEST(RightValues, AllToAllSends128KiBHalvedAndQuarteredForSmallMessages) {
  const Shape shape = test::blocks(2, kRails);
  const auto message_max = [&](std::uint64_t pair_bytes) {
    const profile::Op op = op_of(OpKind::all_to_all, pair_bytes * shape.size());
    const Choice choice = pair_choice(op, shape, {.channels = 2}, {});
    std::vector<Traffic> traffic;
    expand(op, 0, shape, choice, nullptr, {}).append_sent(traffic);
    std::uint64_t between = 0;
    std::uint64_t inside = 0;
    for (const Traffic& t : traffic) {
      std::uint64_t& most = shape.node_of(t.peer) == 0 ? inside : between;
      most = std::max(most, t.message_bytes_max);
    }
    return std::pair{between, inside};
  };
  constexpr std::uint64_t kKiB = 1024;
  EXPECT_EQ(message_max(8 << 20), (std::pair{128 * kKiB, 128 * kKiB}));
  EXPECT_EQ(message_max(1 << 20), (std::pair{128 * kKiB, 128 * kKiB}));
  EXPECT_EQ(message_max(512 << 10), (std::pair{64 * kKiB, 128 * kKiB}));
  EXPECT_EQ(message_max(100 << 10), (std::pair{32 * kKiB, 100 * kKiB}));
}

}  // namespace
}  // namespace rehearsal::collective

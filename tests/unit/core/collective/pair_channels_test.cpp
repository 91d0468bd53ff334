#include "core/collective/pair_channels.hpp"

#include <gtest/gtest.h>

#include "tests/support/collective/shapes.hpp"

namespace rehearsal::collective {
namespace {

BitRate gigabits(std::uint64_t rate) { return BitRate{rate * 1'000'000'000}; }

TEST(PairChannels, OneFor14GigabytesOfTheNicOrOneANic) {
  const auto per_peer = [](std::uint32_t nics, std::uint64_t rate) {
    return pair_channels(test::blocks(2, 1),
                         {.channels = 32, .nics = nics, .nic_rate = gigabits(rate)})
        .per_peer;
  };
  EXPECT_EQ(per_peer(1, 100), 1U);  // 12.5 GB/s
  EXPECT_EQ(per_peer(1, 200), 2U);
  EXPECT_EQ(per_peer(1, 400), 4U);
  EXPECT_EQ(per_peer(1, 800), 8U);
  EXPECT_EQ(per_peer(4, 400), 4U);
  EXPECT_EQ(per_peer(3, 100), 4U) << "powers of two";
  EXPECT_EQ(per_peer(1, 0), 1U) << "rate not known";
  EXPECT_EQ(per_peer(0, 0), 2U) << "no NIC known";
}

TEST(PairChannels, PcieInsideTheNodeAllowsTwo) {
  const PairLinks links{.channels = 32, .nic_rate = gigabits(800), .nvlink = false};
  EXPECT_EQ(pair_channels(test::blocks(2, 2), links).per_peer, 2U);
  EXPECT_EQ(pair_channels(test::blocks(2, 1), links).per_peer, 8U) << "nobody inside";
}

TEST(PairChannels, AllRanksFitIntoOneRound) {
  const PairLinks links{.channels = 12, .nic_rate = gigabits(400)};
  EXPECT_EQ(pair_channels(test::blocks(2, 8), links), (PairChannels{16, 4}));
  EXPECT_EQ(pair_channels(test::blocks(4, 8), links), (PairChannels{16, 4}));
  EXPECT_EQ(pair_channels(test::blocks(8, 8), links), (PairChannels{16, 2}));
  EXPECT_EQ(pair_channels(test::blocks(64, 8), links), (PairChannels{16, 1}));
}

TEST(PairChoice, StepsAndWhatMayBeUnderWay) {
  const PairLinks links{.channels = 16, .nic_rate = gigabits(400)};
  profile::Op op;
  op.kind = profile::OpKind::all_to_all;
  const Choice exchange = pair_choice(op, test::blocks(2, 8), links, {});
  EXPECT_EQ(exchange.chunk.count(), 128U << 10);
  EXPECT_EQ(exchange.credits, 2U) << "8 peers share 16 steps";
  EXPECT_EQ(exchange.channels_per_peer, 4U);
  EXPECT_EQ(pair_choice(op, test::blocks(3, 1), links, {}).credits, 8U);
  EXPECT_EQ(pair_choice(op, test::blocks(1, 8), links, {}).chunk.count(), 512U << 10);
  op.kind = profile::OpKind::send;
  EXPECT_EQ(pair_choice(op, test::blocks(2, 8), links, {}).credits, 8U);
}

}  // namespace
}  // namespace rehearsal::collective

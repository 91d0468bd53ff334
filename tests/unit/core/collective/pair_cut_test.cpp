#include "core/collective/pair_cut.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/collective/shapes.hpp"

namespace rehearsal::collective {
namespace {

constexpr std::uint64_t kStep = 128U << 10;

Choice choice_of(std::uint32_t channels, std::uint32_t per_peer = 0) {
  return {.channels = channels,
          .chunk = Bytes{kStep},
          .slices_per_chunk = 1,
          .channels_per_peer = per_peer};
}

TEST(PairRules, HalveAndQuarterTheChunkBelowNcclsThresholdsBetweenNodes) {
  const PairRules rules{Shape::flat(4), choice_of(2)};
  EXPECT_EQ(rules.cut(0, true).parts, 0U);
  EXPECT_EQ(rules.cut(1000, true).chunk, kStep / 4);
  EXPECT_EQ(rules.cut(kStep, true).chunk, kStep / 2);
  EXPECT_EQ(rules.cut(kStep, true).parts, 1U);
  EXPECT_EQ(rules.cut(kStep + 1, true).parts, 2U);
  EXPECT_EQ(rules.cut(8 * kStep - 1, true).chunk, kStep / 2);
  EXPECT_EQ(rules.cut(8 * kStep, true).chunk, kStep);
  EXPECT_EQ(rules.cut(1000, false).chunk, kStep) << "inside a node nothing is cut";
}

TEST(PairRules, LlIsHalvedOnlyAndBySizesOnTheWire) {
  Choice choice = choice_of(2);
  choice.protocol = Protocol::ll;
  choice.chunk = Bytes{32U << 10};  // 64 KiB on the wire
  const PairRules rules{Shape::flat(4), choice};
  EXPECT_EQ(rules.cut(1000, true).chunk, 16U << 10);
  EXPECT_EQ(rules.cut((512U << 10) - 1, true).chunk, 16U << 10);
  EXPECT_EQ(rules.cut(512U << 10, true).chunk, 32U << 10);
}

TEST(PairRules, ALonelyPairTakesAllChannelsAtOnce) {
  // Two ranks, 8 channels, 4 a peer: parts of at least half a step.
  const PairRules rules{Shape::flat(2), choice_of(8, 4)};
  EXPECT_EQ(rules.cut(kStep / 2, true).parts, 1U);
  EXPECT_EQ(rules.cut(kStep, true).parts, 2U);
  EXPECT_EQ(rules.cut(64 * kStep, true).parts, 4U) << "no more than 4 a peer";
  const PairRules crowd{Shape::flat(16), choice_of(8, 4)};
  EXPECT_EQ(crowd.cut(kStep, true).parts, 1U);
  EXPECT_EQ(crowd.cut(kStep + 1, true).parts, 2U);
}

TEST(PairRules, OneNodeCutsLargerParts) {
  const PairRules rules{test::blocks(1, 8), choice_of(8, 8)};
  EXPECT_EQ(rules.cut(32 * kStep, false).parts, 1U);
  EXPECT_EQ(rules.cut(32 * kStep + 1, false).parts, 2U);
}

TEST(PairRules, BasesAndPartsTurnTheirBitsRound) {
  const PairRules rules{Shape::flat(64), choice_of(8)};
  const auto channels = [&](std::uint32_t base) {
    std::vector<std::uint32_t> result;
    for (std::uint32_t part = 0; part < 4; ++part) result.push_back(rules.channel_of(base, part));
    return result;
  };
  EXPECT_EQ(channels(0), (std::vector<std::uint32_t>{0, 4, 2, 6}));
  EXPECT_EQ(channels(1), (std::vector<std::uint32_t>{4, 0, 6, 2}));
  EXPECT_EQ(channels(4), (std::vector<std::uint32_t>{1, 5, 3, 7}));
}

TEST(PairRules, EveryPartHasAChannelOfItsOwn) {
  for (const std::uint32_t channels : {1U, 2U, 3U, 6U, 8U, 64U}) {
    const PairRules rules{Shape::flat(64), choice_of(channels)};
    for (std::uint32_t base = 0; base < 100; ++base) {
      std::set<std::uint32_t> seen;
      for (std::uint32_t part = 0; part < channels; ++part) {
        const std::uint32_t channel = rules.channel_of(base, part);
        EXPECT_EQ(rules.part_of(base, channel), part);
        EXPECT_LT(channel, channels);
        seen.insert(channel);
      }
      EXPECT_EQ(seen.size(), channels);
    }
  }
}

}  // namespace
}  // namespace rehearsal::collective

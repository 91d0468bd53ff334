#include "core/collective/direct_blocks.hpp"

#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "tests/support/collective/rehearsed.hpp"
#include "tests/support/collective/shapes.hpp"

namespace rehearsal::collective {
namespace {

using profile::OpKind;
using test::blocks;
using test::from_all;
using test::from_rank;
using test::Rehearsed;
using Kind = DirectBlocks::Kind;

template <typename Check>
void for_each_case(std::uint64_t seed, Check check) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random{seed};
  for (int round = 0; round < 200; ++round) {
    const bool nvls = round % 2 == 0;
    const Shape shape = test::random_shape(random, nvls ? 1 : 4);
    const Choice choice{.algorithm = nvls ? Algorithm::nvls : Algorithm::direct,
                        .protocol = nvls ? Protocol::simple : kProtocols[random.below(3)],
                        .channels = static_cast<std::uint32_t>(random.between(1, 4)),
                        .chunk = Bytes{random.between(1, 100)},
                        .slices_per_chunk = 1,
                        .credits = 8};
    const std::uint64_t bytes = round % 5 == 0 ? random.below(20) : random.below(4000);
    const std::uint32_t credits[] = {0, 1, 2, 8};
    const std::uint32_t limit = credits[random.below(4)];
    SCOPED_TRACE(testing::Message()
                 << to_string(choice.algorithm) << ", " << test::text(shape) << ", " << bytes
                 << " B, " << choice.channels << " channels, chunk " << choice.chunk.count() << ", "
                 << limit << " credits");
    check(shape, bytes, choice, limit);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DirectBlocks, AllGatherGivesEveryRankAllBlocks) {
  for_each_case(
      41, [](const Shape& shape, std::uint64_t bytes, const Choice& choice, std::uint32_t credits) {
        const Rehearsed run{{OpKind::all_gather, bytes}, shape, choice, {}, credits};
        for (std::uint32_t rank = 0; rank < shape.size(); ++rank)
          for (std::uint32_t owner = 0; owner < shape.size(); ++owner) {
            const Range block = block_of(bytes, shape.size(), owner);
            for (std::uint64_t i = block.begin; i < block.end; ++i)
              ASSERT_EQ(run.data[rank][i], from_rank(owner)) << "rank " << rank << ", byte " << i;
          }
        EXPECT_EQ(run.bytes_sent(), (shape.size() - 1) * bytes);
      });
}

TEST(DirectBlocks, ReduceScatterGivesEveryRankTheSumOfItsBlock) {
  for_each_case(42, [](const Shape& shape, std::uint64_t bytes, const Choice& choice,
                       std::uint32_t credits) {
    const Rehearsed run{{OpKind::reduce_scatter, bytes}, shape, choice, {}, credits};
    for (std::uint32_t rank = 0; rank < shape.size(); ++rank) {
      const Range block = block_of(bytes, shape.size(), rank);
      for (std::uint64_t i = block.begin; i < block.end; ++i)
        ASSERT_EQ(run.data[rank][i], from_all(shape.size())) << "rank " << rank << ", byte " << i;
    }
    EXPECT_EQ(run.bytes_sent(), (shape.size() - 1) * bytes);
  });
}

TEST(DirectBlocks, EveryOtherRankGetsABlockNearestFirst) {
  const Shape shape = blocks(1, 4);
  const Choice choice{.algorithm = Algorithm::nvls, .channels = 1, .chunk = Bytes{1024}};
  const DirectBlocks gather{Kind::all_gather, 4096, 1, shape, choice};
  auto sends = gather.lane(0);
  auto receives = gather.lane(1);
  Step step;
  for (const std::uint32_t to : {2U, 3U, 0U}) {
    ASSERT_TRUE(sends.next(step));
    EXPECT_EQ(step.action, Action::send);
    EXPECT_EQ(step.to, to);
    EXPECT_EQ(step.offset, 1024U);
  }
  EXPECT_FALSE(sends.next(step));
  for (const std::uint32_t from : {0U, 3U, 2U}) {
    ASSERT_TRUE(receives.next(step));
    EXPECT_EQ(step.action, Action::recv);
    EXPECT_EQ(step.from, from);
    EXPECT_EQ(step.offset, from * 1024U);
  }
  EXPECT_FALSE(receives.next(step));
}

}  // namespace
}  // namespace rehearsal::collective

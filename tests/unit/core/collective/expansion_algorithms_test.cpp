// Which class expand() takes for which algorithm, and that it does the op.
#include <gtest/gtest.h>

#include "core/collective/expansion.hpp"
#include "tests/support/collective/rehearsed.hpp"
#include "tests/support/collective/shapes.hpp"

namespace rehearsal::collective {
namespace {

using profile::OpKind;
using test::blocks;
using test::from_all;
using test::from_rank;
using test::Rehearsed;

TEST(CanExpand, AsNcclHasThem) {
  const Shape one = blocks(1, 4);
  const Shape two = blocks(2, 4);
  for (const Algorithm algorithm : kAlgorithms) {
    SCOPED_TRACE(to_string(algorithm));
    const bool tree = algorithm == Algorithm::tree || algorithm == Algorithm::nvls_tree;
    const bool ring = algorithm == Algorithm::ring;
    const bool nvls = algorithm == Algorithm::nvls;
    for (const Shape* shape : {&one, &two}) {
      const bool inside = nvls && shape == &one;
      for (const OpKind kind : {OpKind::all_reduce, OpKind::barrier})
        if (tree || ring || inside) {
          EXPECT_TRUE(can_expand(kind, algorithm, *shape));
        }
      for (const OpKind kind : {OpKind::all_gather, OpKind::reduce_scatter})
        if (algorithm == Algorithm::pat || ring || inside) {
          EXPECT_TRUE(can_expand(kind, algorithm, *shape));
        }
      for (const OpKind kind : {OpKind::broadcast, OpKind::reduce})
        EXPECT_EQ(can_expand(kind, algorithm, *shape), ring);
      EXPECT_TRUE(can_expand(OpKind::all_to_all, algorithm, *shape));
      EXPECT_TRUE(can_expand(OpKind::compute, algorithm, *shape));
    }
    if (nvls) {
      EXPECT_FALSE(can_expand(OpKind::all_reduce, algorithm, two));
    }
    if (tree) {
      EXPECT_FALSE(can_expand(OpKind::all_gather, algorithm, two));
    }
  }
  EXPECT_FALSE(can_expand(OpKind::all_reduce, Algorithm::pat, two));
  EXPECT_FALSE(can_expand(OpKind::all_reduce, Algorithm::collnet_chain, two));
  EXPECT_FALSE(can_expand(OpKind::all_reduce, Algorithm::collnet_direct, two));
}

TEST(ExpansionAlgorithms, EachDoesWhatItCan) {
  for (const Shape& shape : {blocks(1, 6), blocks(3, 2), blocks(5, 1), blocks(2, 8)})
    for (const Algorithm algorithm : kAlgorithms)
      for (const OpKind kind : {OpKind::all_reduce, OpKind::all_gather, OpKind::reduce_scatter}) {
        if (!can_expand(kind, algorithm, shape)) continue;
        SCOPED_TRACE(testing::Message() << to_string(algorithm) << ", " << to_string(kind) << ", "
                                        << test::text(shape));
        // Blocks are longer than a chunk, so that PAT does not put pieces together.
        const Choice choice{.algorithm = algorithm,
                            .channels = 2,
                            .chunk = Bytes{64},
                            .slices_per_chunk = 1,
                            .credits = 8};
        const std::uint64_t bytes = 4099;
        const std::uint32_t n = shape.size();
        const Rehearsed run{{kind, bytes}, shape, choice, {}, choice.credits};
        const std::uint64_t halves = kind == OpKind::all_reduce ? 2 : 1;
        if (algorithm != Algorithm::halving_doubling) {  // it folds ranks beyond a power of two in
          EXPECT_EQ(run.bytes_sent(), halves * (n - 1) * bytes);
        }
        for (std::uint32_t rank = 0; rank < n; ++rank)
          for (std::uint32_t owner = 0; owner < n; ++owner) {
            const Range block = block_of(bytes, n, owner);
            if (kind == OpKind::reduce_scatter && owner != rank) continue;
            const auto wanted = kind == OpKind::all_gather ? from_rank(owner) : from_all(n);
            for (std::uint64_t i = block.begin; i < block.end; ++i)
              ASSERT_EQ(run.data[rank][i], wanted) << "rank " << rank << ", byte " << i;
          }
      }
}

TEST(ExpansionAlgorithms, ABarrierMayGoByTree) {
  const Shape shape = blocks(5, 3);
  const Choice choice{.algorithm = Algorithm::tree,
                      .protocol = Protocol::ll,
                      .channels = 1,
                      .chunk = Bytes{32U << 10},
                      .slices_per_chunk = 1,
                      .credits = 8};
  const Rehearsed run{{OpKind::barrier, 0}, shape, choice, {}, 1};
  for (std::uint32_t rank = 0; rank < shape.size(); ++rank)
    for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(run.data[rank][i], from_all(shape.size()));
}

}  // namespace
}  // namespace rehearsal::collective

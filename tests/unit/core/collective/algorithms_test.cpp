// What holds for every algorithm and protocol, over random sizes, nodes and rails.

#include <gtest/gtest.h>

#include <numeric>

#include "core/base/random.hpp"
#include "core/collective/expansion.hpp"
#include "tests/support/collective/rehearsed.hpp"
#include "tests/support/collective/shapes.hpp"

namespace rehearsal::collective {
namespace {

using profile::OpKind;
using test::from_all;
using test::from_rank;
using test::Rehearsed;

struct Case {
  Rehearsed::Op op;
  Shape shape;
  Choice choice;

  std::uint32_t credits() const { return choice.slices_per_chunk + 1; }
};

profile::Op all_reduce_of(std::uint64_t bytes) {
  profile::Op op;
  op.kind = OpKind::all_reduce;
  op.bytes = Bytes{bytes};
  return op;
}

std::uint32_t pick(Random& random, std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint32_t>(random.between(low, high));
}

/// The same members, their rings crossing rails as they may.
Shape crossing(Random& random, const Shape& shape) {
  std::vector<Shape::Member> members;
  for (std::uint32_t i = 0; i < shape.size(); ++i)
    members.push_back({shape.node_of(i), shape.rail_of(i)});
  constexpr Shape::Crossing kAll[] = {Shape::Crossing::none, Shape::Crossing::free,
                                      Shape::Crossing::alternate};
  return Shape{members, kAll[random.below(std::size(kAll))]};
}

Case random_case(OpKind kind, Algorithm algorithm, Random& random) {
  Case c{.op = {.kind = kind},
         .shape = crossing(random, test::random_shape(random, 5)),
         .choice = {.algorithm = algorithm}};
  c.choice.protocol = kProtocols[random.below(std::size(kProtocols))];
  c.choice.channels = pick(random, 1, 5);
  c.choice.chunk = Bytes{std::uint64_t{16} * pick(random, 1, 24)};
  c.choice.slices_per_chunk = c.choice.protocol == Protocol::simple && algorithm == Algorithm::ring
                                  ? pick(random, 1, 4)
                                  : 1;
  c.choice.credits = c.credits();
  c.op.root = pick(random, 0, c.shape.size() - 1);
  const std::uint64_t special[] = {
      0, 1, 15, 17, c.choice.chunk.count(), c.shape.size() * c.choice.chunk.count()};
  c.op.bytes = random.chance(0.4) ? special[random.below(std::size(special))] : random.below(6000);
  return c;
}

/// Runs `check` on many cases of each algorithm that does `kind`, with as few credits as work.
template <typename Check>
void for_each_algorithm(OpKind kind, std::uint64_t seed, Check check) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random{seed};
  for (const Algorithm algorithm :
       {Algorithm::ring, Algorithm::halving_doubling, Algorithm::direct}) {
    for (int round = 0; round < 60; ++round) {
      const Case c = random_case(kind, algorithm, random);
      if (!can_expand(kind, algorithm, c.shape)) continue;
      SCOPED_TRACE(testing::Message() << to_string(algorithm) << " " << to_string(c.choice.protocol)
                                      << ", " << c.op.bytes << " B, root " << c.op.root << ", "
                                      << c.choice.channels << " channels, chunk "
                                      << c.choice.chunk.count() << ", " << c.choice.slices_per_chunk
                                      << " slices, nodes and rails " << test::text(c.shape));
      check(c, Rehearsed{c.op, c.shape, c.choice, {}, c.credits()});
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// Bytes of data that the algorithm's formula says all ranks send together.
std::uint64_t formula(OpKind kind, Algorithm algorithm, std::uint32_t n, std::uint64_t bytes) {
  const std::uint64_t ring = (n - 1) * bytes * (kind == OpKind::all_reduce ? 2 : 1);
  if (algorithm != Algorithm::halving_doubling) return ring;
  const std::uint64_t half = std::bit_floor(n);
  const std::uint64_t folded = n - half;
  if (kind == OpKind::all_reduce) return 2 * (half - 1) * bytes + 2 * folded * bytes;
  return 0;  // blocks fold unevenly: the tests of the algorithm itself count them
}

void expect_formula(const Case& c, const Rehearsed& run) {
  const std::uint64_t expected = formula(c.op.kind, c.choice.algorithm, c.shape.size(), c.op.bytes);
  if (expected > 0) {
    EXPECT_EQ(run.bytes_sent(), expected);
  }
}

TEST(Algorithms, AllReduceGivesEveryRankTheSumOfAll) {
  for_each_algorithm(OpKind::all_reduce, 31, [](const Case& c, const Rehearsed& run) {
    const std::uint32_t n = c.shape.size();
    for (std::uint32_t rank = 0; n > 1 && rank < n; ++rank)
      for (std::uint64_t i = 0; i < c.op.bytes; ++i)
        ASSERT_EQ(run.data[rank][i], from_all(n)) << "rank " << rank << ", byte " << i;
    expect_formula(c, run);
    if (c.choice.algorithm == Algorithm::halving_doubling) return;
    for (const Amount& sent : run.sent)
      EXPECT_NEAR(
          static_cast<double>(sent.bytes),
          busbw_factor(OpKind::all_reduce, n) * static_cast<double>(c.op.bytes),
          c.choice.algorithm == Algorithm::ring ? 32.0 * c.choice.channels : 1.0 * c.shape.size());
  });
}

TEST(Algorithms, AllGatherGivesEveryRankAllBlocks) {
  for_each_algorithm(OpKind::all_gather, 32, [](const Case& c, const Rehearsed& run) {
    const std::uint32_t n = c.shape.size();
    for (std::uint32_t rank = 0; rank < n; ++rank)
      for (std::uint32_t owner = 0; owner < n; ++owner) {
        const Range block = block_of(c.op.bytes, n, owner);
        for (std::uint64_t i = block.begin; i < block.end; ++i)
          ASSERT_EQ(run.data[rank][i], from_rank(owner)) << "rank " << rank << ", byte " << i;
      }
    expect_formula(c, run);
  });
}

TEST(Algorithms, ReduceScatterGivesEveryRankTheSumOfItsBlock) {
  for_each_algorithm(OpKind::reduce_scatter, 33, [](const Case& c, const Rehearsed& run) {
    const std::uint32_t n = c.shape.size();
    for (std::uint32_t rank = 0; n > 1 && rank < n; ++rank) {
      const Range block = block_of(c.op.bytes, n, rank);
      for (std::uint64_t i = block.begin; i < block.end; ++i)
        ASSERT_EQ(run.data[rank][i], from_all(n)) << "rank " << rank << ", byte " << i;
    }
    expect_formula(c, run);
  });
}

TEST(Algorithms, BroadcastAndReduceGoByTheRingsOfNodes) {
  for_each_algorithm(OpKind::broadcast, 34, [](const Case& c, const Rehearsed& run) {
    for (const auto& data : run.data)
      for (std::uint64_t i = 0; i < c.op.bytes; ++i) ASSERT_EQ(data[i], from_rank(c.op.root));
    expect_formula(c, run);
  });
  for_each_algorithm(OpKind::reduce, 35, [](const Case& c, const Rehearsed& run) {
    for (std::uint64_t i = 0; c.shape.size() > 1 && i < c.op.bytes; ++i)
      ASSERT_EQ(run.data[c.op.root][i], from_all(c.shape.size()));
    expect_formula(c, run);
  });
}

TEST(Algorithms, AllToAllGivesEveryPairItsBlockOverNodes) {
  constexpr std::uint64_t kSeed = 36;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  Random random{kSeed};
  for (int round = 0; round < 120; ++round) {
    Case c = random_case(OpKind::all_to_all, Algorithm::ring, random);
    c.choice.slices_per_chunk = 1;
    c.choice.channels_per_peer = pick(random, 0, 4);
    SCOPED_TRACE(testing::Message()
                 << c.op.bytes << " B, " << c.choice.channels << " channels, "
                 << c.choice.channels_per_peer << " a peer, " << test::text(c.shape));
    const Rehearsed run{c.op, c.shape, c.choice, {}, 1};
    const std::uint32_t n = c.shape.size();
    EXPECT_EQ(run.bytes_sent(), (n - 1) * c.op.bytes);
    for (std::uint32_t from = 0; from < n; ++from)
      for (std::uint32_t to = 0; to < n; ++to) {
        const auto& arrived = run.pair_received[std::size_t{from} * n + to];
        const std::uint64_t bytes = from == to ? 0 : block_of(c.op.bytes, n, to).size();
        ASSERT_EQ(arrived.empty(), bytes == 0);
        for (std::uint64_t i = 0; i < arrived.size(); ++i) ASSERT_EQ(arrived[i], i < bytes ? 1 : 0);
      }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Algorithms, ARingStandsStillWithOneCreditLess) {
  // The property above must be able to fail: four ranks, two slices a chunk, two credits.
  const Shape shape = Shape::flat(4);
  const profile::Op op = all_reduce_of(1024);
  const Choice choice{.channels = 1, .chunk = Bytes{64}, .slices_per_chunk = 2};
  std::vector<Cursor> cursors;
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    cursors.push_back(expand(op, rank, shape, choice, nullptr, {}).lane(0));
  const auto moves_all = [&](std::uint32_t credits) {
    std::vector<Cursor> lanes = cursors;
    std::vector<std::uint32_t> waiting(4, 0);  // messages to the rank that were not consumed
    std::vector<Step> steps(4);
    std::vector<bool> has(4);
    for (std::uint32_t rank = 0; rank < 4; ++rank) has[rank] = lanes[rank].next(steps[rank]);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t rank = 0; rank < 4; ++rank) {
        while (has[rank]) {
          if (receives(steps[rank].action) && waiting[rank] == 0) break;
          if (sends(steps[rank].action) && waiting[(rank + 1) % 4] == credits) break;
          if (receives(steps[rank].action)) --waiting[rank];
          if (sends(steps[rank].action)) ++waiting[(rank + 1) % 4];
          has[rank] = lanes[rank].next(steps[rank]);
          moved = true;
        }
      }
    }
    return std::none_of(has.begin(), has.end(), [](bool left) { return left; });
  };
  EXPECT_TRUE(moves_all(3));
  EXPECT_FALSE(moves_all(2));
}

TEST(HalvingDoubling, FourRanksExchangeHalvesThenQuarters) {
  const Shape shape = Shape::flat(4);
  const profile::Op op = all_reduce_of(4096);
  const Choice choice{.algorithm = Algorithm::halving_doubling,
                      .channels = 1,
                      .chunk = Bytes{4096},
                      .slices_per_chunk = 1};
  Cursor cursor = expand(op, 1, shape, choice, nullptr, {}).lane(0);
  struct Expected {
    Action action;
    std::uint32_t peer;
    std::uint64_t offset, bytes;
  };
  const Expected order[] = {
      {Action::send, 3, 2048, 2048}, {Action::recv_reduce, 3, 0, 2048},
      {Action::send, 0, 0, 1024},    {Action::recv_reduce, 0, 1024, 1024},
      {Action::send, 0, 1024, 1024}, {Action::recv, 0, 0, 1024},
      {Action::send, 3, 0, 2048},    {Action::recv, 3, 2048, 2048},
  };
  Step step;
  for (const Expected& expected : order) {
    ASSERT_TRUE(cursor.next(step));
    EXPECT_EQ(step.action, expected.action);
    EXPECT_EQ(sends(step.action) ? step.to : step.from, expected.peer);
    EXPECT_EQ(step.offset, expected.offset);
    EXPECT_EQ(step.bytes, expected.bytes);
  }
  EXPECT_FALSE(cursor.next(step));
}

TEST(HalvingDoubling, ThreeRanksFoldOneIn) {
  const auto sent = [](OpKind kind) {
    const Choice choice{.algorithm = Algorithm::halving_doubling, .chunk = Bytes{64}};
    const Rehearsed run{{.kind = kind, .bytes = 300}, Shape::flat(3), choice};
    return std::vector<std::uint64_t>{run.sent[0].bytes, run.sent[1].bytes, run.sent[2].bytes};
  };
  // Rank 0 hands rank 1 all of it and gets its result; ranks 1 and 2 share the work.
  EXPECT_EQ(sent(OpKind::all_reduce), (std::vector<std::uint64_t>{300, 300 + 300, 300}));
  EXPECT_EQ(sent(OpKind::reduce_scatter), (std::vector<std::uint64_t>{300, 100 + 100, 200}));
  EXPECT_EQ(sent(OpKind::all_gather), (std::vector<std::uint64_t>{100, 200 + 200, 100}));
}

}  // namespace
}  // namespace rehearsal::collective

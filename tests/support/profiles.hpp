#pragma once

#include <string>

#include "core/base/random.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::test {

/// An op on the stream for its kind (0 compute, 1 communication).
inline profile::Op make_op(profile::OpKind kind, std::string name, std::uint32_t phase,
                           std::vector<profile::OpIndex> after) {
  profile::Op op;
  op.kind = kind;
  op.name = std::move(name);
  op.stream = is_communication(kind) ? 1 : 0;
  op.phase = phase;
  op.after = std::move(after);
  return op;
}

/// Four ranks in three classes: overlapped all_reduces, a skewed all_to_all, a broadcast and a
/// message from rank 0 to rank 3. Valid.
inline profile::Profile small_profile() {
  using profile::Op;
  using profile::OpKind;
  profile::Profile profile;
  profile.name = "small";
  profile.ranks = 4;
  profile.streams = {"compute", "communication"};
  profile.phases = {"forward", "backward"};
  profile.communicators = {{"world", {Rank{0}, Rank{1}, Rank{2}, Rank{3}}},
                           {"ends", {Rank{3}, Rank{0}}}};
  profile::PeerBytes skewed{.name = "skewed", .size = 4, .bytes = {}};
  for (std::uint64_t i = 0; i < 16; ++i) skewed.bytes.emplace_back(100 * i);
  profile.peer_bytes = {skewed};

  std::vector<Op> ops(5);
  ops[0].name = "fwd";
  ops[0].duration = std::chrono::milliseconds{2};
  ops[1] = make_op(OpKind::all_to_all, "exchange", 0, {0});
  ops[1].peer_bytes = 0;
  ops[2].name = "bwd";
  ops[2].phase = 1;
  ops[2].after = {1};
  ops[2].duration = std::chrono::microseconds{1500};
  ops[3] = make_op(OpKind::all_reduce, "bucket", 1, {2});
  ops[3].bytes = Bytes{1'000'003};
  ops[3].captured = std::chrono::microseconds{250};
  ops[4] = make_op(OpKind::broadcast, "", 1, {});
  ops[4].bytes = Bytes{64U << 10};
  ops[4].peer = 2;

  profile.classes = {{"middle", {Rank{1}, Rank{2}}, ops}};
  Op send = make_op(OpKind::send, "tail", 1, {});
  send.communicator = CommunicatorIndex{1};
  send.bytes = Bytes{4096};
  send.peer = 0;
  std::vector<Op> first = ops;
  first.push_back(send);
  Op recv = send;
  recv.kind = OpKind::recv;
  recv.peer = 1;
  std::vector<Op> last = ops;
  last.push_back(recv);
  profile.classes.push_back({"first", {Rank{0}}, first});
  profile.classes.push_back({"last", {Rank{3}}, last});
  profile.provenance = {.format = "by hand",
                        .importer = "none",
                        .note = "for tests: \"quotes\" and a\nnew line",
                        .sources = {{"a.json", std::string(64, 'a')}}};
  return profile;
}

/// A valid profile drawn from `random`: up to 9 ranks, one class or two.
inline profile::Profile random_profile(Random& random) {
  using profile::Op;
  using profile::OpKind;
  profile::Profile profile;
  profile.name = "random " + std::to_string(random.below(1000));
  profile.ranks = static_cast<std::uint32_t>(random.between(1, 9));
  profile.streams = {"compute", "communication", "odd: one"};
  profile.phases = {"forward", "backward"};
  profile::Communicator world{.name = "world", .ranks = {}};
  for (std::uint32_t rank = 0; rank < profile.ranks; ++rank) {
    world.ranks.insert(world.ranks.begin() + static_cast<std::ptrdiff_t>(random.below(rank + 1)),
                       Rank{rank});
  }
  profile.communicators = {world};
  profile::PeerBytes matrix{.name = "sizes", .size = profile.ranks, .bytes = {}};
  for (std::uint32_t i = 0; i < profile.ranks * profile.ranks; ++i) {
    matrix.bytes.emplace_back(random.below(1 << 20));
  }
  profile.peer_bytes = {matrix};

  std::vector<Op> ops;
  const std::uint64_t count = random.between(1, 20);
  for (std::uint32_t i = 0; i < count; ++i) {
    Op op;
    op.name = random.chance(0.7) ? "op " + std::to_string(random.below(30)) : "";
    op.stream = static_cast<std::uint32_t>(random.below(3));
    op.phase = i < count / 2 ? 0 : 1;
    for (std::uint32_t earlier = 0; earlier < i; ++earlier) {
      if (random.chance(0.2)) op.after.push_back(earlier);
    }
    constexpr OpKind kKinds[] = {OpKind::compute,    OpKind::all_reduce, OpKind::all_gather,
                                 OpKind::all_to_all, OpKind::broadcast,  OpKind::scatter,
                                 OpKind::barrier};
    op.kind = kKinds[random.below(std::size(kKinds))];
    if (op.kind == OpKind::compute) {
      op.duration = Duration{static_cast<std::int64_t>(random.below(1'000'000'000))};
    } else {
      op.captured = Duration{static_cast<std::int64_t>(random.below(1'000'000))};
      if (op.kind != OpKind::barrier) op.bytes = Bytes{random.below(std::uint64_t{1} << 40)};
      if (op.kind == OpKind::broadcast || op.kind == OpKind::scatter) {
        op.peer = static_cast<std::uint32_t>(random.below(profile.ranks));
      }
      if (op.kind == OpKind::all_to_all && random.chance(0.5)) {
        op.peer_bytes = 0;
        op.bytes = Bytes{0};
      }
    }
    ops.push_back(std::move(op));
  }
  const auto split = static_cast<std::uint32_t>(random.below(profile.ranks));
  profile::RankClass low{.name = "low", .ranks = {}, .ops = ops};
  profile::RankClass high{.name = "7 high", .ranks = {}, .ops = ops};
  for (std::uint32_t rank = 0; rank < profile.ranks; ++rank) {
    (rank < split ? low : high).ranks.push_back(Rank{rank});
  }
  if (!low.ranks.empty()) profile.classes.push_back(std::move(low));
  profile.classes.push_back(std::move(high));
  return profile;
}

}  // namespace rehearsal::test

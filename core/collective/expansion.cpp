#include "core/collective/expansion.hpp"

#include "core/base/check.hpp"

namespace rehearsal::collective {

namespace {

/// What PyTorch's barrier on NCCL is: an all_reduce of one float (docs/decisions/0005).
constexpr std::uint64_t kBarrierBytes = 4;

bool goes_by_pairs(profile::OpKind kind) {
  using profile::OpKind;
  return kind == OpKind::all_to_all || kind == OpKind::gather || kind == OpKind::scatter ||
         profile::is_point_to_point(kind);
}

std::uint64_t array_bytes(const profile::Op& op) {
  return op.kind == profile::OpKind::barrier ? kBarrierBytes : op.bytes.count();
}

Expansion by_pairs(const profile::Op& op, std::uint32_t position, const Shape& shape,
                   const Choice& choice, const profile::PeerBytes* peer_bytes) noexcept {
  using profile::OpKind;
  if (profile::is_point_to_point(op.kind) && op.peer == position) return {};
  PairBytes pairs{
      .size = shape.size(), .bytes = op.bytes.count(), .root = op.peer, .per_peer = peer_bytes};
  switch (op.kind) {
    case OpKind::all_to_all:
      pairs.kind = peer_bytes != nullptr ? PairBytes::Kind::per_peer : PairBytes::Kind::all_to_all;
      break;
    case OpKind::gather:
      pairs.kind = PairBytes::Kind::gather;
      break;
    case OpKind::scatter:
      pairs.kind = PairBytes::Kind::scatter;
      break;
    default:
      pairs.kind = PairBytes::Kind::single;
      pairs.root = op.kind == OpKind::send ? position : op.peer;
      pairs.destination = op.kind == OpKind::send ? op.peer : position;
      break;
  }
  return Expansion{PairExchange{pairs, position, shape, choice}};
}

Expansion all_reduce(std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                     const Choice& choice) noexcept {
  using Inside = TreeAllReduce::Inside;
  if (choice.algorithm == Algorithm::ring)
    return Expansion{RingAllReduce{bytes, position, shape, choice}};
  if (choice.algorithm == Algorithm::direct)
    return Expansion{DirectAllReduce{bytes, position, shape, choice}};
  if (choice.algorithm == Algorithm::halving_doubling)
    return Expansion{
        HalvingDoubling{HalvingDoubling::Kind::all_reduce, bytes, position, shape, choice}};
  const Inside inside = choice.algorithm == Algorithm::tree ? Inside::chain : Inside::star;
  return Expansion{TreeAllReduce{inside, bytes, position, shape, choice}};
}

template <typename Blocks>
Expansion by_blocks_as(bool gathers, std::uint64_t bytes, std::uint32_t position,
                       const Shape& shape, const Choice& choice) noexcept {
  const auto kind = gathers ? Blocks::Kind::all_gather : Blocks::Kind::reduce_scatter;
  return Expansion{Blocks{kind, bytes, position, shape, choice}};
}

Expansion by_blocks(bool gathers, std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                    const Choice& choice) noexcept {
  if (choice.algorithm == Algorithm::pat)
    return by_blocks_as<PatBlocks>(gathers, bytes, position, shape, choice);
  if (choice.algorithm == Algorithm::ring)
    return by_blocks_as<RingBlocks>(gathers, bytes, position, shape, choice);
  if (choice.algorithm == Algorithm::halving_doubling)
    return by_blocks_as<HalvingDoubling>(gathers, bytes, position, shape, choice);
  return by_blocks_as<DirectBlocks>(gathers, bytes, position, shape, choice);
}

template <typename T>
concept Walks = requires(T lane, Step& step) {
  lane.next(step);
};

}  // namespace

bool Cursor::next(Step& step) noexcept {
  return std::visit(
      [&](auto& lane) {
        if constexpr (Walks<decltype(lane)>)
          return lane.next(step);
        else
          return false;
      },
      lane_);
}

std::uint32_t Expansion::lane_count() const noexcept {
  return std::visit(
      [](const auto& algorithm) -> std::uint32_t {
        if constexpr (requires { algorithm.lane_count(); })
          return algorithm.lane_count();
        else
          return 0;
      },
      algorithm_);
}

Cursor Expansion::lane(std::uint32_t index) const noexcept {
  return std::visit(
      [&](const auto& algorithm) {
        if constexpr (requires { algorithm.lane(index); })
          return Cursor{algorithm.lane(index)};
        else
          return Cursor{};
      },
      algorithm_);
}

void Expansion::append_sent(std::vector<Traffic>& out) const {
  std::visit(
      [&](const auto& algorithm) {
        if constexpr (requires { algorithm.append_sent(out); }) algorithm.append_sent(out);
      },
      algorithm_);
}

void Expansion::append_received(std::vector<Traffic>& out) const {
  std::visit(
      [&](const auto& algorithm) {
        if constexpr (requires { algorithm.append_received(out); }) algorithm.append_received(out);
      },
      algorithm_);
}

Choice default_choice(const profile::Op& op, const Settings& settings) noexcept {
  using profile::OpKind;
  Choice choice{.chunk = settings.chunk,
                .slices_per_chunk = settings.slices_per_chunk,
                .credits = settings.credits};
  if (goes_by_pairs(op.kind)) {
    choice.channels = settings.point_to_point_channels;
    choice.chunk = settings.point_to_point_chunk;
    choice.slices_per_chunk = 1;
    return choice;
  }
  choice.channels =
      channels_for(array_bytes(op), settings.channels, settings.channel_bytes_min.count());
  if (op.kind == OpKind::broadcast || op.kind == OpKind::reduce) {
    choice.chunk = settings.pipeline_chunk;
    choice.slices_per_chunk = 1;
  }
  return choice;
}

bool can_expand(profile::OpKind kind, Algorithm algorithm, const Shape& shape) noexcept {
  using profile::OpKind;
  if (kind == OpKind::compute || goes_by_pairs(kind) || algorithm == Algorithm::ring) return true;
  const bool blocks = kind == OpKind::all_gather || kind == OpKind::reduce_scatter;
  const bool reduces_all = kind == OpKind::all_reduce || kind == OpKind::barrier;
  switch (algorithm) {
    case Algorithm::tree:
    case Algorithm::nvls_tree:
      return reduces_all;
    case Algorithm::nvls:
      return (blocks || reduces_all) && shape.nodes() == 1;
    case Algorithm::pat:
      return blocks && shape.size() <= 1U << kPatDimensionsMax;
    case Algorithm::direct:
    case Algorithm::halving_doubling:
      return blocks || reduces_all;
    default:
      return false;
  }
}

Expansion expand(const profile::Op& op, std::uint32_t position, const Shape& shape,
                 const Choice& choice, const profile::PeerBytes* peer_bytes,
                 const Settings& /*settings*/) noexcept {
  using profile::OpKind;
  if (op.kind == OpKind::compute || shape.size() < 2) return {};
  if (goes_by_pairs(op.kind)) return by_pairs(op, position, shape, choice, peer_bytes);
  CHECK(can_expand(op.kind, choice.algorithm, shape), "an algorithm that this op cannot take");
  const std::uint64_t bytes = array_bytes(op);
  switch (op.kind) {
    case OpKind::all_reduce:
    case OpKind::barrier:
      return all_reduce(bytes, position, shape, choice);
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
      return by_blocks(op.kind == OpKind::all_gather, bytes, position, shape, choice);
    case OpKind::broadcast:
      return Expansion{
          RingPipeline{RingPipeline::Kind::broadcast, bytes, op.peer, position, shape, choice}};
    case OpKind::reduce:
      return Expansion{
          RingPipeline{RingPipeline::Kind::reduce, bytes, op.peer, position, shape, choice}};
    default:
      CHECK(false, "an op kind without an algorithm");
  }
}

double busbw_factor(profile::OpKind kind, std::uint32_t size) {
  using profile::OpKind;
  const double n = size;
  switch (kind) {
    case OpKind::all_reduce:
      return 2.0 * (n - 1.0) / n;
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
    case OpKind::all_to_all:
      return (n - 1.0) / n;
    default:
      return 1.0;
  }
}

}  // namespace rehearsal::collective

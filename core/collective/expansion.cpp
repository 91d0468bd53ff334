#include "core/collective/expansion.hpp"

#include "core/base/check.hpp"

namespace rehearsal::collective {

namespace {

/// What PyTorch's barrier on NCCL is: an all_reduce of one float (docs/decisions/0005).
constexpr std::uint64_t kBarrierBytes = 4;

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

Expansion expand(const profile::Op& op, Place place, const profile::PeerBytes* peer_bytes,
                 const Settings& settings) noexcept {
  using profile::OpKind;
  if (place.size < 2) return {};
  const std::uint64_t bytes = op.bytes.count();
  const auto pairs = [&](PairBytes::Kind kind, std::uint32_t root, std::uint32_t destination = 0) {
    return Expansion{PairExchange{{.kind = kind,
                                   .size = place.size,
                                   .bytes = bytes,
                                   .root = root,
                                   .destination = destination,
                                   .per_peer = peer_bytes},
                                  place,
                                  settings}};
  };
  switch (op.kind) {
    case OpKind::compute:
      return {};
    case OpKind::all_reduce:
      return Expansion{RingAllReduce{bytes, place, settings}};
    case OpKind::barrier:
      return Expansion{RingAllReduce{kBarrierBytes, place, settings}};
    case OpKind::all_gather:
      return Expansion{RingBlocks{RingBlocks::Kind::all_gather, bytes, place, settings}};
    case OpKind::reduce_scatter:
      return Expansion{RingBlocks{RingBlocks::Kind::reduce_scatter, bytes, place, settings}};
    case OpKind::broadcast:
      return Expansion{
          RingPipeline{RingPipeline::Kind::broadcast, bytes, op.peer, place, settings}};
    case OpKind::reduce:
      return Expansion{RingPipeline{RingPipeline::Kind::reduce, bytes, op.peer, place, settings}};
    case OpKind::all_to_all:
      return pairs(peer_bytes != nullptr ? PairBytes::Kind::per_peer : PairBytes::Kind::all_to_all,
                   0);
    case OpKind::gather:
      return pairs(PairBytes::Kind::gather, op.peer);
    case OpKind::scatter:
      return pairs(PairBytes::Kind::scatter, op.peer);
    case OpKind::send:
      if (op.peer == place.position) return {};
      return pairs(PairBytes::Kind::single, place.position, op.peer);
    case OpKind::recv:
      if (op.peer == place.position) return {};
      return pairs(PairBytes::Kind::single, op.peer, place.position);
  }
  CHECK(false, "an op kind without an algorithm");
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

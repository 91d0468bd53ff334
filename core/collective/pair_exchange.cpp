#include "core/collective/pair_exchange.hpp"

#include <algorithm>

namespace rehearsal::collective {

namespace {

/// The channel of a pair's first part: rounds are spread over the channels, up to 8 rounds of one
/// group together (nccl src/include/channel.h, ncclP2pChannelBaseForRound).
std::uint32_t first_channel(const PeerOrder& order, const PeerOrder::Round& round,
                            std::uint32_t channels) {
  const auto per_group =
      static_cast<std::uint32_t>(divide_up(order.group(), PairExchange::kPeersPerChannel));
  return (round.group_index * per_group + round.local_distance / PairExchange::kPeersPerChannel) %
         channels;
}

}  // namespace

std::uint64_t PairBytes::from_to(std::uint32_t source, std::uint32_t to) const noexcept {
  if (source == to) return 0;
  switch (kind) {
    case Kind::all_to_all:
      return block_of(bytes, size, to).size();
    case Kind::per_peer:
      return per_peer->from_to(source, to).count();
    case Kind::gather:
      return to == root ? block_of(bytes, size, source).size() : 0;
    case Kind::scatter:
      return source == root ? block_of(bytes, size, to).size() : 0;
    case Kind::single:
      return source == root && to == destination ? bytes : 0;
  }
  return 0;
}

PairCut PairCut::of(std::uint64_t bytes, const Choice& choice) noexcept {
  const std::uint64_t chunk = choice.chunk.count();
  PairCut cut;
  if (bytes == 0) return cut;
  cut.parts = 1;
  while (divide_up(bytes, cut.parts) > chunk && cut.parts * 2 <= choice.channels) cut.parts *= 2;
  // NCCL aligns parts to 4 KiB, a 32nd of its chunk.
  const std::uint64_t alignment = std::clamp<std::uint64_t>(chunk / 32, kAlignment, 4096);
  cut.part_bytes = align_up(divide_up(bytes, cut.parts), alignment);
  cut.parts = static_cast<std::uint32_t>(divide_up(bytes, cut.part_bytes));
  cut.chunk = chunk;
  if (bytes < chunk)
    cut.chunk = chunk / 4;
  else if (bytes < 8 * chunk)
    cut.chunk = chunk / 2;
  cut.chunk = std::max<std::uint64_t>(cut.chunk, 1);
  return cut;
}

PairExchange::PairExchange(PairBytes pairs, std::uint32_t position, const Shape& shape,
                           const Choice& choice) noexcept
    : pairs_(pairs), position_(position), order_(shape.size(), shape.group()), choice_(choice) {
  using Kind = PairBytes::Kind;
  const bool is_root = position == pairs.root;
  switch (pairs.kind) {
    case Kind::all_to_all:
    case Kind::per_peer:
      sends_ = receives_ = true;
      break;
    case Kind::gather:
      (is_root ? receives_ : sends_) = true;
      break;
    case Kind::scatter:
      (is_root ? sends_ : receives_) = true;
      break;
    case Kind::single:
      sends_ = is_root;
      receives_ = position == pairs.destination;
      break;
  }
  if (pairs.kind != Kind::single) slots_ = std::min(kPeersPerChannel, shape.size() - 1);
}

PairExchange::Cursor::Cursor(const PairExchange& algorithm, std::uint32_t lane) noexcept
    : pairs_(algorithm.pairs_),
      choice_(algorithm.choice_),
      order_(algorithm.order_),
      position_(algorithm.position_),
      slots_(algorithm.slots_),
      slot_(lane % slots_) {
  const std::uint32_t channel = lane / slots_ % algorithm.channels();
  const bool second_direction = lane / slots_ >= algorithm.channels();
  step_.action = algorithm.sends_ && !second_direction ? Action::send : Action::recv;
  step_.channel = static_cast<std::uint16_t>(channel);
}

bool PairExchange::Cursor::next_part() noexcept {
  const std::uint32_t channels = choice_.channels;
  const bool sent = step_.action == Action::send;
  PeerOrder::Round round;
  while (rounds_.next(order_, round)) {
    const std::uint32_t peer = sent ? order_.to(position_, round) : order_.from(position_, round);
    const std::uint64_t bytes =
        sent ? pairs_.from_to(position_, peer) : pairs_.from_to(peer, position_);
    const PairCut cut = PairCut::of(bytes, choice_);
    const std::uint32_t part =
        (step_.channel + channels - first_channel(order_, round, channels)) % channels;
    if (part >= cut.parts || peers_seen_++ % slots_ != slot_) continue;
    (sent ? step_.to : step_.from) = peer;
    step_.offset = part * cut.part_bytes;
    step_.bytes = 0;
    end_ = std::min(step_.offset + cut.part_bytes, bytes);
    chunk_ = cut.chunk;
    return true;
  }
  return false;
}

bool PairExchange::Cursor::next(Step& step) noexcept {
  step_.offset += step_.bytes;
  if (step_.offset >= end_ && !next_part()) {
    step_.bytes = 0;
    return false;
  }
  step_.bytes = std::min(chunk_, end_ - step_.offset);
  step_.wire = wire_bytes(choice_.protocol, step_.bytes);
  step = step_;
  return true;
}

void PairExchange::append(bool sent, std::vector<Traffic>& out) const {
  const auto wire_of = [&](std::uint64_t size) { return wire_bytes(choice_.protocol, size); };
  PeerOrder::Iterator rounds;
  PeerOrder::Round round;
  while (rounds.next(order_, round)) {
    const std::uint32_t peer = sent ? order_.to(position_, round) : order_.from(position_, round);
    const std::uint64_t bytes =
        sent ? pairs_.from_to(position_, peer) : pairs_.from_to(peer, position_);
    const PairCut cut = PairCut::of(bytes, choice_);
    for (std::uint32_t part = 0; part < cut.parts; ++part) {
      const std::uint64_t begin = part * cut.part_bytes;
      const std::uint64_t size = std::min(cut.part_bytes, bytes - begin);
      const std::uint32_t channel = (first_channel(order_, round, channels()) + part) % channels();
      const std::uint64_t chunks = size / cut.chunk;
      const std::uint64_t rest = size % cut.chunk;
      out.push_back({.peer = peer,
                     .channel = static_cast<std::uint16_t>(channel),
                     .amount = {size, chunks * wire_of(cut.chunk) + wire_of(rest),
                                chunks + (rest > 0 ? 1 : 0)},
                     .message_bytes_max = wire_of(std::min(size, cut.chunk))});
    }
  }
}

void PairExchange::append_sent(std::vector<Traffic>& out) const {
  if (sends_) append(true, out);
}

void PairExchange::append_received(std::vector<Traffic>& out) const {
  if (receives_) append(false, out);
}

}  // namespace rehearsal::collective

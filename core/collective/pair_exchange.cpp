#include "core/collective/pair_exchange.hpp"

#include <algorithm>

namespace rehearsal::collective {

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

PairSchedule::PairSchedule(PairBytes pairs, std::uint32_t position, const Shape& shape,
                           const Choice& choice) noexcept
    : pairs_(pairs),
      order_(shape.size(), shape.group()),
      rules_(shape, choice),
      shape_(&shape),
      position_(position),
      protocol_(choice.protocol) {}

/// Rounds are spread over the channels, on several nodes up to 8 rounds of one group together (nccl
/// src/include/channel.h, ncclP2pChannelBaseForRound).
std::uint32_t PairSchedule::base_of(const PeerOrder::Round& round) const noexcept {
  if (shape_->knows_nodes() && shape_->nodes() == 1)
    return round.group_index * order_.group() + round.local_distance;
  const std::uint64_t per_group = divide_up(order_.group(), PairExchange::kPeersPerChannel);
  return round.group_index * static_cast<std::uint32_t>(per_group) +
         round.local_distance / PairExchange::kPeersPerChannel;
}

bool PairSchedule::next(PeerOrder::Iterator& rounds, bool sent, Meeting& meeting) const noexcept {
  PeerOrder::Round round;
  if (!rounds.next(order_, round)) return false;
  meeting.peer = sent ? order_.to(position_, round) : order_.from(position_, round);
  meeting.base = base_of(round);
  meeting.bytes =
      sent ? pairs_.from_to(position_, meeting.peer) : pairs_.from_to(meeting.peer, position_);
  const bool between_nodes =
      !shape_->knows_nodes() || shape_->node_of(position_) != shape_->node_of(meeting.peer);
  meeting.cut = rules_.cut(meeting.bytes, between_nodes);
  return true;
}

std::uint32_t PairExchange::slots(PairBytes::Kind kind, std::uint32_t size) noexcept {
  return kind == PairBytes::Kind::single ? 1 : std::min(kPeersPerChannel, size - 1);
}

PairExchange::PairExchange(PairBytes pairs, std::uint32_t position, const Shape& shape,
                           const Choice& choice) noexcept
    : schedule_(pairs, position, shape, choice), slots_(slots(pairs.kind, shape.size())) {
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
}

PairExchange::Cursor::Cursor(const PairExchange& algorithm, std::uint32_t lane) noexcept
    : schedule_(algorithm.schedule_), slots_(algorithm.slots_), slot_(lane % slots_) {
  const std::uint32_t channel = lane / slots_ % algorithm.channels();
  const bool second_direction = lane / slots_ >= algorithm.channels();
  step_.action = algorithm.sends_ && !second_direction ? Action::send : Action::recv;
  step_.channel = static_cast<std::uint16_t>(channel);
}

bool PairExchange::Cursor::next_part() noexcept {
  const bool sent = step_.action == Action::send;
  PairSchedule::Meeting meeting;
  while (schedule_.next(rounds_, sent, meeting)) {
    const std::uint32_t part = schedule_.rules().part_of(meeting.base, step_.channel);
    if (part >= meeting.cut.parts || peers_seen_++ % slots_ != slot_) continue;
    (sent ? step_.to : step_.from) = meeting.peer;
    const Range range = meeting.part(part);
    step_.offset = range.begin;
    step_.bytes = 0;
    end_ = range.end;
    chunk_ = meeting.cut.chunk;
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
  step_.wire = wire_bytes(schedule_.protocol(), step_.bytes);
  step = step_;
  return true;
}

void PairExchange::append(bool sent, std::vector<Traffic>& out) const {
  const auto wire_of = [&](std::uint64_t size) { return wire_bytes(schedule_.protocol(), size); };
  PeerOrder::Iterator rounds;
  PairSchedule::Meeting meeting;
  while (schedule_.next(rounds, sent, meeting)) {
    for (std::uint32_t part = 0; part < meeting.cut.parts; ++part) {
      const std::uint64_t size = meeting.part(part).size();
      const std::uint64_t chunk = meeting.cut.chunk;
      const std::uint64_t rest = size % chunk;
      const std::uint32_t channel = schedule_.rules().channel_of(meeting.base, part);
      out.push_back({.peer = meeting.peer,
                     .channel = static_cast<std::uint16_t>(channel),
                     .amount = {size, size / chunk * wire_of(chunk) + wire_of(rest),
                                size / chunk + (rest > 0 ? 1 : 0)},
                     .message_bytes_max = wire_of(std::min(size, chunk))});
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

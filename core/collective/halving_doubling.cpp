#include "core/collective/halving_doubling.hpp"

#include <bit>

namespace rehearsal::collective {

HalvingDoubling::HalvingDoubling(Kind kind, std::uint64_t bytes, std::uint32_t position,
                                 const Shape& shape, const Choice& choice) noexcept
    : kind_(kind),
      bytes_(bytes),
      position_(position),
      size_(shape.size()),
      slicing_{align_up(choice.chunk.count()), 1, choice.protocol},
      channels_(kind == Kind::all_reduce ? choice.channels : 1),
      levels_(static_cast<std::uint32_t>(std::bit_width(size_)) - 1),
      pairs_(size_ - std::bit_floor(size_)),
      folded_(position < 2 * pairs_ && position % 2 == 0),
      place_(position < 2 * pairs_ ? position / 2 : position - pairs_) {}

Range HalvingDoubling::array(std::uint32_t channel) const noexcept {
  return channel_part(bytes_, channels_, channel);
}

/// What belongs to the places from `begin` to before `end`.
Range HalvingDoubling::blocks(std::uint32_t begin, std::uint32_t end,
                              std::uint32_t channel) const noexcept {
  const auto boundary = [&](std::uint32_t place) {
    if (kind_ == Kind::all_reduce) {
      const Range part = array(channel);
      return part.begin + block_of(part.size(), std::uint64_t{1} << levels_, place).begin;
    }
    return block_of(bytes_, size_, place < pairs_ ? 2 * place : place + pairs_).begin;
  };
  return {boundary(begin), boundary(end)};
}

/// The exchange of the first half at which 2^(levels − level) ranks still hold something together.
HalvingDoubling::Exchange HalvingDoubling::halving(std::uint32_t level,
                                                   std::uint32_t channel) const noexcept {
  const std::uint32_t mask = 1U << (levels_ - 1 - level);
  const std::uint32_t first = place_ & ~(2 * mask - 1);
  const Range lower = blocks(first, first + mask, channel);
  const Range upper = blocks(first + mask, first + 2 * mask, channel);
  const bool keeps_upper = (place_ & mask) != 0;
  const std::uint32_t other = place_ ^ mask;
  return {.peer = other < pairs_ ? 2 * other + 1 : other + pairs_,
          .reduces = true,
          .sent = keeps_upper ? lower : upper,
          .received = keeps_upper ? upper : lower};
}

/// What the two of a pair do before (stage 0) and after all others (the last two stages).
HalvingDoubling::Exchange HalvingDoubling::folding(std::uint32_t stage,
                                                   std::uint32_t channel) const noexcept {
  if (position_ >= 2 * pairs_) return {};
  const Range block = block_of(bytes_, size_, 2 * place_);  // of the one that does not take part
  const bool before = stage == 0;
  const bool last = stage + 1 == stage_count();
  Range range = array(channel);
  if (kind_ == Kind::all_reduce && last) return {};
  if (kind_ == Kind::reduce_scatter) {
    if (last) return {};
    if (!before) range = block;
  }
  if (kind_ == Kind::all_gather)
    range = before ? block : last ? Range{block.end, bytes_} : Range{0, block.begin};
  Exchange exchange{.peer = folded_ ? position_ + 1 : position_ - 1,
                    .reduces = before && kind_ != Kind::all_gather,
                    .sent = {},
                    .received = {}};
  (folded_ == before ? exchange.sent : exchange.received) = range;
  return exchange;
}

HalvingDoubling::Exchange HalvingDoubling::exchange(std::uint32_t stage,
                                                    std::uint32_t channel) const noexcept {
  if (stage == 0 || stage > 2 * levels_) return folding(stage, channel);
  if (folded_) return {};
  const bool first_half = stage <= levels_;
  if (kind_ == (first_half ? Kind::all_gather : Kind::reduce_scatter)) return {};
  Exchange exchange = halving(first_half ? stage - 1 : 2 * levels_ - stage, channel);
  if (!first_half) {
    std::swap(exchange.sent, exchange.received);
    exchange.reduces = false;
  }
  return exchange;
}

bool HalvingDoubling::Cursor::next(Step& step) noexcept {
  for (; stage_ < algorithm_.stage_count(); ++stage_, offset_ = 0) {
    const Exchange exchange = algorithm_.exchange(stage_, channel_);
    while (offset_ < std::max(exchange.sent.size(), exchange.received.size())) {
      const bool sends_now = !sent_;
      const Range range = sends_now ? exchange.sent : exchange.received;
      const std::uint64_t begin = std::min(range.begin + offset_, range.end);
      const std::uint64_t bytes = std::min(algorithm_.slicing_.chunk, range.end - begin);
      sent_ = sends_now;
      if (!sends_now) offset_ += algorithm_.slicing_.chunk;
      if (bytes == 0) continue;
      step = Step{.action = sends_now          ? Action::send
                            : exchange.reduces ? Action::recv_reduce
                                               : Action::recv,
                  .from = exchange.peer,
                  .to = exchange.peer,
                  .channel = channel_,
                  .offset = begin,
                  .bytes = bytes,
                  .wire = wire_bytes(algorithm_.slicing_.protocol, bytes)};
      return true;
    }
  }
  return false;
}

void HalvingDoubling::append(bool sent, std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    const std::size_t begin = out.size();
    for (std::uint32_t stage = 0; stage < stage_count(); ++stage) {
      const Exchange with = exchange(stage, channel);
      const std::uint64_t bytes = (sent ? with.sent : with.received).size();
      if (bytes == 0) continue;
      const auto known = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                                      [&](const Traffic& t) { return t.peer == with.peer; });
      Traffic& traffic = known != out.end() ? *known : out.emplace_back();
      traffic.peer = with.peer;
      traffic.channel = static_cast<std::uint16_t>(channel);
      traffic.amount += slicing_.in_chunks(bytes);
      traffic.message_bytes_max =
          std::max(traffic.message_bytes_max,
                   wire_bytes(slicing_.protocol, std::min(bytes, slicing_.chunk)));
    }
  }
}

}  // namespace rehearsal::collective

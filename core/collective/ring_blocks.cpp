#include "core/collective/ring_blocks.hpp"

namespace rehearsal::collective {

namespace {

Action action_of(RingBlocks::Kind kind, std::uint32_t stage, std::uint32_t size) {
  const bool gathers = kind == RingBlocks::Kind::all_gather;
  if (stage == 0) return Action::send;
  if (stage + 1 < size) return gathers ? Action::recv_copy_send : Action::recv_reduce_send;
  return gathers ? Action::recv : Action::recv_reduce;
}

/// Block lengths differ by at most one byte: floor and ceil.
std::uint64_t part_bytes_max(std::uint64_t bytes, std::uint32_t size, std::uint32_t channels,
                             std::uint32_t channel) {
  return std::max(channel_part(bytes / size, channels, channel).size(),
                  channel_part(divide_up(bytes, size), channels, channel).size());
}

}  // namespace

RingBlocks::RingBlocks(Kind kind, std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                       const Choice& choice) noexcept
    : kind_(kind),
      bytes_(bytes),
      position_(position),
      shape_(&shape),
      slicing_(Slicing::of(choice)),
      channels_(choice.channels) {}

RingBlocks::Cursor::Cursor(const RingBlocks& algorithm, std::uint32_t channel) noexcept
    : kind_(algorithm.kind_),
      shape_(algorithm.shape_),
      ring_(Ring::of(*shape_, channel, algorithm.position_)),
      slicing_(algorithm.slicing_),
      bytes_(algorithm.bytes_),
      channels_(algorithm.channels_),
      channel_(static_cast<std::uint16_t>(channel)),
      part_bytes_max_(part_bytes_max(bytes_, ring_.size, channels_, channel)) {}

Range RingBlocks::Cursor::chunk_of(std::uint32_t block) const noexcept {
  return chunk_at(block_part(bytes_, ring_.size, block, channels_, channel_), chunk_offset_,
                  slicing_.chunk);
}

bool RingBlocks::Cursor::next(Step& step) noexcept {
  const std::uint32_t n = ring_.size;
  const std::uint32_t first = kind_ == Kind::all_gather ? 0 : 1;
  for (; chunk_offset_ < part_bytes_max_; chunk_offset_ += slicing_.chunk, stage_ = 0) {
    for (; stage_ < n; ++stage_, slice_offset_ = 0) {
      // Blocks are those of positions; who owns the one that comes by tells the ring.
      const Range chunk =
          chunk_of(shape_->ring_position(channel_, (ring_.index + 2 * n - first - stage_) % n));
      if (slice_offset_ >= chunk.size()) continue;
      const std::uint64_t bytes =
          std::min(slicing_.slice_bytes(chunk.size()), chunk.size() - slice_offset_);
      step = Step{.action = action_of(kind_, stage_, n),
                  .from = ring_.previous,
                  .to = ring_.next,
                  .channel = channel_,
                  .offset = chunk.begin + slice_offset_,
                  .bytes = bytes,
                  .wire = wire_bytes(slicing_.protocol, bytes)};
      slice_offset_ += bytes;
      return true;
    }
  }
  return false;
}

Traffic RingBlocks::sent_on(std::uint32_t channel, std::uint32_t position,
                            std::uint32_t next) const noexcept {
  // A rank sends every block but one: gathering, that of the next rank; scattering, its own.
  const std::uint32_t n = shape_->size();
  const std::uint32_t left_out = kind_ == Kind::all_gather ? next : position;
  const auto part = [&](std::uint64_t block) {
    return slicing_.in_chunks(channel_part(block, channels_, channel).size());
  };
  const std::uint64_t large_count = bytes_ % n;
  return {.peer = next,
          .channel = static_cast<std::uint16_t>(channel),
          .amount = large_count * part(bytes_ / n + 1) + (n - large_count) * part(bytes_ / n) -
                    part(block_of(bytes_, n, left_out).size()),
          .message_bytes_max = slicing_.message_bytes_max(
              std::min(part_bytes_max(bytes_, n, channels_, channel), slicing_.chunk))};
}

void RingBlocks::append_sent(std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    const Traffic traffic = sent_on(channel, position_, shape_->next(channel, position_));
    if (traffic.amount.messages > 0) out.push_back(traffic);
  }
}

void RingBlocks::append_received(std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    const std::uint32_t previous = shape_->previous(channel, position_);
    Traffic traffic = sent_on(channel, previous, position_);
    traffic.peer = previous;
    if (traffic.amount.messages > 0) out.push_back(traffic);
  }
}

}  // namespace rehearsal::collective

#include "core/collective/ring_all_reduce.hpp"

namespace rehearsal::collective {

namespace {

Action action_of(std::uint32_t stage, std::uint32_t size) {
  if (stage == 0) return Action::send;
  if (stage + 1 < size) return Action::recv_reduce_send;
  if (stage + 1 == size) return Action::recv_reduce_copy_send;
  if (stage + 2 < 2 * size) return Action::recv_copy_send;
  return Action::recv;
}

/// Messages of all `count` chunks of a loop. Chunks have two sizes 16 B apart, then one with what
/// is left, then none; so nothing is summed one by one.
Amount messages_of_loop(const Slicing& slicing, std::uint64_t bytes, std::uint64_t count) {
  if (bytes == 0) return {};
  const std::uint64_t whole = std::min(align_down(bytes) * count / bytes, count);
  const std::uint64_t begin_of_rest = loop_chunk(bytes, count, whole).begin;
  const std::uint64_t small = align_down(bytes / count);
  const std::uint64_t large_count = (begin_of_rest - whole * small) / kAlignment;
  Amount amount = large_count * slicing.amount(small + kAlignment) +
                  (whole - large_count) * slicing.amount(small);
  if (whole < count) amount += slicing.amount(bytes - begin_of_rest);
  return amount;
}

}  // namespace

RingAllReduce::RingAllReduce(std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                             const Choice& choice) noexcept
    : bytes_(bytes),
      position_(position),
      shape_(&shape),
      slicing_(Slicing::of(choice)),
      channels_(choice.channels) {}

RingAllReduce::Cursor::Cursor(const RingAllReduce& algorithm, std::uint32_t channel) noexcept
    : ring_(Ring::of(*algorithm.shape_, channel, algorithm.position_)),
      slicing_(algorithm.slicing_),
      part_(channel_part(algorithm.bytes_, algorithm.channels_, channel)),
      channel_(static_cast<std::uint16_t>(channel)),
      loop_begin_(part_.begin) {}

bool RingAllReduce::Cursor::next(Step& step) noexcept {
  const std::uint32_t n = ring_.size;
  while (loop_begin_ < part_.end) {
    const std::uint64_t loop_bytes = std::min(part_.end - loop_begin_, n * slicing_.chunk);
    for (; stage_ <= 2 * n - 2; ++stage_, slice_offset_ = 0) {
      const std::uint32_t index = (ring_.index + 2 * n - 1 - stage_) % n;
      const Range chunk = loop_chunk(loop_bytes, n, index);
      if (slice_offset_ >= chunk.size()) continue;
      const std::uint64_t bytes =
          std::min(slicing_.slice_bytes(chunk.size()), chunk.size() - slice_offset_);
      step = Step{.action = action_of(stage_, n),
                  .from = ring_.previous,
                  .to = ring_.next,
                  .channel = channel_,
                  .offset = loop_begin_ + chunk.begin + slice_offset_,
                  .bytes = bytes,
                  .wire = wire_bytes(slicing_.protocol, bytes)};
      slice_offset_ += bytes;
      return true;
    }
    stage_ = 0;
    loop_begin_ += loop_bytes;
  }
  return false;
}

Traffic RingAllReduce::sent_on(std::uint32_t channel, std::uint32_t index) const noexcept {
  // In a loop a rank sends every chunk twice, but for its own while reducing and the one after it
  // while gathering.
  const std::uint32_t n = shape_->size();
  const std::uint64_t part = channel_part(bytes_, channels_, channel).size();
  const std::uint64_t loop = n * slicing_.chunk;
  const std::uint64_t loops = part / loop;
  const std::uint64_t rest = part % loop;
  const std::uint64_t own = loop_chunk(rest, n, index).size();
  const std::uint64_t after = loop_chunk(rest, n, (index + 1) % n).size();
  return {.channel = static_cast<std::uint16_t>(channel),
          .amount = loops * 2 * (n - 1) * slicing_.amount(slicing_.chunk) +
                    2 * messages_of_loop(slicing_, rest, n) - slicing_.amount(own) -
                    slicing_.amount(after),
          .message_bytes_max = slicing_.message_bytes_max(
              loops > 0 ? slicing_.chunk : loop_chunk(rest, n, 0).size())};
}

void RingAllReduce::append_sent(std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    Traffic traffic = sent_on(channel, shape_->ring_index(channel, position_));
    traffic.peer = shape_->next(channel, position_);
    if (traffic.amount.messages > 0) out.push_back(traffic);
  }
}

void RingAllReduce::append_received(std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    const std::uint32_t previous = shape_->previous(channel, position_);
    Traffic traffic = sent_on(channel, shape_->ring_index(channel, previous));
    traffic.peer = previous;
    if (traffic.amount.messages > 0) out.push_back(traffic);
  }
}

}  // namespace rehearsal::collective

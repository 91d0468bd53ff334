#include "core/collective/ring_pipeline.hpp"

namespace rehearsal::collective {

RingPipeline::RingPipeline(Kind kind, std::uint64_t bytes, std::uint32_t root,
                           std::uint32_t position, const Shape& shape,
                           const Choice& choice) noexcept
    : kind_(kind),
      bytes_(bytes),
      root_(root),
      position_(position),
      shape_(&shape),
      slicing_{align_up(choice.chunk.count()), 1, choice.protocol},
      channels_(choice.channels) {}

Action RingPipeline::action(const Ring& ring) const noexcept {
  if (kind_ == Kind::broadcast) {
    if (position_ == root_) return Action::send;
    return ring.next == root_ ? Action::recv : Action::recv_copy_send;
  }
  if (position_ == root_) return Action::recv_reduce;
  return ring.previous == root_ ? Action::send : Action::recv_reduce_send;
}

RingPipeline::Cursor::Cursor(const RingPipeline& algorithm, std::uint32_t channel) noexcept
    : slicing_(algorithm.slicing_) {
  const Range part = channel_part(algorithm.bytes_, algorithm.channels_, channel);
  const Ring ring = Ring::of(*algorithm.shape_, channel, algorithm.position_);
  step_ = Step{.action = algorithm.action(ring),
               .from = ring.previous,
               .to = ring.next,
               .channel = static_cast<std::uint16_t>(channel),
               .offset = part.begin};
  end_ = part.end;
}

bool RingPipeline::Cursor::next(Step& step) noexcept {
  step_.offset += step_.bytes;
  step_.bytes = std::min(slicing_.chunk, end_ - step_.offset);
  step_.wire = wire_bytes(slicing_.protocol, step_.bytes);
  step = step_;
  return step_.bytes > 0;
}

void RingPipeline::append(bool sent, std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < channels_; ++channel) {
    const Ring ring = Ring::of(*shape_, channel, position_);
    const Action what = action(ring);
    const std::uint64_t part = channel_part(bytes_, channels_, channel).size();
    if (part == 0 || !(sent ? sends(what) : receives(what))) continue;
    out.push_back(
        {.peer = sent ? ring.next : ring.previous,
         .channel = static_cast<std::uint16_t>(channel),
         .amount = slicing_.in_chunks(part),
         .message_bytes_max = slicing_.message_bytes_max(std::min(part, slicing_.chunk))});
  }
}

void RingPipeline::append_sent(std::vector<Traffic>& out) const { append(true, out); }

void RingPipeline::append_received(std::vector<Traffic>& out) const { append(false, out); }

}  // namespace rehearsal::collective

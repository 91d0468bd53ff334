#include "core/collective/ring_pipeline.hpp"

namespace rehearsal::collective {

RingPipeline::RingPipeline(Kind kind, std::uint64_t bytes, std::uint32_t root, Place place,
                           const Settings& settings) noexcept
    : kind_(kind),
      bytes_(bytes),
      root_(root),
      place_(place),
      chunk_(align_up(settings.pipeline_chunk.count())),
      channels_(channels_for(bytes, settings.channels, settings.channel_bytes_min.count())) {}

Action RingPipeline::action() const noexcept {
  if (kind_ == Kind::broadcast) {
    if (place_.position == root_) return Action::send;
    return place_.next() == root_ ? Action::recv : Action::recv_copy_send;
  }
  if (place_.position == root_) return Action::recv_reduce;
  return place_.previous() == root_ ? Action::send : Action::recv_reduce_send;
}

RingPipeline::Cursor::Cursor(const RingPipeline& algorithm, std::uint32_t channel) noexcept
    : chunk_(algorithm.chunk_) {
  const Range part = channel_part(algorithm.bytes_, algorithm.channels_, channel);
  step_ = Step{.action = algorithm.action(),
               .from = algorithm.place_.previous(),
               .to = algorithm.place_.next(),
               .channel = static_cast<std::uint16_t>(channel),
               .offset = part.begin,
               .bytes = 0};
  end_ = part.end;
}

bool RingPipeline::Cursor::next(Step& step) noexcept {
  step_.offset += step_.bytes;
  step_.bytes = std::min(chunk_, end_ - step_.offset);
  step = step_;
  return step_.bytes > 0;
}

void RingPipeline::append(std::uint32_t peer, std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < lane_count(); ++channel) {
    const std::uint64_t part = channel_part(bytes_, channels_, channel).size();
    if (part == 0) continue;
    out.push_back({.peer = peer,
                   .channel = static_cast<std::uint16_t>(channel),
                   .bytes = part,
                   .messages = divide_up(part, chunk_),
                   .message_bytes_max = std::min(part, chunk_)});
  }
}

void RingPipeline::append_sent(std::vector<Traffic>& out) const {
  if (sends(action())) append(place_.next(), out);
}

void RingPipeline::append_received(std::vector<Traffic>& out) const {
  if (receives(action())) append(place_.previous(), out);
}

}  // namespace rehearsal::collective

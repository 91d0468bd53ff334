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

/// Slices of all `count` chunks of a loop. Chunks have two sizes 16 B apart, then one with what is
/// left, then none; so nothing is summed one by one.
std::uint64_t slices_of_loop(const Slicing& slicing, std::uint64_t bytes, std::uint64_t count) {
  if (bytes == 0) return 0;
  const std::uint64_t whole = std::min(align_down(bytes) * count / bytes, count);
  const std::uint64_t begin_of_rest = loop_chunk(bytes, count, whole).begin;
  const std::uint64_t small = align_down(bytes / count);
  const std::uint64_t large_count = (begin_of_rest - whole * small) / kAlignment;
  return large_count * slicing.count(small + kAlignment) +
         (whole - large_count) * slicing.count(small) +
         (whole < count ? slicing.count(bytes - begin_of_rest) : 0);
}

}  // namespace

RingAllReduce::RingAllReduce(std::uint64_t bytes, Place place, const Settings& settings) noexcept
    : bytes_(bytes),
      place_(place),
      slicing_{align_up(settings.chunk.count()), settings.slices_per_chunk},
      channels_(channels_for(bytes, settings.channels, settings.channel_bytes_min.count())) {}

RingAllReduce::Cursor::Cursor(const RingAllReduce& algorithm, std::uint32_t channel) noexcept
    : place_(algorithm.place_),
      slicing_(algorithm.slicing_),
      part_(channel_part(algorithm.bytes_, algorithm.channels_, channel)),
      channel_(static_cast<std::uint16_t>(channel)),
      loop_begin_(part_.begin) {}

bool RingAllReduce::Cursor::next(Step& step) noexcept {
  const std::uint32_t n = place_.size;
  while (loop_begin_ < part_.end) {
    const std::uint64_t loop_bytes = std::min(part_.end - loop_begin_, n * slicing_.chunk);
    for (; stage_ <= 2 * n - 2; ++stage_, slice_offset_ = 0) {
      const std::uint32_t index = (place_.position + 2 * n - 1 - stage_) % n;
      const Range chunk = loop_chunk(loop_bytes, n, index);
      if (slice_offset_ >= chunk.size()) continue;
      const std::uint64_t bytes =
          std::min(slicing_.slice_bytes(chunk.size()), chunk.size() - slice_offset_);
      step = Step{.action = action_of(stage_, n),
                  .from = place_.previous(),
                  .to = place_.next(),
                  .channel = channel_,
                  .offset = loop_begin_ + chunk.begin + slice_offset_,
                  .bytes = bytes};
      slice_offset_ += bytes;
      return true;
    }
    stage_ = 0;
    loop_begin_ += loop_bytes;
  }
  return false;
}

Traffic RingAllReduce::sent_on(std::uint32_t channel, std::uint32_t position) const noexcept {
  // In a loop a rank sends every chunk twice, but for its own while reducing and the one after it
  // while gathering.
  const std::uint32_t n = place_.size;
  const std::uint64_t part = channel_part(bytes_, channels_, channel).size();
  const std::uint64_t loop = n * slicing_.chunk;
  const std::uint64_t loops = part / loop;
  const std::uint64_t rest = part % loop;
  const std::uint64_t own = loop_chunk(rest, n, position).size();
  const std::uint64_t after = loop_chunk(rest, n, (position + 1) % n).size();
  Traffic traffic{.peer = (position + 1) % n, .channel = static_cast<std::uint16_t>(channel)};
  traffic.bytes = loops * 2 * (n - 1) * slicing_.chunk + 2 * rest - own - after;
  traffic.messages = loops * 2 * (n - 1) * slicing_.count(slicing_.chunk) +
                     2 * slices_of_loop(slicing_, rest, n) - slicing_.count(own) -
                     slicing_.count(after);
  traffic.message_bytes_max =
      slicing_.message_bytes_max(loops > 0 ? slicing_.chunk : loop_chunk(rest, n, 0).size());
  return traffic;
}

void RingAllReduce::append_sent(std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < lane_count(); ++channel) {
    const Traffic traffic = sent_on(channel, place_.position);
    if (traffic.messages > 0) out.push_back(traffic);
  }
}

void RingAllReduce::append_received(std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < lane_count(); ++channel) {
    Traffic traffic = sent_on(channel, place_.previous());
    traffic.peer = place_.previous();
    if (traffic.messages > 0) out.push_back(traffic);
  }
}

}  // namespace rehearsal::collective

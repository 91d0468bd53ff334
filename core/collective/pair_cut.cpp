#include "core/collective/pair_cut.hpp"

#include <algorithm>
#include <bit>

#include "core/collective/partition.hpp"

namespace rehearsal::collective {

PairRules::PairRules(const Shape& shape, const Choice& choice) noexcept
    : step_(std::max<std::uint64_t>(choice.chunk.count(), 1)),
      protocol_(choice.protocol),
      channels_(std::max<std::uint32_t>(choice.channels, 1)),
      bits_(std::has_single_bit(channels_) ? static_cast<std::uint32_t>(std::countr_zero(channels_))
                                           : 0) {
  const bool one_node = shape.knows_nodes() && shape.nodes() == 1;
  part_min_ = std::max<std::uint64_t>(one_node ? step_ / 8 : step_ / 2, 1);
  part_max_ = one_node ? step_ * 32 : step_;
  parts_max_ =
      choice.channels_per_peer == 0 ? channels_ : std::min(choice.channels_per_peer, channels_);
  parts_min_ = parts_max_;
  while (std::uint64_t{parts_min_} * shape.size() > channels_ && parts_min_ > 1) parts_min_ /= 2;
}

PairCut PairRules::cut(std::uint64_t bytes, bool between_nodes) const noexcept {
  PairCut cut;
  if (bytes == 0) return cut;
  cut.parts =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(parts_min_, divide_up(bytes, part_min_)));
  while (divide_up(bytes, cut.parts) > part_max_ && cut.parts * 2 <= parts_max_) cut.parts *= 2;
  // NCCL aligns parts to 4 KiB, a 32nd of its chunk.
  const std::uint64_t alignment = std::clamp<std::uint64_t>(step_ / 32, kAlignment, 4096);
  cut.part_bytes = align_up(divide_up(bytes, cut.parts), alignment);
  cut.parts = static_cast<std::uint32_t>(divide_up(bytes, cut.part_bytes));
  cut.chunk = step_;
  if (between_nodes) {
    if (protocol_ == Protocol::simple && bytes < step_)
      cut.chunk = step_ / 4;
    else if (bytes < 8 * wire_bytes(protocol_, step_))
      cut.chunk = step_ / 2;
  }
  cut.chunk = std::max<std::uint64_t>(cut.chunk, 1);
  return cut;
}

/// The lowest bits_ bits, the last one first.
std::uint32_t PairRules::turned(std::uint32_t value) const noexcept {
  std::uint32_t result = 0;
  for (std::uint32_t bit = 0; bit < bits_; ++bit) result = result << 1 | (value >> bit & 1);
  return result;
}

std::uint32_t PairRules::channel_of(std::uint32_t base, std::uint32_t part) const noexcept {
  if (bits_ == 0) return (base + part) % channels_;
  return (turned(base) + turned(part)) % channels_;
}

std::uint32_t PairRules::part_of(std::uint32_t base, std::uint32_t channel) const noexcept {
  if (bits_ == 0) return (channel + channels_ - base % channels_) % channels_;
  return turned((channel + channels_ - turned(base)) % channels_);
}

}  // namespace rehearsal::collective

#pragma once

#include "core/collective/partition.hpp"

namespace rehearsal::collective {

/// The chunks of a channel's part that one of several heads takes: in loops of a chunk a head, the
/// last of them divided by the heads and aligned (nccl src/device/all_reduce.h, NVLS and NVLSTree).
/// With one head these are simply the chunks of the part. Chunks that hold nothing are left out.
class HeadChunks {
 public:
  HeadChunks(Range part, std::uint64_t chunk, std::uint32_t heads, std::uint32_t head) noexcept
      : part_(part), chunk_(chunk), heads_(heads), head_(head) {}

  /// False at the end.
  bool next(Range& chunk) noexcept {
    if (part_.begin >= part_.end) return false;
    const std::uint64_t loop = std::min(part_.size(), heads_ * chunk_);
    chunk = of_loop(part_.begin, loop);
    part_.begin += loop;
    return chunk.size() > 0;
  }

  /// Those that are still to come, each a message.
  Amount amount(Protocol protocol) const noexcept {
    const std::uint64_t loop = heads_ * chunk_;
    return part_.size() / loop * message(protocol, chunk_) +
           message(protocol, of_loop(0, part_.size() % loop).size());
  }
  /// The largest, zero if there is none.
  std::uint64_t bytes_max() const noexcept {
    return of_loop(0, std::min(part_.size(), heads_ * chunk_)).size();
  }

 private:
  static Amount message(Protocol protocol, std::uint64_t bytes) {
    return {bytes, wire_bytes(protocol, bytes), bytes > 0 ? 1U : 0U};
  }
  Range of_loop(std::uint64_t begin, std::uint64_t bytes) const noexcept {
    const std::uint64_t chunk = align_up(divide_up(bytes, heads_));
    return {begin + std::min(head_ * chunk, bytes), begin + std::min((head_ + 1) * chunk, bytes)};
  }

  Range part_;
  std::uint64_t chunk_;
  std::uint64_t heads_;
  std::uint64_t head_;
};

}  // namespace rehearsal::collective

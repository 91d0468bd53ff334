#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/partition.hpp"
#include "core/collective/ring.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// all_reduce as NCCL's ring (src/device/all_reduce.h): a reduce_scatter and an all_gather fused,
/// per channel in loops of n chunks. A lane is a channel.
class RingAllReduce {
 public:
  /// `shape` outlives the expansion.
  RingAllReduce(std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                const Choice& choice) noexcept;

  class Cursor {
   public:
    Cursor(const RingAllReduce& algorithm, std::uint32_t channel) noexcept;
    bool next(Step& step) noexcept;

   private:
    Ring ring_;
    Slicing slicing_;
    Range part_;
    std::uint16_t channel_;
    std::uint32_t stage_ = 0;         // 0 … 2n − 2
    std::uint64_t loop_begin_;        // in the array
    std::uint64_t slice_offset_ = 0;  // in the chunk
  };

  std::uint32_t lane_count() const noexcept { return channels_; }
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  void append_sent(std::vector<Traffic>& out) const;
  void append_received(std::vector<Traffic>& out) const;

 private:
  /// What the rank at `index` of the ring sends on the channel; the peer is left to the caller.
  Traffic sent_on(std::uint32_t channel, std::uint32_t index) const noexcept;

  std::uint64_t bytes_;
  std::uint32_t position_;
  const Shape* shape_;
  Slicing slicing_;
  std::uint32_t channels_;
};

}  // namespace rehearsal::collective

#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/partition.hpp"
#include "core/collective/settings.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// all_reduce as NCCL's ring (src/device/all_reduce.h): a reduce_scatter and an all_gather fused,
/// per channel in loops of n chunks. A lane is a channel.
class RingAllReduce {
 public:
  RingAllReduce(std::uint64_t bytes, Place place, const Settings& settings) noexcept;

  class Cursor {
   public:
    Cursor(const RingAllReduce& algorithm, std::uint32_t channel) noexcept;
    bool next(Step& step) noexcept;

   private:
    Place place_;
    Slicing slicing_;
    Range part_;
    std::uint16_t channel_;
    std::uint32_t stage_ = 0;         // 0 … 2n − 2
    std::uint64_t loop_begin_;        // in the array
    std::uint64_t slice_offset_ = 0;  // in the chunk
  };

  std::uint32_t lane_count() const noexcept { return place_.size > 1 ? channels_ : 0; }
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  void append_sent(std::vector<Traffic>& out) const;
  void append_received(std::vector<Traffic>& out) const;

 private:
  Traffic sent_on(std::uint32_t channel, std::uint32_t position) const noexcept;

  std::uint64_t bytes_;
  Place place_;
  Slicing slicing_;
  std::uint32_t channels_;
};

}  // namespace rehearsal::collective

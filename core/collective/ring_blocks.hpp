#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/partition.hpp"
#include "core/collective/ring.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// all_gather and reduce_scatter as NCCL's rings (src/device/all_gather.h, reduce_scatter.h): the
/// array has a block a rank, each channel owns a part of every block and walks it chunk by chunk. A
/// lane is a channel. Blocks of an array that does not divide differ by a byte.
class RingBlocks {
 public:
  enum class Kind : std::uint8_t { all_gather, reduce_scatter };

  /// `shape` outlives the expansion and its cursors.
  RingBlocks(Kind kind, std::uint64_t bytes, std::uint32_t position, const Shape& shape,
             const Choice& choice) noexcept;

  class Cursor {
   public:
    Cursor(const RingBlocks& algorithm, std::uint32_t channel) noexcept;
    bool next(Step& step) noexcept;

   private:
    Range chunk_of(std::uint32_t block) const noexcept;

    Kind kind_;
    const Shape* shape_;
    Ring ring_;
    Slicing slicing_;
    std::uint64_t bytes_;
    std::uint32_t channels_;
    std::uint16_t channel_;
    std::uint64_t part_bytes_max_;    // of this channel in any block
    std::uint64_t chunk_offset_ = 0;  // in the channel's part of a block
    std::uint32_t stage_ = 0;         // 0 … n − 1
    std::uint64_t slice_offset_ = 0;  // in the chunk
  };

  std::uint32_t lane_count() const noexcept { return channels_; }
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  void append_sent(std::vector<Traffic>& out) const;
  void append_received(std::vector<Traffic>& out) const;

 private:
  /// What the rank at `position` sends to `next` on the channel.
  Traffic sent_on(std::uint32_t channel, std::uint32_t position, std::uint32_t next) const noexcept;

  Kind kind_;
  std::uint64_t bytes_;
  std::uint32_t position_;
  const Shape* shape_;
  Slicing slicing_;
  std::uint32_t channels_;
};

}  // namespace rehearsal::collective

#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/partition.hpp"
#include "core/collective/shape.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// all_gather and reduce_scatter where every rank exchanges with every other one directly: it sends
/// all others its block, or each its own. So NCCL's NVLS does it inside a node, through the
/// NVSwitch (src/device/all_gather.h, reduce_scatter.h, one node), and so do oneCCL's and RCCL's
/// direct algorithms between nodes. Each channel owns a part of every block and walks it chunk by
/// chunk; in a chunk the peers come in order of their distance. A channel has a lane that sends and
/// one that receives: both ends of a pair meet in the same round, so the earliest round that is not
/// done can always move. A chunk is a message.
class DirectBlocks {
 public:
  enum class Kind : std::uint8_t { all_gather, reduce_scatter };

  /// `shape` tells the number of ranks; it need not outlive the call.
  DirectBlocks(Kind kind, std::uint64_t bytes, std::uint32_t position, const Shape& shape,
               const Choice& choice) noexcept;

  class Cursor {
   public:
    Cursor(const DirectBlocks& algorithm, std::uint32_t lane) noexcept;
    bool next(Step& step) noexcept;

   private:
    Range chunk_of(std::uint32_t block) const noexcept;

    Kind kind_;
    bool sends_;
    Protocol protocol_;
    std::uint16_t channel_;
    std::uint32_t size_;
    std::uint32_t position_;
    std::uint32_t channels_;
    std::uint64_t bytes_;
    std::uint64_t chunk_;
    std::uint64_t chunk_offset_ = 0;  // in the channel's part of a block
    std::uint32_t distance_ = 0;      // of the peer before
  };

  std::uint32_t lane_count() const noexcept { return size_ > 1 ? 2 * channels_ : 0; }
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  void append_sent(std::vector<Traffic>& out) const { append(true, out); }
  void append_received(std::vector<Traffic>& out) const { append(false, out); }

 private:
  void append(bool sent, std::vector<Traffic>& out) const;

  Kind kind_;
  Protocol protocol_;
  std::uint64_t bytes_;
  std::uint64_t chunk_;
  std::uint32_t position_;
  std::uint32_t size_;
  std::uint32_t channels_;
};

}  // namespace rehearsal::collective

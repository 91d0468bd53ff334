#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/partition.hpp"
#include "core/collective/pat_order.hpp"
#include "core/collective/shape.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// all_gather and reduce_scatter as NCCL's PAT (see PatScatterOrder), for one rank a node: as few
/// messages as a tree has levels when they are small, one a block when they are large. Each channel
/// owns a part of every block and walks it chunk by chunk. A lane is a channel.
///
/// A message can hold pieces of several blocks. Its step then has the first piece's offset and the
/// bytes of all; Parts tells which. Room for blocks that do not exist is on the wire, not in
/// `bytes`.
class PatBlocks {
 public:
  enum class Kind : std::uint8_t { all_gather, reduce_scatter };

  /// `shape` tells the number of ranks; it need not outlive the call.
  PatBlocks(Kind kind, std::uint64_t bytes, std::uint32_t position, const Shape& shape,
            const Choice& choice) noexcept;

  /// The pieces of a message, where they stand in the array.
  struct Parts {
    std::uint32_t block = 0;  ///< of the first piece
    std::uint32_t stride = 0;
    std::uint32_t count = 0;
    std::uint64_t chunk_offset = 0;  ///< of each piece, in the channel's part of its block
  };

  class Cursor {
   public:
    Cursor(const PatBlocks& algorithm, std::uint32_t channel) noexcept;
    bool next(Step& step) noexcept {
      Parts parts;
      return next(step, parts);
    }
    bool next(Step& step, Parts& parts) noexcept;
    /// Where piece `index` of a message stands in the array; empty where a block is shorter.
    Range piece(const Parts& parts, std::uint32_t index) const noexcept;

   private:
    friend class PatBlocks;
    struct Message {
      Parts parts;
      std::uint64_t bytes = 0;
      std::uint64_t wire = 0;
    };

    void begin_chunk() noexcept;
    bool next_move() noexcept;
    Message message(const PatGroup& group, std::uint8_t dimension, bool sent) const noexcept;
    std::uint32_t peer(std::uint8_t dimension, bool sent) const noexcept;
    void fill(Step& step, Parts& parts, const Message& message) const noexcept;

    Kind kind_;
    std::uint16_t channel_;
    std::uint32_t size_;
    std::uint32_t position_;
    std::uint32_t channels_;
    PatAggregation aggregation_;
    std::uint64_t bytes_;
    std::uint64_t chunk_;
    std::uint64_t part_bytes_max_;    // of this channel in any block
    std::uint64_t end_;               // in a part: chunks from here on are left out
    std::uint64_t chunk_offset_ = 0;  // in a part
    std::variant<PatGatherOrder, PatScatterOrder> order_;
    PatMove move_;
  };

  std::uint32_t lane_count() const noexcept { return size_ > 1 ? channels_ : 0; }
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  /// Walk the messages of at most three chunks of every channel: all full ones are alike.
  void append_sent(std::vector<Traffic>& out) const { append(true, out); }
  void append_received(std::vector<Traffic>& out) const { append(false, out); }

 private:
  void append(bool sent, std::vector<Traffic>& out) const;

  Kind kind_;
  std::uint64_t bytes_;
  std::uint64_t chunk_;
  std::uint32_t position_;
  std::uint32_t size_;
  std::uint32_t channels_;
  std::uint32_t credits_;
};

}  // namespace rehearsal::collective

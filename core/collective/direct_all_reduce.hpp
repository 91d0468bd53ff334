#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/partition.hpp"
#include "core/collective/shape.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// all_reduce where every rank exchanges with every other one at once, as oneCCL's and RCCL's
/// direct algorithms do: the array has a block a rank; everybody sends everybody their block and
/// adds up its own, then everybody sends everybody its own sum. A message is a chunk of a block.
///
/// Each channel owns a part of every block; a lane is a channel. It goes on chunk by chunk: send to
/// all, receive from all. A rank sends all messages of a round before it waits for the first, so
/// the rank that is furthest behind can always move, with one credit.
class DirectAllReduce {
 public:
  DirectAllReduce(std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                  const Choice& choice) noexcept;

  class Cursor {
   public:
    Cursor(const DirectAllReduce& algorithm, std::uint32_t channel) noexcept;
    bool next(Step& step) noexcept;

   private:
    Range chunk_of(std::uint32_t owner) const noexcept;

    std::uint64_t bytes_;
    std::uint64_t chunk_;
    Protocol protocol_;
    std::uint32_t channels_;
    std::uint32_t size_;
    std::uint32_t position_;
    std::uint16_t channel_;
    bool gathers_ = false;            // the second phase
    std::uint64_t chunk_offset_ = 0;  // in the channel's part of a block
    std::uint32_t turn_ = 0;          // 1 … n − 1 sends, n … 2n − 2 receives
  };

  std::uint32_t lane_count() const noexcept { return size_ > 1 ? channels_ : 0; }
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  void append_sent(std::vector<Traffic>& out) const { append(true, out); }
  void append_received(std::vector<Traffic>& out) const { append(false, out); }

 private:
  void append(bool sent, std::vector<Traffic>& out) const;

  std::uint64_t bytes_;
  std::uint64_t chunk_;
  Protocol protocol_;
  std::uint32_t channels_;
  std::uint32_t size_;
  std::uint32_t position_;
};

}  // namespace rehearsal::collective

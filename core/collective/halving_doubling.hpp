#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/partition.hpp"
#include "core/collective/shape.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// all_reduce, reduce_scatter and all_gather by recursive halving and doubling, as MPI and Gloo do
/// them (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH,
/// 2005). In the first half a rank exchanges half of what it still holds with the rank half as many
/// ranks away as before, and adds up; in the second half the same exchanges run backwards and copy.
///
/// Of n ranks only the largest power of two takes part. The first ranks stand in pairs: the even
/// one hands all it has to the odd one before, and gets its result after.
///
/// A lane is a channel. all_reduce gives every channel a part of the array; the others use channel
/// 0 only, as blocks of several ranks travel together. A message is a chunk.
class HalvingDoubling {
 public:
  enum class Kind : std::uint8_t { all_reduce, reduce_scatter, all_gather };

  HalvingDoubling(Kind kind, std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                  const Choice& choice) noexcept;

  /// What a rank and one other do to each other in a stage.
  struct Exchange {
    std::uint32_t peer = 0;
    bool reduces = false;
    Range sent;
    Range received;
  };

  class Cursor;

  std::uint32_t lane_count() const noexcept { return channels_; }
  Cursor lane(std::uint32_t index) const noexcept;
  void append_sent(std::vector<Traffic>& out) const { append(true, out); }
  void append_received(std::vector<Traffic>& out) const { append(false, out); }

 private:
  std::uint32_t stage_count() const noexcept { return 2 * levels_ + 3; }
  Exchange exchange(std::uint32_t stage, std::uint32_t channel) const noexcept;
  Exchange folding(std::uint32_t stage, std::uint32_t channel) const noexcept;
  Exchange halving(std::uint32_t level, std::uint32_t channel) const noexcept;
  Range array(std::uint32_t channel) const noexcept;
  Range blocks(std::uint32_t begin, std::uint32_t end, std::uint32_t channel) const noexcept;
  void append(bool sent, std::vector<Traffic>& out) const;

  Kind kind_;
  std::uint64_t bytes_;
  std::uint32_t position_;
  std::uint32_t size_;
  Slicing slicing_;
  std::uint32_t channels_;
  std::uint32_t levels_;  // log2 of those that take part
  std::uint32_t pairs_;   // at the beginning, of which only one takes part
  bool folded_;           // this rank does not take part
  std::uint32_t place_;   // among those that take part; a folded one: its pair's
};

class HalvingDoubling::Cursor {
 public:
  Cursor(const HalvingDoubling& algorithm, std::uint32_t channel) noexcept
      : algorithm_(algorithm), channel_(static_cast<std::uint16_t>(channel)) {}
  bool next(Step& step) noexcept;

 private:
  HalvingDoubling algorithm_;
  std::uint16_t channel_;
  std::uint32_t stage_ = 0;
  std::uint64_t offset_ = 0;  // in both ranges of the stage
  bool sent_ = false;         // what stands at the offset
};

inline HalvingDoubling::Cursor HalvingDoubling::lane(std::uint32_t index) const noexcept {
  return Cursor{*this, index};
}

}  // namespace rehearsal::collective

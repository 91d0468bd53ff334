#pragma once

#include <cstdint>

#include "core/collective/choice.hpp"
#include "core/collective/shape.hpp"

namespace rehearsal::collective {

/// How the message of one pair is cut: into parts, one a channel, and parts into chunks.
struct PairCut {
  std::uint32_t parts = 0;
  std::uint64_t part_bytes = 0;
  std::uint64_t chunk = 0;
};

/// NCCL's rules for grouped sends and receives (src/enqueue.cc, addP2pToPlan and
/// scheduleP2pTasksToPlan). A step is the choice's chunk. Between nodes a message takes a quarter
/// of it if the pair has less than one step, half of it if less than eight; inside a node always
/// all. Parts are between half a step and a step where there are several nodes, between an eighth
/// and 32 steps where there is one, as far as channels go.
class PairRules {
 public:
  PairRules(const Shape& shape, const Choice& choice) noexcept;

  PairCut cut(std::uint64_t bytes, bool between_nodes) const noexcept;

  /// The channel that takes a part of the pairs that meet in round `base`, and back (src/include/
  /// channel.h, device.h: both numbers are spread by turning their bits round). With a number of
  /// channels that is no power of two they are added.
  std::uint32_t channel_of(std::uint32_t base, std::uint32_t part) const noexcept;
  std::uint32_t part_of(std::uint32_t base, std::uint32_t channel) const noexcept;

  std::uint32_t channels() const noexcept { return channels_; }

 private:
  std::uint32_t turned(std::uint32_t value) const noexcept;

  std::uint64_t step_;
  std::uint64_t part_min_;
  std::uint64_t part_max_;
  Protocol protocol_;
  std::uint32_t channels_;
  std::uint32_t bits_;  // of a channel; 0 where they are added
  std::uint32_t parts_min_;
  std::uint32_t parts_max_;
};

}  // namespace rehearsal::collective

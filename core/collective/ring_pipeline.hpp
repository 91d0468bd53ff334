#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/partition.hpp"
#include "core/collective/ring.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// broadcast and reduce as NCCL's pipelines along the ring (src/device/broadcast.h, reduce.h): from
/// the root round to the rank before it, or from the rank after the root round to it; chunk =
/// slice. A lane is a channel.
class RingPipeline {
 public:
  enum class Kind : std::uint8_t { broadcast, reduce };

  /// `shape` outlives the expansion.
  RingPipeline(Kind kind, std::uint64_t bytes, std::uint32_t root, std::uint32_t position,
               const Shape& shape, const Choice& choice) noexcept;

  class Cursor {
   public:
    Cursor(const RingPipeline& algorithm, std::uint32_t channel) noexcept;
    bool next(Step& step) noexcept;

   private:
    Slicing slicing_;
    Step step_;  // all but offset and bytes stay the same
    std::uint64_t end_;
  };

  std::uint32_t lane_count() const noexcept { return channels_; }
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  void append_sent(std::vector<Traffic>& out) const;
  void append_received(std::vector<Traffic>& out) const;

 private:
  Action action(const Ring& ring) const noexcept;
  void append(bool sent, std::vector<Traffic>& out) const;

  Kind kind_;
  std::uint64_t bytes_;
  std::uint32_t root_;
  std::uint32_t position_;
  const Shape* shape_;
  Slicing slicing_;
  std::uint32_t channels_;
};

}  // namespace rehearsal::collective

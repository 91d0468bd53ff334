#pragma once

#include <cstdint>

#include "core/collective/shape.hpp"

namespace rehearsal::collective {

/// A rank's place on the ring of one channel.
struct Ring {
  std::uint32_t index = 0;  ///< counted along the ring
  std::uint32_t size = 1;
  std::uint32_t next = 0;      ///< position in the communicator
  std::uint32_t previous = 0;  ///< position in the communicator

  static Ring of(const Shape& shape, std::uint32_t channel, std::uint32_t position) noexcept {
    return {.index = shape.ring_index(channel, position),
            .size = shape.size(),
            .next = shape.next(channel, position),
            .previous = shape.previous(channel, position)};
  }
};

}  // namespace rehearsal::collective

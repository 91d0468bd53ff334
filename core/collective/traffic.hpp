#pragma once

#include <cstdint>
#include <vector>

namespace rehearsal::collective {

/// What one op moves between this rank and one peer on one channel, in one direction.
struct Traffic {
  std::uint32_t peer = 0;  ///< position in the communicator
  std::uint16_t channel = 0;
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  std::uint64_t message_bytes_max = 0;  ///< no message is larger; the same figure at both ends
};

/// Where a rank stands in a communicator.
struct Place {
  std::uint32_t position = 0;
  std::uint32_t size = 1;
  std::uint32_t group = 1;  ///< ranks of a node that stand together (PeerOrder); divides size

  std::uint32_t next() const { return position + 1 == size ? 0 : position + 1; }
  std::uint32_t previous() const { return position == 0 ? size - 1 : position - 1; }
};

}  // namespace rehearsal::collective

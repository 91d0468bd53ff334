#pragma once

#include <cstdint>

namespace rehearsal::collective {

/// Messages added up.
struct Amount {
  std::uint64_t bytes = 0;  ///< of data
  std::uint64_t wire = 0;   ///< with the protocol's flags
  std::uint64_t messages = 0;

  constexpr Amount& operator+=(const Amount& other) {
    bytes += other.bytes;
    wire += other.wire;
    messages += other.messages;
    return *this;
  }
  constexpr Amount& operator-=(const Amount& other) {
    bytes -= other.bytes;
    wire -= other.wire;
    messages -= other.messages;
    return *this;
  }
  friend constexpr Amount operator+(Amount a, const Amount& b) { return a += b; }
  friend constexpr Amount operator-(Amount a, const Amount& b) { return a -= b; }
  friend constexpr Amount operator*(std::uint64_t times, const Amount& a) {
    return {times * a.bytes, times * a.wire, times * a.messages};
  }
  bool operator==(const Amount&) const = default;
};

/// What one op moves between this rank and one peer on one channel, in one direction.
struct Traffic {
  std::uint32_t peer = 0;  ///< position in the communicator
  std::uint16_t channel = 0;
  Amount amount;
  /// No message is larger on the wire; the same figure at both ends.
  std::uint64_t message_bytes_max = 0;
};

}  // namespace rehearsal::collective

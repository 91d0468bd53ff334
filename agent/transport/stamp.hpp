#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "core/plan/connection.hpp"

namespace rehearsal::agent {

/// A number for a connection that both ends know, and hardly any other connection has (the mixing
/// is that of SplitMix64, Steele et al., OOPSLA 2014).
inline std::uint64_t stamp_identity(const plan::ConnectionKey& key) noexcept {
  std::uint64_t hash = 0;
  for (const std::uint64_t part :
       {std::uint64_t{key.job.value}, std::uint64_t{key.communicator.value},
        std::uint64_t{key.source.value}, std::uint64_t{key.destination.value},
        std::uint64_t{key.channel}, static_cast<std::uint64_t>(key.use)}) {
    hash += part + 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
    hash ^= hash >> 31;
  }
  return hash;
}

/// What a sender writes at both ends of a message's payload where payload is verified: which
/// connection and which message of it this is. Messages shorter than two stamps carry what fits of
/// the first.
class Stamp {
 public:
  static constexpr std::size_t kBytes = 32;

  Stamp(std::uint64_t connection, std::uint64_t sequence, std::uint64_t bytes) noexcept {
    const std::uint64_t words[] = {connection, sequence, bytes, ~(connection ^ sequence ^ bytes)};
    std::memcpy(bytes_.data(), words, sizeof words);
  }

  void write(std::byte* message, std::uint64_t bytes) const noexcept {
    std::memcpy(message, bytes_.data(), std::min<std::uint64_t>(bytes, kBytes));
    if (bytes >= 2 * kBytes) std::memcpy(message + bytes - kBytes, bytes_.data(), kBytes);
  }
  bool matches(const std::byte* message, std::uint64_t bytes) const noexcept {
    if (std::memcmp(message, bytes_.data(), std::min<std::uint64_t>(bytes, kBytes)) != 0)
      return false;
    return bytes < 2 * kBytes || std::memcmp(message + bytes - kBytes, bytes_.data(), kBytes) == 0;
  }
  const std::array<std::byte, kBytes>& bytes() const noexcept { return bytes_; }

 private:
  std::array<std::byte, kBytes> bytes_;
};

}  // namespace rehearsal::agent

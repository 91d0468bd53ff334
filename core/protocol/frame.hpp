#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace rehearsal::protocol {

/// A frame is a 4-byte big-endian length and that many bytes (one serialised Envelope).
inline constexpr std::size_t kFrameHeaderBytes = 4;
/// No frame is larger; a longer announcement ends the session before anything is allocated.
inline constexpr std::size_t kFrameBytesMax = 4U << 20;
/// Bulk (plans, profiles, results) goes in parts of at most this.
inline constexpr std::size_t kPartBytesMax = 1U << 20;

inline constexpr std::uint32_t kVersionMin = 1;
inline constexpr std::uint32_t kVersionMax = 1;

/// The header and the payload in one string. CHECKs the cap: senders split bulk into parts.
std::string frame(std::string_view payload);

/// Takes a stream of bytes in pieces of any size, gives whole payloads out.
class FrameDecoder {
 public:
  /// Appends received bytes. Fails (and stays failed) when a header announces more than the cap.
  Result<void> feed(std::string_view bytes);
  /// The next whole payload, or nothing yet.
  std::optional<std::string> next();

 private:
  std::string buffer_;
  std::size_t consumed_ = 0;
  bool failed_ = false;
};

/// The highest version in both ranges, or an error that names both ranges and what to upgrade.
Result<std::uint32_t> negotiate_version(std::uint32_t peer_min, std::uint32_t peer_max);

}  // namespace rehearsal::protocol

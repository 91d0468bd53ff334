#include "core/protocol/frame.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace rehearsal::protocol {
namespace {

std::size_t announced_size(std::string_view header) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < kFrameHeaderBytes; ++i) {
    size = size << 8 | static_cast<std::uint8_t>(header[i]);
  }
  return size;
}

}  // namespace

std::string frame(std::string_view payload) {
  CHECK(payload.size() <= kFrameBytesMax, "bulk is sent in parts");
  std::string bytes;
  bytes.reserve(kFrameHeaderBytes + payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(payload.size() >> shift & 0xFF));
  }
  bytes += payload;
  return bytes;
}

Result<void> FrameDecoder::feed(std::string_view bytes) {
  if (!failed_) {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
    buffer_ += bytes;
    if (buffer_.size() >= kFrameHeaderBytes && announced_size(buffer_) > kFrameBytesMax)
      failed_ = true;
  }
  if (failed_) {
    return fail(ErrorCode::too_large, ErrorSource::control,
                "a frame announces more than " + std::to_string(kFrameBytesMax) + " bytes");
  }
  return {};
}

std::optional<std::string> FrameDecoder::next() {
  const std::string_view rest = std::string_view(buffer_).substr(consumed_);
  if (failed_ || rest.size() < kFrameHeaderBytes) return std::nullopt;
  const std::size_t size = announced_size(rest);
  if (size > kFrameBytesMax) {
    failed_ = true;
    return std::nullopt;
  }
  if (rest.size() - kFrameHeaderBytes < size) return std::nullopt;
  consumed_ += kFrameHeaderBytes + size;
  return std::string(rest.substr(kFrameHeaderBytes, size));
}

Result<std::uint32_t> negotiate_version(std::uint32_t peer_min, std::uint32_t peer_max) {
  const std::uint32_t highest = std::min(peer_max, kVersionMax);
  if (highest >= std::max(peer_min, kVersionMin)) return highest;
  const auto range = [](std::uint32_t low, std::uint32_t high) {
    return std::to_string(low) + " to " + std::to_string(high);
  };
  return fail(ErrorCode::unsupported, ErrorSource::control,
              "no common protocol version: the peer speaks " + range(peer_min, peer_max) +
                  ", this program " + range(kVersionMin, kVersionMax) +
                  "; upgrade the coordinator first, then the agents");
}

}  // namespace rehearsal::protocol

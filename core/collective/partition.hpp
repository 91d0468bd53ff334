#pragma once

#include <algorithm>
#include <cstdint>

#include "core/collective/choice.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// How arrays are cut: channels, blocks, chunks, slices. All in bytes; every inner boundary of a
/// ring stands on a multiple of 16 B (nccl src/device/all_reduce.h, prims_simple.h).
inline constexpr std::uint64_t kAlignment = 16;

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return value / by + (value % by != 0 ? 1 : 0);
}
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t to = kAlignment) {
  return divide_up(value, to) * to;
}
constexpr std::uint64_t align_down(std::uint64_t value, std::uint64_t to = kAlignment) {
  return value / to * to;
}

/// A half-open range of bytes.
struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  constexpr std::uint64_t size() const { return end - begin; }
};

/// Block `index` of `count` of an array that need not divide: [floor(i·S/n), floor((i+1)·S/n)).
constexpr Range block_of(std::uint64_t bytes, std::uint64_t count, std::uint64_t index) {
  return {index * bytes / count, (index + 1) * bytes / count};
}

/// How many channels an array of `bytes` is worth: one more for each `channel_bytes_min`, at
/// least 1.
constexpr std::uint32_t channels_for(std::uint64_t bytes, std::uint32_t channels,
                                     std::uint64_t channel_bytes_min) {
  const std::uint64_t worth = divide_up(bytes, std::max<std::uint64_t>(channel_bytes_min, 1));
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(worth, 1, std::max<std::uint32_t>(channels, 1)));
}

/// The contiguous part of `bytes` that channel `channel` of `channels` owns.
constexpr Range channel_part(std::uint64_t bytes, std::uint32_t channels, std::uint32_t channel) {
  const auto boundary = [&](std::uint64_t index) {
    return index == channels ? bytes : align_down(index * bytes / channels);
  };
  return {boundary(channel), boundary(std::uint64_t{channel} + 1)};
}

/// Where in the array the part of block `index` of `count` stands that a channel owns.
constexpr Range block_part(std::uint64_t bytes, std::uint64_t count, std::uint64_t index,
                           std::uint32_t channels, std::uint32_t channel) {
  const Range block = block_of(bytes, count, index);
  const Range part = channel_part(block.size(), channels, channel);
  return {block.begin + part.begin, block.begin + part.end};
}

/// The chunk that begins `offset` bytes into `part`; empty beyond its end.
constexpr Range chunk_at(Range part, std::uint64_t offset, std::uint64_t chunk) {
  const std::uint64_t begin = std::min(part.begin + offset, part.end);
  return {begin, std::min(begin + chunk, part.end)};
}

/// Chunk `index` of the `count` chunks of one ring loop of `bytes`. The first is NCCL's chunk
/// (ceil(bytes / count) aligned up to 16 B); the others are that or 16 B less, so that each stays
/// within 16 B of bytes / count (docs/decisions/0005).
constexpr Range loop_chunk(std::uint64_t bytes, std::uint64_t count, std::uint64_t index) {
  const auto boundary = [&](std::uint64_t i) {
    return std::min(align_up(divide_up(i * bytes, count)), bytes);
  };
  return {boundary(index), boundary(index + 1)};
}

/// How a chunk becomes messages: NCCL's rule (src/device/prims_simple.h, genericOp).
struct Slicing {
  std::uint64_t chunk = kAlignment;  ///< the largest chunk, a multiple of 16 B
  std::uint32_t slices = 1;          ///< per chunk
  Protocol protocol = Protocol::simple;

  static Slicing of(const Choice& choice) {
    return {align_up(choice.chunk.count()), choice.slices_per_chunk, choice.protocol};
  }

  /// Data in all slices but the last of a chunk of `bytes`.
  constexpr std::uint64_t slice_bytes(std::uint64_t bytes) const {
    return std::max(align_up(divide_up(bytes, slices)), align_up(chunk / slices / 32));
  }
  /// The slices of a chunk of `bytes`; those that hold nothing are no messages.
  Amount amount(std::uint64_t bytes) const {
    if (bytes == 0) return {};
    const std::uint64_t slice = slice_bytes(bytes);
    const std::uint64_t whole = bytes / slice;
    const std::uint64_t rest = bytes % slice;
    return {bytes, whole * wire_bytes(protocol, slice) + wire_bytes(protocol, rest),
            whole + (rest > 0 ? 1 : 0)};
  }
  /// The largest message of a chunk of `bytes`.
  std::uint64_t message_bytes_max(std::uint64_t bytes) const {
    return wire_bytes(protocol, std::min(bytes, slice_bytes(bytes)));
  }
  /// `bytes` cut into whole chunks and a rest, each sliced.
  Amount in_chunks(std::uint64_t bytes) const {
    return bytes / chunk * amount(chunk) + amount(bytes % chunk);
  }
};

}  // namespace rehearsal::collective

#pragma once

#include <cstddef>
#include <cstdint>

namespace rehearsal::profile {

/// Caps on what a profile may hold, checked before memory is taken for it.
inline constexpr std::size_t kBinaryBytesMax = std::size_t{256} << 20;
inline constexpr std::size_t kTextBytesMax = 1'000'000;
inline constexpr std::uint32_t kRanksMax = 1U << 20;
inline constexpr std::size_t kNameBytesMax = 4096;
inline constexpr std::size_t kStreamsMax = 1U << 12;
inline constexpr std::size_t kPhasesMax = 1U << 12;
inline constexpr std::size_t kCommunicatorsMax = 1U << 16;
/// Over all communicators and classes together.
inline constexpr std::size_t kRankEntriesMax = 1U << 24;
inline constexpr std::size_t kPeerEntriesMax = 1U << 26;
inline constexpr std::size_t kOpsMax = 1U << 22;
inline constexpr std::size_t kDependenciesMax = 1U << 24;
/// Of one op, so that sums over ranks and ops stay within 64 bits.
inline constexpr std::uint64_t kOpBytesMax = std::uint64_t{1} << 50;
inline constexpr std::int64_t kDurationNanosecondsMax = std::int64_t{3'600'000'000'000} * 24;

}  // namespace rehearsal::profile

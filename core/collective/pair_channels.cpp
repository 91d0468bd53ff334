#include "core/collective/pair_channels.hpp"

#include <algorithm>
#include <bit>

#include "core/collective/pair_exchange.hpp"
#include "core/collective/partition.hpp"

namespace rehearsal::collective {
namespace {

constexpr std::uint32_t kChannelsMax = 64;      // MAXCHANNELS
constexpr std::uint64_t kBytesPerChannel = 14;  // GB/s, NCCL_P2P_PER_CHANNEL_NET_BW
constexpr std::uint64_t kBitsPerGigabyte = 8 * 1'000'000'000ULL;
constexpr std::uint64_t kNvlinkChunk = 512U << 10;  // NCCL_P2P_NVL_CHUNKSIZE
constexpr std::uint32_t kSharedSteps = 16;          // NCCL_SHARED_STEPS
constexpr std::uint32_t kSteps = 8;                 // NCCL_STEPS

}  // namespace

PairChannels pair_channels(const Shape& shape, const PairLinks& links) noexcept {
  std::uint64_t per_peer = kChannelsMax;
  if (shape.nodes() > 1) {
    const std::uint64_t gigabytes = links.nic_rate.bits_per_second() / kBitsPerGigabyte;
    per_peer = std::max<std::uint64_t>(links.nics, divide_up(gigabytes, kBytesPerChannel));
    if (links.nics == 0) per_peer = 2;
  }
  if (shape.size() > shape.nodes()) {  // some rank has a peer on its node
    const std::uint64_t inside = links.nvlink ? 2 * std::max<std::uint64_t>(links.nvlinks, 1) : 2;
    per_peer = std::min(per_peer, inside);
  }
  PairChannels result;
  result.per_peer = static_cast<std::uint32_t>(
      std::bit_ceil(std::clamp<std::uint64_t>(per_peer, 1, kChannelsMax)));
  result.total = std::bit_ceil(std::clamp<std::uint32_t>(links.channels, 1, kChannelsMax));
  if (shape.nodes() == 1) {
    result.per_peer = std::min(result.per_peer, result.total);
    return result;
  }
  const std::uint64_t batches = divide_up(shape.size(), PairExchange::kPeersPerChannel);
  while (result.per_peer * batches > result.total && result.per_peer > 1) result.per_peer /= 2;
  return result;
}

Choice pair_choice(const profile::Op& op, const Shape& shape, const PairLinks& links,
                   const Settings& settings) noexcept {
  const PairChannels channels = pair_channels(shape, links);
  const bool inside = shape.nodes() == 1 && links.nvlink;
  const bool single = profile::is_point_to_point(op.kind);
  const std::uint32_t peers =
      PairExchange::slots(single ? PairBytes::Kind::single : PairBytes::Kind::all_to_all,
                          std::max<std::uint32_t>(shape.size(), 2));
  return {.channels = channels.total,
          .chunk = inside ? Bytes{kNvlinkChunk} : settings.point_to_point_chunk,
          .slices_per_chunk = 1,
          .credits = std::min(kSteps, kSharedSteps / peers),
          .channels_per_peer = channels.per_peer};
}

}  // namespace rehearsal::collective

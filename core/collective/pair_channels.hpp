#pragma once

#include <cstdint>

#include "core/base/units.hpp"
#include "core/collective/choice.hpp"
#include "core/collective/settings.hpp"
#include "core/collective/shape.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::collective {

/// What decides how many channels grouped sends and receives take.
struct PairLinks {
  std::uint32_t channels = 2;  ///< of the communicator's collectives, with their duplicates
  std::uint32_t nics = 1;      ///< near a rank
  BitRate nic_rate{};          ///< of them together; zero: not known
  bool nvlink = true;          ///< between the ranks of a node; else PCIe
  /// NVLinks between two ranks of a node; those of an NVSwitch count for every pair.
  std::uint32_t nvlinks = 18;
};

/// Channels of all_to_all, gather, scatter, send and recv.
struct PairChannels {
  std::uint32_t total = 1;
  std::uint32_t per_peer = 1;

  bool operator==(const PairChannels&) const = default;
};

/// NCCL's numbers (src/graph/paths.cc, ncclTopoGetNchannels, ncclTopoComputeP2pChannels), both
/// powers of two. Per peer: by the network one a NIC or one for 14 GB/s of it, if that is more; in
/// a node two a NVLink, or two; the least of them, and on several nodes so few that all ranks fit
/// into one round of 8 peers a channel.
PairChannels pair_channels(const Shape& shape, const PairLinks& links) noexcept;

/// What NCCL picks for an all_to_all, gather, scatter, send or recv: steps of 128 KiB (`settings`)
/// between nodes, of 512 KiB where all ranks share a node and its NVLink. The peers that a channel
/// serves at a time share 16 steps of buffer, and one has at most 8 under way
/// (src/transport/net.cc, sendProxyProgress).
Choice pair_choice(const profile::Op& op, const Shape& shape, const PairLinks& links,
                   const Settings& settings) noexcept;

}  // namespace rehearsal::collective

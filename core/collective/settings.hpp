#pragma once

#include <cstdint>

#include "core/base/units.hpp"

namespace rehearsal::collective {

/// The largest values of cross_nic and pxn_level.
inline constexpr std::uint32_t kCrossNicMax = 2;
inline constexpr std::uint32_t kPxnLevelMax = 2;

/// How collectives become messages. Defaults are NCCL's for ring and Simple
/// (nccl src/include/device.h, src/enqueue.cc: 512 KiB steps, chunk 4 steps, slice 2 steps).
struct Settings {
  std::uint32_t channels = 2;
  Bytes chunk{2U << 20};  ///< ring all_reduce, all_gather, reduce_scatter
  std::uint32_t slices_per_chunk = 2;
  Bytes pipeline_chunk{512U << 10};        ///< broadcast, reduce: chunk = slice = one step
  Bytes point_to_point_chunk{128U << 10};  ///< NCCL_P2P_NET_CHUNKSIZE
  std::uint32_t point_to_point_channels = 2;
  std::uint32_t credits = 4;           ///< per connection; at least slices_per_chunk + 1
  Bytes channel_bytes_min{32U << 10};  ///< a further channel only for this much traffic

  // Where it is known how ranks stand on nodes and rails (rails.hpp):
  /// NCCL_CROSS_NIC: may a ring leave a node by another NIC than it entered it by? 0 no, 1 yes, 2
  /// if there is no way back to that one.
  std::uint32_t cross_nic = 2;
  /// NCCL_P2P_PXN_LEVEL: use another rail's NIC by way of the GPU near it? 0 never, 1 if needed, 2
  /// always.
  std::uint32_t pxn_level = 2;

  bool operator==(const Settings&) const = default;
};

}  // namespace rehearsal::collective

#pragma once

#include <cstdint>
#include <optional>

#include "core/base/units.hpp"
#include "core/collective/choice.hpp"
#include "core/collective/system.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::collective {

/// How the bytes of one channel are cut into messages. Bytes of data, before the protocol's flags.
struct Chunking {
  Bytes chunk;  ///< what a rank passes on in one step of its algorithm, at most
  std::uint32_t slices_per_chunk = 1;
  std::uint32_t credits = 8;  ///< messages under way on a connection: 8 steps / steps of a slice

  bool operator==(const Chunking&) const = default;
};

/// NCCL's rule (src/enqueue.cc calcCollChunking): a step is an eighth of the protocol's buffer; a
/// ring with Simple takes four steps a chunk in two slices, all else one step; trees with LL128,
/// PAT and NVLS take smaller chunks for smaller ops, so that the pipeline fills.
///
/// `bytes` is the whole op (the larger of what a rank sends and receives) and `channels` what it is
/// spread over. `buffer`: NCCL_BUFFSIZE. `nvls_bandwidth`: GB/s of the model for NVLS all_reduce,
/// which decides on its chunks over several nodes.
Chunking chunking(profile::OpKind kind, Algorithm algorithm, Protocol protocol, Bytes bytes,
                  std::uint32_t channels, const System& system, const Graphs& graphs,
                  std::optional<Bytes> buffer = std::nullopt, double nvls_bandwidth = 0);

/// How many channels an op really takes of the `channels` it may (src/enqueue.cc topoGetAlgoInfo
/// and scheduleCollTasksToPlan): as many as keep their threads busy, and none with less than 32 KiB
/// of traffic (LL counted four times). `ring_bandwidth`: GB/s of all channels of the ring graph
/// inside the node.
std::uint32_t channels_for_size(profile::OpKind kind, Algorithm algorithm, Protocol protocol,
                                Bytes bytes, std::uint32_t channels, const System& system,
                                double ring_bandwidth);

}  // namespace rehearsal::collective

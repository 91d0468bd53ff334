#include "core/collective/chunking.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "core/collective/nccl_2_30.hpp"
#include "core/collective/partition.hpp"

namespace rehearsal::collective {
namespace {

namespace nccl = nccl_2_30;
using profile::OpKind;

constexpr std::uint64_t kKiB = 1024;

bool is_nvls(Algorithm algorithm) {
  return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
}

std::uint64_t step_bytes(Protocol protocol, std::optional<Bytes> buffer) {
  switch (protocol) {
    case Protocol::ll:
      return nccl::kBufferLl / nccl::kSteps / 2;
    case Protocol::ll128:
      return nccl::kBufferLl128 / nccl::kSteps / 16 * 15;
    case Protocol::simple:
      return (buffer ? buffer->count() : nccl::kBufferSimple) / nccl::kSteps;
  }
  return 0;
}

// Halves `chunk` while `too_large` and above `least`; NCCL may end below `least`.
template <typename TooLarge>
void halve(std::uint64_t& chunk, std::uint64_t least, TooLarge too_large) {
  while (chunk > least && too_large(chunk)) chunk /= 2;
}

// `bytes` of one channel, on `nodes` nodes with `ranks_per_node` ranks.
std::uint64_t tree_ll128(std::uint64_t chunk, std::uint64_t bytes, const System& system) {
  const double ranks_per_node = system.ranks_per_node();
  const double depth = std::bit_width(system.nodes) - 1;
  const double steps = 1 + depth + 0.1 * ranks_per_node;
  const auto fewer_chunks_than = [&](double times) {
    return [=](std::uint64_t size) {
      return static_cast<double>(bytes / size) < steps * times / ranks_per_node;
    };
  };
  halve(chunk, 128 * kKiB, fewer_chunks_than(64));
  halve(chunk, 32 * kKiB, fewer_chunks_than(16));
  return chunk;
}

// At most `size` for ops of less than `times` times what all heads have under way.
void limit(std::uint64_t& chunk, std::uint64_t size, std::uint64_t bytes, std::uint64_t times,
           std::uint64_t heads) {
  if (bytes < times * heads * chunk && chunk > size) chunk = size;
}

std::uint64_t nvls_chunk(std::uint64_t chunk, std::uint64_t bytes, std::uint64_t heads,
                         const System& system, double bandwidth) {
  const bool slow = system.nodes > 1 && bandwidth < nccl::kNvlsSlowNetwork;
  chunk = std::min(chunk, slow ? nccl::kNvlsChunkSlowNetwork : nccl::kNvlsChunk);
  limit(chunk, 64 * kKiB, bytes, 64, heads);
  limit(chunk, 32 * kKiB, bytes, 8, heads);
  limit(chunk, 16 * kKiB, bytes, 2, heads);
  return chunk;
}

// src/transport/nvls.cc ncclNvlsTuning, ncclNvlsTreeSm100Tuning.
std::uint64_t nvls_tree_chunk_max(const System& system) {
  const std::uint64_t plain = system.nodes >= 4 ? nccl::kNvlsTreeChunkFourNodes : nccl::kNvlsChunk;
  if (system.generation < Generation::blackwell || system.nic_bandwidth < 48) return plain;
  const double ranks = system.ranks_per_node();
  const bool near = system.to_nic <= PathKind::pxb;
  if (system.nodes == 2) {
    if (ranks <= 4) return 256 * kKiB;
    const bool small = ranks >= 16 || (ranks <= 8 && near && system.nic_bandwidth < 96);
    return (small ? 64 : 128) * kKiB;
  }
  if (system.nic_bandwidth >= 96) {
    if (ranks <= 8) return 256 * kKiB;
    return (ranks < 32 ? 128 : 64) * kKiB;
  }
  return (near ? 64 : 128) * kKiB;
}

std::uint64_t nvls_tree_chunk(std::uint64_t bytes, std::uint64_t heads, const System& system) {
  std::uint64_t chunk = nvls_tree_chunk_max(system);
  limit(chunk, 256 * kKiB, bytes, 32, heads);
  limit(chunk, 128 * kKiB, bytes, 16, heads);
  limit(chunk, 64 * kKiB, bytes, 4, heads);
  limit(chunk, 32 * kKiB, bytes, 1, heads);
  return chunk;
}

// src/graph/tuning.cc: comm->maxThreads, threadThresholds; PAT has none, so nothing shrinks it.
std::uint64_t bytes_of_channel(Algorithm algorithm, Protocol protocol, const System& system,
                               double ring_bandwidth) {
  if (algorithm == Algorithm::pat) return 0;
  const bool ring = algorithm == Algorithm::ring;
  switch (protocol) {
    case Protocol::ll:
      return std::uint64_t{nccl::kThreadsLl} * nccl::kBytesOfThreadLl * (ring ? system.ranks : 1);
    case Protocol::ll128:
      return std::uint64_t{nccl::kThreadsLl128} * nccl::kBytesOfThreadLl128;
    case Protocol::simple: {
      const bool slow = ring && ring_bandwidth <= nccl::kPcie3;
      return std::uint64_t{slow ? nccl::kThreadsSimpleSlowRing : nccl::kThreadsSimple} *
             nccl::kBytesOfThreadSimple;
    }
  }
  return 0;
}

}  // namespace

Chunking chunking(OpKind kind, Algorithm algorithm, Protocol protocol, Bytes bytes,
                  std::uint32_t channels, const System& system, const Graphs& graphs,
                  std::optional<Bytes> buffer, double nvls_bandwidth) {
  const std::uint64_t of_channel = divide_up(bytes.count(), std::max(channels, 1U));
  std::uint32_t chunk_steps = 1;
  std::uint32_t slice_steps = 1;
  if (protocol == Protocol::simple && algorithm == Algorithm::ring && kind != OpKind::broadcast &&
      kind != OpKind::reduce) {
    chunk_steps = nccl::kRingChunkSteps;
    slice_steps = nccl::kRingSliceSteps;
  }
  std::uint64_t chunk = step_bytes(protocol, buffer) * chunk_steps;
  const std::uint64_t heads = std::max(graphs.nvls.channels, 1U);
  if (algorithm == Algorithm::nvls) {
    chunk = nvls_chunk(chunk, of_channel, heads, system, nvls_bandwidth);
  } else if (algorithm == Algorithm::nvls_tree) {
    chunk = nvls_tree_chunk(of_channel, heads, system);
  } else if (algorithm == Algorithm::tree && protocol == Protocol::ll128) {
    chunk = tree_ll128(chunk, of_channel, system);
  } else if (algorithm == Algorithm::pat) {
    const std::uint64_t times = kind == OpKind::all_gather ? 32 : 16;
    halve(chunk, 64 * kKiB, [&](std::uint64_t size) { return size * times > of_channel; });
  }
  chunk = align_down(chunk, nccl::kGrain[static_cast<std::size_t>(protocol)]);
  return {Bytes{chunk}, chunk_steps / slice_steps, nccl::kSteps / slice_steps};
}

std::uint32_t channels_for_size(OpKind kind, Algorithm algorithm, Protocol protocol, Bytes bytes,
                                std::uint32_t channels, const System& system,
                                double ring_bandwidth) {
  const std::uint64_t size = bytes.count();
  if (!is_nvls(algorithm)) {
    const std::uint64_t least = bytes_of_channel(algorithm, protocol, system, ring_bandwidth);
    while (channels > 1 && size < channels * least) --channels;
  }
  // Cells of 32 KiB of traffic are dealt to channels, the same number to each but the last. What
  // counts is the traffic of a ring: all_reduce passes every byte twice.
  const std::uint64_t weight =
      (kind == OpKind::all_reduce ? 2 : 1) * (protocol == Protocol::ll ? nccl::kTrafficTimesLl : 1);
  const std::uint64_t traffic = std::max(size * weight, nccl::kTrafficOfChannelLeast);
  const std::uint64_t share = align_up(traffic / channels, nccl::kCellAlignment);
  const bool whole_array = kind == OpKind::all_gather || kind == OpKind::reduce_scatter;
  const std::uint64_t times = weight * (whole_array ? system.ranks : 1);
  const std::uint64_t cell =
      align_up(divide_up(nccl::kTrafficOfChannelLeast, times), nccl::kCellAlignment);
  const std::uint64_t part = whole_array ? divide_up(size, system.ranks) : size;
  const std::uint64_t cells = std::max<std::uint64_t>(divide_up(part, cell), 1);
  const std::uint64_t cells_of_channel =
      std::clamp<std::uint64_t>(divide_up(share, cell * times), 1, cells);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(divide_up(cells, cells_of_channel), channels));
}

}  // namespace rehearsal::collective

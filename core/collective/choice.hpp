#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/units.hpp"

namespace rehearsal::collective {

/// How a collective is done. The first seven are NCCL's, in the order in which NCCL breaks ties
/// (nccl src/include/nccl_common.h); the last two are other libraries'.
enum class Algorithm : std::uint8_t {
  tree,              ///< double binary tree over nodes, a chain inside a node
  ring,              ///<
  collnet_direct,    ///< reduction in the network, by a plugin
  collnet_chain,     ///< the same, along a chain inside the node
  nvls,              ///< NVLink SHARP inside one node
  nvls_tree,         ///< NVLink SHARP inside nodes, a double binary tree on each rail
  pat,               ///< parallel aggregated trees (binomial), all_gather and reduce_scatter
  halving_doubling,  ///< recursive halving and doubling (MPI, Gloo)
  direct,            ///< every pair at once (oneCCL, RCCL's direct all_gather)
};
inline constexpr Algorithm kAlgorithms[] = {Algorithm::tree,
                                            Algorithm::ring,
                                            Algorithm::collnet_direct,
                                            Algorithm::collnet_chain,
                                            Algorithm::nvls,
                                            Algorithm::nvls_tree,
                                            Algorithm::pat,
                                            Algorithm::halving_doubling,
                                            Algorithm::direct};
std::string_view to_string(Algorithm algorithm);

/// How bytes are laid out on the way, which decides what reaches the wire (nccl src/include/
/// device.h): `ll` sends a flag of 4 B with each 4 B of data, `ll128` 8 B with each 120 B.
enum class Protocol : std::uint8_t { ll, ll128, simple };
inline constexpr Protocol kProtocols[] = {Protocol::ll, Protocol::ll128, Protocol::simple};
std::string_view to_string(Protocol protocol);

/// What was picked for one op. Sizes are bytes of data, before the protocol adds its flags.
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  std::uint32_t channels = 2;
  Bytes chunk{2U << 20};
  std::uint32_t slices_per_chunk = 2;
  /// Messages that may be under way on one connection: 8 steps of buffer / steps a slice (NCCL).
  std::uint32_t credits = 4;
  /// Of all_to_all, gather, scatter, send, recv: at most so many of the channels for one peer;
  /// 0: all of them.
  std::uint32_t channels_per_peer = 0;

  bool operator==(const Choice&) const = default;
};

/// Bytes on the wire of a message with `bytes` of data. LL: lines of 8 B of data and 8 B of flags.
/// LL128: a warp writes 16 lines of 128 B, 120 B of them data, at a time, and always whole ones
/// (nccl src/device/prims_ll.h, prims_ll128.h: waitSend). Simple: as many.
std::uint64_t wire_bytes(Protocol protocol, std::uint64_t bytes);

}  // namespace rehearsal::collective

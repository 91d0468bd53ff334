#pragma once

#include <cstdint>

#include "core/collective/settings.hpp"
#include "core/collective/shape.hpp"

namespace rehearsal::collective {

/// The rails of one connection between two nodes.
struct RailPath {
  std::uint32_t departure = 0;  ///< of the NIC it leaves the source's node by
  std::uint32_t arrival = 0;    ///< of the NIC it enters the destination's node by

  bool operator==(const RailPath&) const = default;
};

/// How rings cross rails under NCCL_CROSS_NIC (nccl src/graph/search.cc, ncclTopoCompute;
/// connect.cc, ncclTopoPostset). 2, the default, lets a ring leave by another NIC only if there is
/// no way back to the one it entered by: over NVLink and the GPU near that NIC (PXN) there always
/// is.
Shape::Crossing crossing_of(const Settings& settings) noexcept;

/// Rails of a collective's connection. A channel has one NIC in every node and the rank that talks
/// to another node reaches it, if need be by way of the rank nearest to it (nccl src/graph/topo.cc,
/// ncclTopoGetNetDev with a graph); ranks of one rail stay on it (the heads of NVLS trees). Where
/// rings cross, each end uses its own.
RailPath collective_rails(const Shape& shape, std::uint32_t channel, std::uint32_t source,
                          std::uint32_t destination) noexcept;

/// Rails of what passes between two ranks directly: all_to_all, gather, scatter, send, recv (nccl
/// src/graph/topo.cc, ncclTopoGetNetDev without a graph). It arrives at the destination's own. With
/// PXN it leaves by the same rail, from the local rank that stands nearest to it, which gets the
/// data over NVLink; so it does with NCCL_CROSS_NIC=0. Else, and where no local rank stands on that
/// rail, it leaves by the source's own.
RailPath pair_rails(const Shape& shape, const Settings& settings, std::uint32_t source,
                    std::uint32_t destination) noexcept;

}  // namespace rehearsal::collective

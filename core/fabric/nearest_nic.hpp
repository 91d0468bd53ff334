#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fabric/node.hpp"

namespace rehearsal::fabric {

/// Which of the NICs a GPU uses: of those at the end of the best kind of path the one whose turn it
/// is, so that GPUs with the same NICs near share them (nccl src/graph/topo.cc ncclTopoGetLocalNet:
/// by the GPU's number, bits mirrored if the NICs are a power of two). `paths`: to each NIC, at
/// least one.
inline Gpu nearest_nic(std::uint32_t gpu, const std::vector<Path>& paths) {
  Path best = paths.front();
  for (const Path path : paths) best = path < best ? path : best;
  std::vector<std::uint32_t> near;
  for (std::uint32_t nic = 0; nic < paths.size(); ++nic) {
    if (paths[nic] == best) near.push_back(nic);
  }
  const auto count = static_cast<std::uint32_t>(near.size());
  std::uint32_t turn = gpu;
  if (std::has_single_bit(count)) {
    turn = 0;
    for (std::uint32_t bit = 1, mirrored = count / 2; bit < count; bit *= 2, mirrored /= 2) {
      if ((gpu & bit) != 0) turn |= mirrored;
    }
  }
  return {near[turn % count], best};
}

}  // namespace rehearsal::fabric

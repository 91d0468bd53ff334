#include "core/collective/system.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/check.hpp"
#include "core/collective/nccl_2_30.hpp"

namespace rehearsal::collective {
namespace {

namespace nccl = nccl_2_30;

std::span<const double> speeds(const System& system) {
  const bool inside = system.nodes == 1;
  switch (system.generation) {
    case Generation::volta:
    case Generation::ampere:
      return inside ? std::span<const double>(nccl::kSpeedsInside) : nccl::kSpeedsBetween;
    case Generation::hopper:
      return inside ? std::span<const double>(nccl::kSpeedsInsideHopper)
                    : nccl::kSpeedsBetweenHopper;
    case Generation::blackwell:
      return inside ? std::span<const double>(nccl::kSpeedsInsideBlackwell)
                    : nccl::kSpeedsBetweenBlackwell;
  }
  CHECK(false, "a generation without speeds");
}

// How much of a GPU's bandwidth inside the node a channel takes, in parts of its speed. A ring
// inside one node passes every GPU both ways; one that crosses nodes leaves a gap where it enters,
// and so does the chain of a tree.
double share_of_gpu(const System& system, bool ring) {
  const double gpus = system.ranks_per_node();
  if (ring && system.nodes == 1) return 1;
  return (gpus - 1) / gpus;
}

std::uint32_t how_often(double in, double speed) {
  // The search compares after rounding to thousandths.
  return static_cast<std::uint32_t>(std::floor(in / speed + 1e-6));
}

std::uint32_t fitting_channels(const System& system, bool ring, double speed) {
  std::uint32_t fitting = nccl::kSearchChannelsMax;
  const double share = share_of_gpu(system, ring);
  if (share > 0) fitting = std::min(fitting, how_often(system.gpu_bandwidth, speed * share));
  if (system.nodes > 1) {
    fitting = std::min(fitting, system.nics * how_often(system.nic_bandwidth, speed));
  }
  return fitting;
}

// The first pass of the search: most bandwidth over all channels, the fastest channels among
// equals.
Graph fastest_ring(const System& system) {
  const double most = system.nodes == 1 ? system.gpu_bandwidth : system.nic_bandwidth;
  Graph best;
  for (const double speed : speeds(system)) {
    if (speed > most) continue;
    if (best.channels > 0 && speed / best.between <= nccl::kSpeedStepLeast) break;
    const std::uint32_t fitting = fitting_channels(system, true, speed);
    if (fitting * speed > best.channels * best.between) best = {fitting, speed, speed};
  }
  if (best.channels == 0) {
    best = {1, 0.1, 0.1};  // "falling back to simple order"
  }
  return best;
}

// ncclTopoDupChannels: a fast channel becomes two of half the speed.
void split(const System& system, Graph& ring) {
  if (ring.inside < nccl::kSplitSpeed) return;
  if (system.generation >= Generation::hopper && ring.inside < nccl::kSplitSpeedHopper &&
      ring.channels > nccl::kSplitChannels) {
    return;
  }
  const std::uint32_t twice = std::min(ring.channels * 2, nccl::kSearchChannelsMax);
  const double parts = std::ceil(static_cast<double>(twice) / ring.channels);
  ring = {twice, ring.inside / parts, ring.between / parts};
}

// The second pass: the next faster listed speeds, while `fits` and less than twice `other`.
template <typename Fits>
double raised(const System& system, double speed, double other, Fits fits) {
  const auto listed = speeds(system);
  auto at = listed.size();
  while (at > 0 && listed[at - 1] <= speed) --at;
  while (at > 0 && speed < 2 * other && fits(listed[at - 1])) speed = listed[--at];
  return speed;
}

// As many channels as the ring has, as fast as listed. Inside the node they may be faster than
// between nodes.
Graph fastest_tree(const System& system, const Graph& ring) {
  const double share = share_of_gpu(system, false);
  const auto fits_inside = [&](double speed) {
    return ring.channels * speed * share <= system.gpu_bandwidth;
  };
  for (const double speed : speeds(system)) {
    const bool fits_between =
        system.nodes == 1 || ring.channels <= system.nics * how_often(system.nic_bandwidth, speed);
    if (!fits_inside(speed) || !fits_between) continue;
    if (system.nodes == 1) return {ring.channels, speed, speed};
    return {ring.channels, raised(system, speed, speed, fits_inside), speed};
  }
  return ring;
}

// Each head takes its share of the buffer from all GPUs through the switch: a GPU moves that of
// every head once, and its own twice.
Graph nvls(const System& system) {
  const auto gpus = system.ranks / system.nodes;
  if (!system.multicast || system.inside != Inside::nvswitch || gpus < 2 ||
      system.generation < Generation::hopper) {
    return {};
  }
  const std::uint32_t most = std::min(gpus, nccl::kNvlsArityMax);
  Graph best;
  for (const double speed : speeds(system)) {
    std::uint32_t heads = most;
    if (system.nodes > 1) {
      heads = std::min(heads, system.nics * how_often(system.nic_bandwidth, speed));
    }
    if (heads == 0 || (heads + 1) * speed > system.gpu_bandwidth) continue;
    if (heads * speed > best.channels * best.between) best = {heads, speed, speed};
  }
  if (best.channels == 0) return best;
  best.between = raised(system, best.between, best.inside, [&](double speed) {
    return system.nodes == 1 ||
           best.channels <= system.nics * how_often(system.nic_bandwidth, speed);
  });
  return best;
}

}  // namespace

double counted_gpu_bandwidth(Generation generation, Inside inside, BitRate documented) {
  const double rate = documented.bytes_per_second() / 1e9;
  if (inside == Inside::pcie) return rate * nccl::kPcieShare;
  const auto row = static_cast<std::size_t>(generation);
  return rate * nccl::kNvlinkOfLink[row] / nccl::kNvlinkDocumented[row];
}

double counted_nic_bandwidth(BitRate line, BitRate pcie) {
  return std::min(line.bytes_per_second(), pcie.bytes_per_second() * nccl::kPcieShare) / 1e9;
}

Graphs derive_graphs(const System& system) {
  CHECK(system.nodes > 0 && system.ranks >= system.nodes, "a rank on every node");
  const bool alone = system.ranks == system.nodes;
  Graphs graphs;
  graphs.ring = fastest_ring(system);
  split(system, graphs.ring);
  graphs.tree = fastest_tree(system, graphs.ring);
  graphs.nvls = nvls(system);
  // A balanced tree needs a second GPU near each NIC; from Hopper on, NCCL then takes a plain one.
  graphs.plain_tree = alone || (system.nodes > 1 && system.generation >= Generation::hopper);
  // With a NIC for each GPU, every channel starts at another GPU.
  graphs.same_channels = system.nodes == 1 || alone || system.nics == 1;
  return graphs;
}

std::uint32_t channels(const System& system, const Graphs& graphs) {
  const std::uint32_t found = std::min(graphs.ring.channels, graphs.tree.channels);
  std::uint32_t count = std::min(found * 2, nccl::kChannelsMax);
  if (system.generation >= Generation::hopper && system.nodes > 1 &&
      graphs.ring.inside > nccl::kDoubleSpeed && count < nccl::kDoubleChannels) {
    count *= 2;
  }
  return count;
}

std::uint32_t nvls_channels(const System& system) {
  if (system.generation < Generation::blackwell) return nccl::kNvlsChannelsHopper;
  if (system.nodes == 1) return nccl::kNvlsChannelsBlackwellOneNode;
  // ncclNvlsTreeSm100Tuning
  if (system.nodes > 2 && system.nic_bandwidth >= 96 && system.ranks_per_node() <= 8) return 24;
  if (system.nodes > 2 && system.nic_bandwidth >= 48 && system.nic_bandwidth < 96) return 24;
  return nccl::kNvlsChannelsBlackwell;
}

std::string_view to_string(Generation generation) {
  constexpr std::string_view kNames[] = {"volta", "ampere", "hopper", "blackwell"};
  return kNames[static_cast<std::size_t>(generation)];
}

std::string_view to_string(CpuVendor vendor) {
  constexpr std::string_view kNames[] = {"intel", "amd", "arm"};
  return kNames[static_cast<std::size_t>(vendor)];
}

std::string_view to_string(Inside inside) {
  constexpr std::string_view kNames[] = {"nvswitch", "nvlink", "pcie"};
  return kNames[static_cast<std::size_t>(inside)];
}

std::string_view to_string(PathKind kind) {
  constexpr std::string_view kNames[] = {"nvl", "nvb", "c2c", "pix", "pxb",
                                         "p2c", "pxn", "phb", "sys"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace rehearsal::collective

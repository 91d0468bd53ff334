#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/units.hpp"

namespace rehearsal::collective {

/// Generation of the GPUs, as far as NCCL's model tells them apart (compute capability 7.x, 8.x,
/// 9.x, 10 and later).
enum class Generation : std::uint8_t { volta, ampere, hopper, blackwell };
std::string_view to_string(Generation generation);

/// Who made the CPUs; LL's flags are polled by them.
enum class CpuVendor : std::uint8_t { intel, amd, arm };
std::string_view to_string(CpuVendor vendor);

/// What joins the GPUs of a node: all of them a switch, pairs of them links, or PCIe alone.
enum class Inside : std::uint8_t { nvswitch, nvlink, pcie };
std::string_view to_string(Inside inside);

/// The worst stretch of a path, best first (nccl src/include/graph.h, PATH_…).
enum class PathKind : std::uint8_t {
  nvl,  ///< NVLink
  nvb,  ///< NVLink by way of another GPU
  c2c,  ///< CPU and GPU of one package
  pix,  ///< one PCIe switch
  pxb,  ///< several PCIe switches
  p2c,  ///< PCIe switch, then C2C
  pxn,  ///< by way of another GPU that stands near the NIC
  phb,  ///< the CPU's PCIe host bridge
  sys,  ///< between CPUs
};
std::string_view to_string(PathKind kind);

/// What NCCL's search found for one pattern on every node: so many channels, each at these speeds.
struct Graph {
  std::uint32_t channels = 0;
  double inside = 0;   ///< GB/s of a channel inside the node (`bwIntra`)
  double between = 0;  ///< GB/s of a channel between nodes (`bwInter`)

  bool operator==(const Graph&) const = default;
};

/// The three graphs of a communicator, as NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH prints them
/// ("Pattern 4, crossNic 0, nChannels 12, bw 30.000000/30.000000": ring; 1 and 3: tree; 5: NVLS).
struct Graphs {
  Graph ring;
  Graph tree;
  Graph nvls;               ///< its channels are the heads; none: no NVLS
  bool plain_tree = false;  ///< Pattern 3: one GPU carries all of a tree channel's network traffic
  /// All channels run through the GPUs in the same order (`sameChannels 1`).
  bool same_channels = true;

  bool operator==(const Graphs&) const = default;
};

/// The machines of one communicator, as far as NCCL's choice depends on them. At least one node and
/// a rank on each.
struct System {
  Generation generation = Generation::hopper;
  CpuVendor cpu = CpuVendor::intel;
  std::uint32_t nodes = 1;
  std::uint32_t ranks = 8;  ///< of the communicator, the same number on each node
  Inside inside = Inside::nvswitch;
  /// GB/s (10^9 bytes), one direction, that one GPU has to the others of its node: all its NVLinks,
  /// or its PCIe.
  double gpu_bandwidth = 370.8;
  std::uint32_t nics = 8;  ///< of a node, near the communicator's ranks
  /// GB/s between a GPU and the network by one NIC: the least on the way.
  double nic_bandwidth = 48;
  /// What the network plugin says of itself: InfiniBand and RoCE 0, EFA 35 to 75.
  double net_latency_us = 0;
  PathKind between_gpus = PathKind::nvl;  ///< the worst inside the node
  PathKind to_nic = PathKind::pix;        ///< the worst that a channel uses
  bool multicast = true;                  ///< NVSwitch can add up and copy (NVLS)
  /// Where they are known; else derive_graphs() says what the search would find.
  std::optional<Graphs> graphs;

  double ranks_per_node() const { return static_cast<double>(ranks) / nodes; }
};

/// What NCCL counts of the rate that a data sheet gives for one GPU to the others, one direction,
/// in GB/s: of 25 GB/s a link 20 (Hopper: 20.6), of Blackwell's 50 GB/s 40.1, of PCIe three
/// quarters (src/graph/topo.h …_NVLINK_BW, topo.cc ncclTopoAddPci).
double counted_gpu_bandwidth(Generation generation, Inside inside, BitRate documented);

/// The same for a NIC of this line rate in a slot of this rate (lanes × transfer rate).
double counted_nic_bandwidth(BitRate line, BitRate pcie);

/// What NCCL's graph search (nccl src/graph/search.cc ncclTopoCompute) finds on nodes like these.
///
/// The search itself walks every order of GPUs and NICs; this takes its result for nodes whose GPUs
/// are alike and whose NICs stand each nearest to one GPU or a group of them: as many channels of
/// the fastest listed speed as NVLink (or PCIe) and NICs carry together. Published logs that it
/// agrees with: one node of 8 H100 (12 × 30/30, NVLS 8 × 40/60, NVIDIA/nccl#1197), two nodes of 8
/// with 8 NICs of 400 Gbit/s (8 × 48/48); the tree of 8 H800 (8 × 22, NVIDIA/nccl#1154).
/// Assumed, since no published log shows them: the tree's speed inside nodes of Ampere, all of
/// Blackwell.
Graphs derive_graphs(const System& system);

/// The channels that collectives use before small sizes shrink them: the graph's, once more for the
/// second tree, and once more on Hopper and later where few fast rings cross nodes (src/graph/
/// connect.cc ncclTopoPostset). At most 64.
std::uint32_t channels(const System& system, const Graphs& graphs);

/// The channels of NVLS and NVLSTree (src/transport/nvls.cc ncclNvlsTuning).
std::uint32_t nvls_channels(const System& system);

}  // namespace rehearsal::collective

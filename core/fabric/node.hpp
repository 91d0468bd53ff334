#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/base/units.hpp"

namespace rehearsal::fabric {

/// Generation of the GPUs, as NCCL's model of costs tells them apart: compute capability 7.x, 8.x,
/// 9.x, 10 and later.
enum class Generation : std::uint8_t { volta, ampere, hopper, blackwell };
std::string_view to_string(Generation generation);

/// Who made the CPUs.
enum class CpuVendor : std::uint8_t { intel, amd, arm };
std::string_view to_string(CpuVendor vendor);

/// What joins the GPUs: all of them NVSwitches, pairs of them NVLinks, or PCIe alone.
enum class Inside : std::uint8_t { nvswitch, nvlink, pcie };
std::string_view to_string(Inside inside);

/// The way from a GPU to a NIC, best first, in the words of nvidia-smi and NCCL: one PCIe switch,
/// several, a switch and the GPU's own link to the CPU, the CPU's host bridge, host bridges of one
/// NUMA node, between CPUs.
enum class Path : std::uint8_t { pix, pxb, p2c, phb, node, sys };
std::string_view to_string(Path path);

struct Nic {
  std::string name;  ///< as the node's system calls it, or "rail0" …
  BitRate rate;      ///< of the line
  /// What its NCCL plugin says of itself: InfiniBand and RoCE 0, EFA 35 to 75 us.
  Duration latency{0};

  bool operator==(const Nic&) const = default;
};

struct Gpu {
  std::uint32_t nic = 0;  ///< the NIC that its traffic takes: index into Node::nics, its rail
  Path path = Path::pix;  ///< to that NIC

  bool operator==(const Gpu&) const = default;
};

/// Caps on what a node may hold.
inline constexpr std::size_t kGpusMax = 64;
inline constexpr std::size_t kNicsMax = 64;

/// A multi-GPU server, as far as the traffic of its job depends on it: which NIC each GPU uses, and
/// how fast the GPUs reach one another without a NIC.
struct Node {
  std::string name;
  Generation generation = Generation::hopper;
  CpuVendor cpu = CpuVendor::intel;
  std::vector<Gpu> gpus;  ///< by index, as CUDA counts them
  std::vector<Nic> nics;  ///< all, also those that no GPU uses
  Inside inside = Inside::nvswitch;
  BitRate inside_bandwidth;    ///< of one GPU to the others, one direction
  Duration inside_latency{0};  ///< of one transfer between two GPUs
  BitRate pcie;                ///< of a GPU's or NIC's slot, one direction: lanes × transfer rate
  /// What the source did not say and was taken from the usual node of that generation, for people:
  /// "rate of nic mlx5_0: 400Gbit/s".
  std::vector<std::string> assumed;

  /// NICs that some GPU uses, ascending: the rails.
  std::vector<std::uint32_t> rails() const;

  bool operator==(const Node&) const = default;
};

/// A node that everyone has: `a100`, `h100`, `h200`, `b200`; none for any other name.
/// Eight GPUs on NVSwitches and a NIC for each, as in NVIDIA's DGX of that GPU (user guides):
///
/// | node | GPU to GPU, one direction | NICs          | PCIe      | CPU                |
/// |------|---------------------------|---------------|-----------|--------------------|
/// | a100 | 300 GB/s (NVLink 3)       | 8 × 200 Gb/s  | 4.0 x16   | AMD EPYC 7742      |
/// | h100 | 450 GB/s (NVLink 4)       | 8 × 400 Gb/s  | 5.0 x16   | Intel Xeon 8480C   |
/// | h200 | 450 GB/s (NVLink 4)       | 8 × 400 Gb/s  | 5.0 x16   | Intel Xeon 8480C   |
/// | b200 | 900 GB/s (NVLink 5)       | 8 × 400 Gb/s  | 5.0 x16   | Intel Xeon 8570    |
///
/// Latencies inside are those of a step in NCCL's model (src/graph/tuning.cc, hwLatencies, ring
/// with Simple): 3.4 us over NVLink, 5.7 us over PCIe.
std::optional<Node> usual_node(std::string_view name);
std::span<const std::string_view> usual_nodes();

/// Figures of one generation, for what a source leaves out.
struct Usual {
  BitRate nvlink_of_link;  ///< one NVLink, one direction
  BitRate nvswitch;        ///< all NVLinks of a GPU
  BitRate pcie;            ///< x16
  BitRate nic;
};
Usual usual(Generation generation);

/// One transfer between GPUs that are joined so.
Duration usual_latency(Inside inside);

/// Is the node whole: GPUs, NICs, and each GPU's NIC among them? The message names what is wrong
/// and what would be right.
Result<void> check(const Node& node);

}  // namespace rehearsal::fabric

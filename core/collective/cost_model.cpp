#include "core/collective/cost_model.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>

#include "core/collective/nccl_2_30.hpp"

namespace rehearsal::collective {
namespace {

namespace nccl = nccl_2_30;
using nccl::Link;
using profile::OpKind;

std::size_t index_of(Algorithm algorithm) { return static_cast<std::size_t>(algorithm); }
std::size_t index_of(Protocol protocol) { return static_cast<std::size_t>(protocol); }
std::size_t index_of(Generation generation) { return static_cast<std::size_t>(generation); }
std::size_t scale(const System& system) { return std::min<std::size_t>(system.nodes, 3) - 1; }
unsigned log2_down(std::uint64_t value) { return static_cast<unsigned>(std::bit_width(value)) - 1; }

// src/graph/tuning.cc, the loop over algorithms: who does what.
bool exists(OpKind kind, Algorithm algorithm, Protocol protocol) {
  switch (algorithm) {
    case Algorithm::ring:
      return kind == OpKind::all_reduce || kind == OpKind::all_gather ||
             kind == OpKind::reduce_scatter || kind == OpKind::broadcast || kind == OpKind::reduce;
    case Algorithm::tree:
      return kind == OpKind::all_reduce;
    case Algorithm::nvls_tree:
    case Algorithm::collnet_chain:
      return kind == OpKind::all_reduce && protocol == Protocol::simple;
    case Algorithm::nvls:
    case Algorithm::collnet_direct:
      return protocol == Protocol::simple &&
             (kind == OpKind::all_reduce || kind == OpKind::all_gather ||
              kind == OpKind::reduce_scatter);
    case Algorithm::pat:
      return protocol == Protocol::simple &&
             (kind == OpKind::all_gather || kind == OpKind::reduce_scatter);
    case Algorithm::halving_doubling:
    case Algorithm::direct:
      return false;
  }
  return false;
}

std::uint32_t ring_steps(OpKind kind, const System& system) {
  switch (kind) {
    case OpKind::all_reduce:
      return 2 * (system.ranks - 1);
    case OpKind::all_gather:
    case OpKind::reduce_scatter:
      return system.ranks - 1;
    default:
      return system.ranks;
  }
}

const Graph& graph_of(Algorithm algorithm, const Graphs& graphs) {
  switch (algorithm) {
    case Algorithm::ring:
      return graphs.ring;
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      return graphs.nvls;
    default:  // PAT has the tree's; CollNet's own are as its chain, which is a tree's
      return graphs.tree;
  }
}

// GB/s of one channel of NVLS: what the switch does inside the node, what the NICs do between
// nodes.
double nvls_channel(OpKind kind, Algorithm algorithm, const System& system, const Graph& graph) {
  const double heads = graph.channels;
  double inside =
      graph.inside * nccl::kNvlsEfficiency[index_of(system.generation)] * (heads - 1) / heads;
  if (kind == OpKind::all_reduce) {
    inside *= 2;  // the two halves overlap
  } else {
    inside *= (system.ranks_per_node() - 1) / system.ranks_per_node();
  }
  if (algorithm == Algorithm::nvls) return std::min(inside, graph.between);
  const double most = nccl::kNvlsTreeMaxOfChannel[index_of(system.generation)][scale(system)];
  return std::min({inside, graph.between * (system.nodes <= 2 ? 2 : 1), most});
}

double ll_max(const System& system) {
  const std::size_t row = system.nodes == 1              ? index_of(system.generation)
                          : system.cpu == CpuVendor::amd ? 1
                                                         : 0;
  return nccl::kLlMax[row][scale(system)];
}

// "Various model refinements": what the protocol leaves of `bus`, the bandwidth of all channels.
double refined(double bus, Algorithm algorithm, Protocol protocol, const System& system,
               const Graphs& graphs) {
  const std::size_t row = index_of(system.generation);
  const std::size_t column = scale(system);
  if (algorithm == Algorithm::ring) {
    const double most = graphs.ring.channels * nccl::kRingLl128MaxOfChannel[row][column];
    if (protocol == Protocol::ll) return std::min(ll_max(system), bus * nccl::kRingLlShare);
    if (protocol == Protocol::ll128) return std::min(bus * nccl::kRingLl128Share, most);
  }
  if (algorithm == Algorithm::tree) {
    const double channels = graphs.tree.channels;
    bus = std::min(bus * nccl::kTreeShare, channels * nccl::kTreeMaxOfChannel[row][column]);
    if (protocol == Protocol::ll) bus = std::min(bus * nccl::kTreeLlShare, ll_max(system));
    if (protocol == Protocol::ll128) {
      const double share = system.nodes == 1 ? nccl::kTreeLl128ShareOneNode : nccl::kTreeLl128Share;
      bus = std::min(bus * share, channels * nccl::kTreeLl128MaxOfChannel[row][column]);
    }
    if (graphs.plain_tree) bus *= nccl::kPlainTreeShare;
  }
  if (algorithm == Algorithm::pat) bus *= nccl::kPatShare;
  return bus;
}

double bandwidth(OpKind kind, Algorithm algorithm, Protocol protocol, const System& system,
                 const Graphs& graphs) {
  const Graph& graph = graph_of(algorithm, graphs);
  const bool collnet =
      algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
  double of_channel = system.nodes <= 2 || collnet ? graph.inside : graph.between;
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree) {
    of_channel = nvls_channel(kind, algorithm, system, graph);
  }
  double bus = refined(graph.channels * of_channel, algorithm, protocol, system, graphs);
  const bool whole_array = kind == OpKind::all_gather || kind == OpKind::reduce_scatter;
  if (algorithm == Algorithm::collnet_direct) {
    if (whole_array) {
      bus = system.ranks_per_node() * std::min(graph.inside, graph.between * 0.9);
    } else {
      const double gpus_a_nic = system.ranks_per_node() / graph.channels;
      bus /= gpus_a_nic - (gpus_a_nic - 1) / 2;
      if (system.generation >= Generation::hopper) bus *= nccl::kCollnetDirectShareHopper;
    }
  }
  // From bytes on the bus to bytes of the op.
  if (whole_array && algorithm != Algorithm::ring) return bus;
  if (algorithm == Algorithm::ring || algorithm == Algorithm::nvls ||
      algorithm == Algorithm::nvls_tree) {
    return bus * system.ranks / ring_steps(kind, system);
  }
  return bus * 0.5;
}

double ring_latency(OpKind kind, Protocol protocol, const System& system, const Graphs& graphs,
                    double inside, double between) {
  const std::size_t simple = index_of(Protocol::simple);
  const std::uint32_t steps = ring_steps(kind, system);
  if (kind == OpKind::broadcast || kind == OpKind::reduce) {
    const Link link = system.nodes > 1                       ? Link::network
                      : system.between_gpus == PathKind::nvl ? Link::nvlink
                                                             : Link::pcie;
    const auto& row = nccl::kLinkLatencyUs[static_cast<std::size_t>(link)];
    const double step = row[index_of(Algorithm::ring)][index_of(protocol)];
    if (graphs.same_channels) return step;
    return steps * (protocol == Protocol::simple ? row[index_of(Algorithm::tree)][simple] : step);
  }
  if (system.nodes == 1) return steps * inside;
  // Every step of a ring over several nodes waits for the CPU of some node to post.
  double post = system.cpu == CpuVendor::amd ? nccl::kPostAmdUs : nccl::kPostUs;
  if (protocol == Protocol::simple) post *= nccl::kPostTimesSimple;
  const std::uint32_t between_steps =
      kind == OpKind::all_reduce ? 2 * (system.nodes - 1) : system.nodes - 1;
  return (steps - between_steps) * std::max(inside, post) + between_steps * between;
}

double latency(OpKind kind, Algorithm algorithm, Protocol protocol, const System& system,
               const Graphs& graphs) {
  const std::size_t row = index_of(algorithm);
  const std::size_t column = index_of(protocol);
  const Link link = system.between_gpus == PathKind::nvl ? Link::nvlink : Link::pcie;
  const double base = nccl::kBaseLatencyUs[row][column];
  const double inside = nccl::kLinkLatencyUs[static_cast<std::size_t>(link)][row][column];
  // With one rank a node nothing hides the network: then every algorithm has the tree's figure.
  const bool alone = system.ranks == system.nodes;
  double between = nccl::kLinkLatencyUs[static_cast<std::size_t>(Link::network)]
                                       [alone ? index_of(Algorithm::tree) : row][column] +
                   system.net_latency_us;
  if (protocol == Protocol::simple) between += system.net_latency_us;  // the flush
  const double others = system.ranks / system.nodes - 1;
  const double depth = log2_down(system.nodes);
  switch (algorithm) {
    case Algorithm::ring:
      return base + ring_latency(kind, protocol, system, graphs, inside, between);
    case Algorithm::tree:
      return base + 2 * (others * inside + depth * between);
    case Algorithm::collnet_direct:
      return base + 2 * (std::min(1.0, others) * inside + others * nccl::kCollnetArityUs) + between;
    case Algorithm::collnet_chain:
      return base + 2 * others * inside + between;
    case Algorithm::nvls:
      return inside + (system.nodes > 1 ? between : 0);
    case Algorithm::nvls_tree:
      return base + inside + 2 * depth * between;
    case Algorithm::pat:
      return base + depth * between / nccl::kPatOverlap + system.ranks * nccl::kPatStepUs;
    case Algorithm::halving_doubling:
    case Algorithm::direct:
      break;
  }
  return base;
}

// Which entry of the table of corrections a size has, if any.
double correction(Protocol protocol, std::uint64_t bytes, std::size_t count) {
  if (bytes < 64) return 1;
  const std::size_t entry = log2_down(bytes >> 6);
  return entry < count ? nccl::kTreeCorrection[index_of(protocol)][entry] : 1;
}

}  // namespace

std::optional<Cost> cost(OpKind kind, Algorithm algorithm, Protocol protocol, const System& system,
                         const Graphs& graphs) {
  if (!exists(kind, algorithm, protocol)) return std::nullopt;
  const bool nvls = algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
  if (nvls && graphs.nvls.channels < 2) return std::nullopt;
  if (system.ranks == 1) {  // nothing to send (src/enqueue.cc updateCollCostTable)
    if (algorithm != Algorithm::ring || protocol != Protocol::simple) return std::nullopt;
    return Cost{0, std::numeric_limits<double>::infinity()};
  }
  const Cost found = {latency(kind, algorithm, protocol, system, graphs),
                      bandwidth(kind, algorithm, protocol, system, graphs)};
  if (found.bandwidth <= 0) return std::nullopt;
  return found;
}

double time_us(const Cost& cost, OpKind kind, Algorithm algorithm, Protocol protocol, Bytes bytes,
               const System& system, std::uint32_t channels) {
  const std::uint64_t size = bytes.count();
  double latency = cost.latency_us;
  double bandwidth = cost.bandwidth;
  const bool all_reduce = kind == OpKind::all_reduce;
  if (all_reduce && algorithm == Algorithm::tree) {
    bandwidth *= correction(protocol, size, nccl::kTreeCorrectionOfTree);
  }
  if (all_reduce && algorithm == Algorithm::nvls_tree &&
      system.generation >= Generation::blackwell && system.cpu != CpuVendor::arm) {
    bandwidth *= correction(protocol, size, nccl::kTreeCorrectionCount);
  }
  if (all_reduce && algorithm == Algorithm::ring && protocol == Protocol::simple &&
      system.nodes > 1 &&
      size / (std::uint64_t{channels} * system.ranks) >= nccl::kRingPlateauBytes) {
    latency *= system.generation < Generation::ampere ? nccl::kRingPlateauBeforeAmpere
                                                      : nccl::kRingPlateau;
  }
  return latency + static_cast<double>(size) / (1000 * bandwidth);
}

}  // namespace rehearsal::collective

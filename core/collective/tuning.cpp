#include "core/collective/tuning.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "core/collective/chunking.hpp"
#include "core/collective/cost_model.hpp"
#include "core/collective/nccl_2_30.hpp"

namespace rehearsal::collective {
namespace {

namespace nccl = nccl_2_30;
using profile::OpKind;

constexpr std::string_view kAllReduceAlone = "does all_reduce alone";
constexpr std::string_view kNotThis = "does all_reduce, all_gather and reduce_scatter";
constexpr std::string_view kPatKinds = "does all_gather and reduce_scatter";
constexpr std::string_view kNoPlugin =
    "needs a network plugin that reduces in the switches (SHARP), and there is none";
constexpr std::string_view kNoMulticast =
    "needs NVSwitches that add and copy (NVLink SHARP) and two GPUs or more a node";
constexpr std::string_view kNvlsOff = "taken out by NCCL_NVLS_ENABLE";
constexpr std::string_view kNvlsNodes = "does one node alone without a network plugin that reduces";
constexpr std::string_view kNvlsTreeNodes = "does several nodes alone";
constexpr std::string_view kPatOff = "taken out by NCCL_PAT_ENABLE";
constexpr std::string_view kPatRanks = "does one rank a node alone by default";
constexpr std::string_view kNoAlgo = "taken out by NCCL_ALGO";
constexpr std::string_view kNoProto = "taken out by NCCL_PROTO";
constexpr std::string_view kUnsafeInside =
    "not by default: lines of 128 B may arrive in parts on this path between GPUs";
constexpr std::string_view kUnsafeNic =
    "not by default: lines of 128 B may arrive in parts on this path to the NIC";
constexpr std::string_view kNoModel = "the model has no bandwidth for it here";
constexpr std::string_view kOneRank = "one rank has nothing to send";

// The protocols that NCCL has for an algorithm.
std::vector<Protocol> protocols_of(Algorithm algorithm) {
  if (algorithm == Algorithm::tree || algorithm == Algorithm::ring) {
    return {std::begin(kProtocols), std::end(kProtocols)};
  }
  return {Protocol::simple};
}

bool is_whole_array(OpKind kind) {
  return kind == OpKind::all_gather || kind == OpKind::reduce_scatter;
}

// What an algorithm does not do on such machines, whatever the operator says.
std::string_view impossible(OpKind kind, Algorithm algorithm, const System& system,
                            const Graphs& graphs) {
  const bool all_reduce = kind == OpKind::all_reduce;
  switch (algorithm) {
    case Algorithm::tree:
      return all_reduce ? "" : kAllReduceAlone;
    case Algorithm::collnet_direct:
      return all_reduce || is_whole_array(kind) ? kNoPlugin : kNotThis;
    case Algorithm::collnet_chain:
      return all_reduce ? kNoPlugin : kAllReduceAlone;
    case Algorithm::nvls:
      if (!all_reduce && !is_whole_array(kind)) return kNotThis;
      if (graphs.nvls.channels < 2) return kNoMulticast;
      return system.nodes > 1 ? kNvlsNodes : "";
    case Algorithm::nvls_tree:
      if (!all_reduce) return kAllReduceAlone;
      if (graphs.nvls.channels < 2) return kNoMulticast;
      return system.nodes == 1 ? kNvlsTreeNodes : "";
    case Algorithm::pat:
      return is_whole_array(kind) ? "" : kPatKinds;
    default:
      return "";
  }
}

// What the operator, or NCCL's default, takes out (src/graph/tuning.cc, "Protocols/Algorithms
// enable/disable, and user overrides"; ncclPatEnable).
std::string_view taken_out(OpKind kind, Algorithm algorithm, Protocol protocol,
                           const System& system, const Forced& forced) {
  if ((algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree) && !forced.nvls) {
    return kNvlsOff;
  }
  if (algorithm == Algorithm::pat) {
    if (forced.pat == false) return kPatOff;
    if (!forced.pat && system.ranks != system.nodes) return kPatRanks;
  }
  if (!forced.algorithm(kind, algorithm)) return kNoAlgo;
  const Forced::Use use = forced.protocol(kind, protocol);
  if (use == Forced::Use::no) return kNoProto;
  if (use == Forced::Use::if_safe) {
    const PathKind farthest =
        system.generation >= Generation::hopper ? PathKind::pxn : PathKind::pxb;
    if (system.nodes > 1 && system.to_nic > farthest) return kUnsafeNic;
    if (system.between_gpus > PathKind::nvb) return kUnsafeInside;
  }
  return "";
}

// NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS cut and fill up what the graphs give (connect.cc).
std::uint32_t limited(std::uint32_t channels, const Forced& forced) {
  channels = std::min(channels, forced.channels_max.value_or(nccl::kChannelsMax));
  return std::min(std::max(channels, forced.channels_min.value_or(1)), nccl::kChannelsMax);
}

// The same machines for all candidates of one op.
struct Setting {
  OpKind kind;
  Bytes bytes;
  const System& system;
  const Forced& forced;
  Graphs graphs;
  std::uint32_t channels;

  std::uint32_t channels_of(Algorithm algorithm, Protocol protocol) const {
    const bool nvls = algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
    const std::uint32_t most = nvls ? limited(nvls_channels(system), forced) : channels;
    return channels_for_size(kind, algorithm, protocol, bytes, most, system,
                             graphs.ring.channels * graphs.ring.inside);
  }

  Candidate candidate(Algorithm algorithm, Protocol protocol) const {
    Candidate found;
    found.algorithm = algorithm;
    found.protocol = protocol;
    found.why_not = impossible(kind, algorithm, system, graphs);
    const auto model = cost(kind, algorithm, protocol, system, graphs);
    if (model) {
      found.time_us = time_us(*model, kind, algorithm, protocol, bytes, system, channels);
      found.channels = channels_of(algorithm, protocol);
    }
    if (found.why_not.empty()) {
      found.why_not = taken_out(kind, algorithm, protocol, system, forced);
    }
    if (found.why_not.empty() && !model) found.why_not = system.ranks == 1 ? kOneRank : kNoModel;
    found.allowed = found.why_not.empty();
    return found;
  }

  std::vector<Candidate> all() const {
    std::vector<Candidate> found;
    for (const Algorithm algorithm : kAlgorithms) {
      if (static_cast<std::size_t>(algorithm) >= nccl::kAlgorithmCount) break;
      for (const Protocol protocol : protocols_of(algorithm)) {
        found.push_back(candidate(algorithm, protocol));
      }
    }
    return found;
  }
};

Setting setting_of(OpKind kind, Bytes bytes, const System& system, const Forced& forced) {
  const Graphs graphs = system.graphs ? *system.graphs : derive_graphs(system);
  return {kind, bytes, system, forced, graphs, limited(channels(system, graphs), forced)};
}

std::string name_of(const Candidate& candidate) {
  return std::string(to_string(candidate.algorithm)) + "/" +
         std::string(to_string(candidate.protocol));
}

}  // namespace

std::vector<Candidate> candidates(OpKind kind, Bytes bytes, const System& system,
                                  const Forced& forced) {
  if (!function_index(kind)) return {};
  return setting_of(kind, bytes, system, forced).all();
}

Result<Choice> choose(OpKind kind, Bytes bytes, const System& system, const Forced& forced) {
  if (!function_index(kind)) {
    return invalid(std::string(profile::to_string(kind)) +
                   " has no algorithm to choose; its messages go from pair to pair");
  }
  const Setting setting = setting_of(kind, bytes, system, forced);
  const std::vector<Candidate> all = setting.all();
  const Candidate* best = nullptr;
  for (const Candidate& candidate : all) {
    if (!candidate.allowed) continue;
    if (best == nullptr || candidate.time_us < best->time_us) best = &candidate;
  }
  if (best == nullptr) {
    std::string why;
    for (const Candidate& candidate : all) {
      why += (why.empty() ? "" : "; ") + name_of(candidate) + " " + std::string(candidate.why_not);
    }
    return invalid("no algorithm is left for " + std::string(profile::to_string(kind)) + ": " +
                   why);
  }
  const auto nvls =
      cost(OpKind::all_reduce, Algorithm::nvls, Protocol::simple, system, setting.graphs);
  const Chunking cut = chunking(kind, best->algorithm, best->protocol, bytes, best->channels,
                                system, setting.graphs, forced.buffer, nvls ? nvls->bandwidth : 0);
  return Choice{.algorithm = best->algorithm,
                .protocol = best->protocol,
                .channels = best->channels,
                .chunk = cut.chunk,
                .slices_per_chunk = cut.slices_per_chunk,
                .credits = cut.credits};
}

}  // namespace rehearsal::collective

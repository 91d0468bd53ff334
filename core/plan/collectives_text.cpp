#include "core/plan/collectives_text.hpp"

#include <charconv>

#include "core/base/text.hpp"
#include "core/collective/expansion.hpp"
#include "core/plan/checks.hpp"
#include "core/plan/drill_keys.hpp"
#include "core/plan/queue_pair_variables.hpp"

namespace rehearsal::plan {
namespace {

using collective::Algorithm;
using collective::Forced;
using collective::Protocol;
using yaml::Mapping;
using yaml::Node;

constexpr std::uint64_t kNcclChunkMax = 64U << 20;

/// Variables of NCCL that are one of our settings.
constexpr std::string_view kCrossNic = "NCCL_CROSS_NIC";
constexpr std::string_view kPxnLevel = "NCCL_P2P_PXN_LEVEL";
constexpr std::string_view kPxnDisable = "NCCL_PXN_DISABLE";
constexpr std::string_view kNetChunk = "NCCL_P2P_NET_CHUNKSIZE";

Result<std::uint64_t> number(const Node& node, std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value <= most) return value;
  return node.wrong("is " + in_quotes(text), "expected 0 to " + std::to_string(most));
}

/// Everything a drill says of collectives.
struct Reading {
  CollectiveSettings settings;
  ForcedChoices forced;
};

Result<void> read_variable(const std::string& name, const Node& node, Reading& reading) {
  ASSIGN_OR_RETURN(const std::string value, node.text());
  if (name == kCrossNic) {
    ASSIGN_OR_RETURN(const auto level, number(node, value, collective::kCrossNicMax));
    reading.settings.cross_nic = static_cast<std::uint32_t>(level);
    return {};
  }
  if (name == kPxnLevel) {
    ASSIGN_OR_RETURN(const auto level, number(node, value, collective::kPxnLevelMax));
    reading.settings.pxn_level = static_cast<std::uint32_t>(level);
    return {};
  }
  if (name == kPxnDisable) {
    ASSIGN_OR_RETURN(const auto disabled, number(node, value, 1));
    if (disabled == 1) reading.settings.pxn_level = 0;
    return {};
  }
  if (name == kNetChunk) {
    ASSIGN_OR_RETURN(const auto bytes, number(node, value, kNcclChunkMax));
    reading.settings.point_to_point_chunk = Bytes{bytes};
    return {};
  }
  const auto forced = collective::force(reading.forced.nccl, name, value);
  if (!forced) {
    // The message begins with the name, which the place says already.
    std::string what = forced.error().message;
    if (what.starts_with(name + ": ")) what.erase(0, name.size() + 2);
    return node.wrong(what, "");
  }
  return {};
}

Result<void> read_variables(const Node& node, Reading& reading) {
  ASSIGN_OR_RETURN(const auto entries, node.entries());
  for (const auto& [name, value] : entries) {
    if (is_queue_pair_variable(name)) continue;  // take_queue_pair_variables() has them
    reading.forced.needs_node = "nccl";
    RETURN_IF_ERROR(read_variable(name, value, reading));
  }
  return {};
}

/// Takes all other algorithms out for the functions that have this one; the others stay as they
/// are.
void only(Algorithm algorithm, Forced& nccl) {
  using enum profile::OpKind;
  const auto column = static_cast<std::size_t>(algorithm);
  if (column >= Forced::kAlgorithmCount) return;
  if (algorithm == Algorithm::pat) nccl.pat = true;
  const bool blocks = algorithm == Algorithm::nvls || algorithm == Algorithm::pat;
  for (const auto kind : {broadcast, reduce, all_gather, reduce_scatter, all_reduce}) {
    const bool whole = kind == all_reduce;
    const bool block = kind == all_gather || kind == reduce_scatter;
    const bool has =
        algorithm == Algorithm::ring || (whole && algorithm != Algorithm::pat) || (block && blocks);
    if (!has) continue;
    auto& row = nccl.algorithms[*collective::function_index(kind)];
    row.fill(false);
    row[column] = true;
  }
}

void only(Protocol protocol, Forced& nccl) {
  for (auto& row : nccl.protocols) {
    row.fill(Forced::Use::no);
    row[static_cast<std::size_t>(protocol)] = Forced::Use::yes;
  }
}

Result<void> read_forced(const Mapping& mapping, Reading& reading) {
  ForcedChoices& forced = reading.forced;
  for (const std::string_view key : {"algorithm", "protocol", "channels_min", "channels_max"}) {
    if (mapping.has(key)) forced.needs_node = key;
  }
  if (const auto nccl = mapping.optional("nccl")) RETURN_IF_ERROR(read_variables(*nccl, reading));
  RETURN_IF_ERROR(take(mapping, "algorithm", forced.algorithm, [](const Node& node) {
    return node.one_of({Algorithm::tree, Algorithm::ring, Algorithm::collnet_direct,
                        Algorithm::collnet_chain, Algorithm::nvls, Algorithm::nvls_tree,
                        Algorithm::pat, Algorithm::halving_doubling, Algorithm::direct});
  }));
  if (forced.algorithm) only(*forced.algorithm, forced.nccl);
  std::optional<Protocol> protocol;
  RETURN_IF_ERROR(take(mapping, "protocol", protocol, [](const Node& node) {
    return node.one_of({Protocol::ll, Protocol::ll128, Protocol::simple});
  }));
  if (protocol) only(*protocol, forced.nccl);
  const auto count = count_up_to(kChannelsMax);
  if (mapping.has("channels")) {
    forced.nccl.channels_min = forced.nccl.channels_max = reading.settings.channels;
  }
  RETURN_IF_ERROR(take(mapping, "channels_min", forced.nccl.channels_min, count));
  RETURN_IF_ERROR(take(mapping, "channels_max", forced.nccl.channels_max, count));
  const CollectiveSettings& settings = reading.settings;
  if (mapping.has("chunk")) forced.chunk = settings.chunk;
  if (mapping.has("pipeline_chunk")) forced.pipeline_chunk = settings.pipeline_chunk;
  if (mapping.has("slices_per_chunk")) forced.slices_per_chunk = settings.slices_per_chunk;
  if (mapping.has("credits")) forced.credits = settings.credits;
  if (mapping.has("point_to_point_channels"))
    forced.point_to_point_channels = settings.point_to_point_channels;
  return checked(forced, mapping);
}

Result<void> read_settings(const Mapping& mapping, CollectiveSettings& settings) {
  RETURN_IF_ERROR(take(mapping, "channels", settings.channels, count_up_to(kChannelsMax)));
  RETURN_IF_ERROR(take(mapping, "chunk", settings.chunk, &Node::bytes));
  RETURN_IF_ERROR(take(mapping, "slices_per_chunk", settings.slices_per_chunk,
                       count_up_to(kSlicesPerChunkMax)));
  RETURN_IF_ERROR(take(mapping, "pipeline_chunk", settings.pipeline_chunk, &Node::bytes));
  RETURN_IF_ERROR(
      take(mapping, "point_to_point_chunk", settings.point_to_point_chunk, &Node::bytes));
  RETURN_IF_ERROR(take(mapping, "point_to_point_channels", settings.point_to_point_channels,
                       count_up_to(kChannelsMax)));
  RETURN_IF_ERROR(take(mapping, "credits", settings.credits, count_up_to(kCreditsMax)));
  RETURN_IF_ERROR(take(mapping, "channel_bytes_min", settings.channel_bytes_min, &Node::bytes));
  RETURN_IF_ERROR(take(mapping, "cross_nic", settings.cross_nic, [](const Node& level) {
    return level.integer32(0, collective::kCrossNicMax);
  }));
  return take(mapping, "pxn_level", settings.pxn_level,
              [](const Node& level) { return level.integer32(0, collective::kPxnLevelMax); });
}

}  // namespace

Result<std::pair<CollectiveSettings, ForcedChoices>> read_collectives(const Node& node) {
  ASSIGN_OR_RETURN(const Mapping mapping,
                   node.as_mapping({"channels", "chunk", "slices_per_chunk", "pipeline_chunk",
                                    "point_to_point_chunk", "point_to_point_channels", "credits",
                                    "channel_bytes_min", "cross_nic", "pxn_level", "algorithm",
                                    "protocol", "channels_min", "channels_max", "nccl"}));
  Reading reading;
  RETURN_IF_ERROR(read_settings(mapping, reading.settings));
  RETURN_IF_ERROR(read_forced(mapping, reading));
  RETURN_IF_ERROR(checked(reading.settings, mapping));
  return std::pair{reading.settings, reading.forced};
}

}  // namespace rehearsal::plan

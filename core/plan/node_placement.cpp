#include "core/plan/node_placement.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/plan/checks.hpp"

namespace rehearsal::plan {
namespace {

Failure wrong(const std::string& path, std::string_view what, std::string_view right) {
  return invalid(path + ": " + std::string(what) + "; " + std::string(right));
}

std::string count_of(std::uint64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

}  // namespace

Result<fabric::Node> find_node(const DrillJob& job, const Nodes& nodes, const std::string& path) {
  if (const auto given = nodes.find(job.node); given != nodes.end()) {
    const auto whole = fabric::check(given->second);
    if (!whole) return Failure{whole.error().within(path + ".node")};
    return given->second;
  }
  if (auto usual = fabric::usual_node(job.node)) return *usual;
  const auto known = fabric::usual_nodes();
  const std::string_view meant = closest(job.node, known);
  return fail(ErrorCode::not_found, ErrorSource::config,
              path + ".node: " + in_quotes(job.node) + " is not known; " +
                  (meant.empty() ? "" : "did you mean '" + std::string(meant) + "'? ") +
                  "expected one of " + joined(known) + ", or a file beside the drill");
}

Result<NodePlacement> place_on_nodes(const DrillJob& job, const fabric::Node& node,
                                     std::uint32_t ranks, const std::string& path) {
  const auto gpus = static_cast<std::uint32_t>(node.gpus.size());
  const std::uint32_t each = job.ranks_per_node != 0 ? job.ranks_per_node : gpus;
  if (each > gpus) {
    return wrong(path + ".ranks_per_node",
                 count_of(each, "rank") + " on nodes of " + count_of(gpus, "GPU"),
                 "expected 1 to " + std::to_string(gpus));
  }
  if (ranks % each != 0) {
    return wrong(path + ".ranks_per_node",
                 "the " + count_of(ranks, "rank") + " of " + in_quotes(job.profile) +
                     " do not fill nodes of " + std::to_string(each),
                 "expected a number that divides them");
  }
  const std::uint32_t nodes = ranks / each;
  const auto hosts = static_cast<std::uint32_t>(job.hosts.size());
  if (nodes < hosts) {
    return wrong(path + ".hosts", count_of(hosts, "host") + " for " + count_of(nodes, "node"),
                 "at most one host a node: list " + std::to_string(nodes) + " or fewer");
  }
  if (job.nodes_per_host != 0 && std::uint64_t{job.nodes_per_host} * hosts != nodes) {
    return wrong(path + ".nodes_per_host",
                 std::to_string(job.nodes_per_host) + " on each of " + count_of(hosts, "host") +
                     " makes " + count_of(std::uint64_t{job.nodes_per_host} * hosts, "node") +
                     ", but " + count_of(ranks, "rank") + " make " + std::to_string(nodes),
                 nodes % job.nodes_per_host == 0
                     ? "list " + count_of(nodes / job.nodes_per_host, "host") + ", or leave it out"
                     : "leave it out to deal them as evenly as they go");
  }
  NodePlacement placement;
  placement.on_host.assign(hosts, nodes / hosts);
  for (std::uint32_t i = 0; i < nodes % hosts; ++i) ++placement.on_host[i];
  if (std::uint64_t{placement.on_host.front()} * each > kRanksPerHostMax) {
    return fail(ErrorCode::refused, ErrorSource::config,
                path + ".hosts: " + count_of(placement.on_host.front() * each, "rank") +
                    " on one host; at most " + std::to_string(kRanksPerHostMax) +
                    ": list more hosts");
  }
  const std::vector<std::uint32_t> rails = node.rails();
  placement.node = {.name = node.name,
                    .ranks = each,
                    .rails = static_cast<std::uint32_t>(rails.size()),
                    .per_host = placement.on_host.front(),
                    .assumed = node.assumed};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t nic = node.gpus[rank % each].nic;
    const auto rail = std::ranges::find(rails, nic) - rails.begin();
    placement.seats.push_back({rank / each, static_cast<std::uint32_t>(rail)});
  }
  return placement;
}

LocalSettings local_settings(const std::vector<fabric::Node>& nodes, const LocalWishes& wishes) {
  LocalSettings settings;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool first = i == 0;
    settings.rate =
        first ? nodes[i].inside_bandwidth : std::min(settings.rate, nodes[i].inside_bandwidth);
    settings.latency =
        first ? nodes[i].inside_latency : std::max(settings.latency, nodes[i].inside_latency);
  }
  settings.rate = wishes.rate.value_or(settings.rate);
  settings.latency = wishes.latency.value_or(settings.latency);
  return settings;
}

}  // namespace rehearsal::plan

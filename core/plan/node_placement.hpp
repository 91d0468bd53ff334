#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// The description that a job's `node` names: one of `nodes`, or a usual one. `path` of the job is
/// for messages ("jobs[0]").
Result<fabric::Node> find_node(const DrillJob& job, const Nodes& nodes, const std::string& path);

/// How a job's ranks stand on nodes, and nodes on hosts.
struct NodePlacement {
  PlannedNode node;
  std::vector<Seat> seats;             ///< by rank
  std::vector<std::uint32_t> on_host;  ///< nodes on each of the job's hosts, in order
};

/// Deals ranks to nodes in blocks, rank r of a node on its GPU r, and nodes to hosts in blocks.
/// Fails where numbers do not fit, saying which would.
Result<NodePlacement> place_on_nodes(const DrillJob& job, const fabric::Node& node,
                                     std::uint32_t ranks, const std::string& path);

/// How a hand-over inside these nodes lasts; the slowest where several are named.
LocalSettings local_settings(const std::vector<fabric::Node>& nodes, const LocalWishes& wishes);

}  // namespace rehearsal::plan

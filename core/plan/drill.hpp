#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/settings.hpp"

namespace rehearsal::plan {

/// One job of a drill: a profile on hosts.
struct DrillJob {
  std::string name;
  /// As written in the drill: a file beside it, or the name of a shipped profile.
  std::string profile;
  /// Agents by name, in order: ranks are dealt to them in blocks.
  std::vector<std::string> hosts;
  /// Ranks on each host; zero: as even as they go (the first hosts take one more).
  std::uint32_t ranks_per_host = 0;
  /// Data NICs by name, on every host the same; empty: all data NICs of the host. Rank r of a host
  /// uses the NIC with index (r within its host) mod count.
  std::vector<std::string> nics;
  /// The multi-GPU node that ranks stand on: a usual one (h100), or a file beside the drill; empty:
  /// nothing is known of nodes, each host counts as one.
  std::string node = {};
  /// Ranks on each node, one a GPU; zero: one for every GPU of the node. With a node only.
  std::uint32_t ranks_per_node = 0;
  /// Nodes that share a host; zero: as even as they go. With a node only.
  std::uint32_t nodes_per_host = 0;

  bool operator==(const DrillJob&) const = default;
};

/// What the operator asks for. The text form is docs/drill-format.md.
struct Drill {
  std::string name;
  std::vector<DrillJob> jobs;
  TransportSettings transport;
  CollectiveSettings collectives;
  ForcedChoices forced;
  LocalWishes local;
  SyncMode synchronisation = SyncMode::iteration;
  std::uint32_t iterations = 20;
  std::uint64_t seed = 1;
  Limits limits;
  std::vector<Expectation> expectations;

  bool operator==(const Drill&) const = default;
};

}  // namespace rehearsal::plan

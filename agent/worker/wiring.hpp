#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::agent {

/// Position of a rank among the ranks of this agent.
using LocalRankIndex = std::uint32_t;
inline constexpr LocalRankIndex kNoLocalRank = std::numeric_limits<LocalRankIndex>::max();

/// A rank of a job that lives on this agent.
struct LocalRank {
  JobIndex job;
  Rank rank;
};

/// What one connection of this agent is about.
struct Route {
  plan::ConnectionSpec spec;
  bool outgoing = false;                      ///< this agent sends
  bool local = false;                         ///< both ends here
  bool background = false;                    ///< of a fault, of no rank
  LocalRankIndex source = kNoLocalRank;       ///< who sends, if a rank here
  LocalRankIndex destination = kNoLocalRank;  ///< who receives, if a rank here
  HostIndex peer;                             ///< the host at the other end; ourselves if local
};

/// Which rank a connection belongs to, and who is at its other end. A value made once.
struct Wiring {
  std::vector<LocalRank> ranks;
  plan::Connections connections;
  std::vector<Route> routes;  ///< by ConnectionIndex
  std::map<plan::ConnectionKey, ConnectionIndex> outgoing_by_key;
  std::map<plan::ConnectionKey, ConnectionIndex> incoming_by_key;

  /// "rank 0 to rank 3 of job 'dlrm' (communicator 'world', channel 1)", "background traffic of
  /// fault 'incast'".
  std::string describe(const plan::Plan& plan, ConnectionIndex connection) const;
};

Wiring wire(const plan::Plan& plan, HostIndex host);

}  // namespace rehearsal::agent

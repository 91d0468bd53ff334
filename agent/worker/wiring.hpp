#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"

namespace rehearsal::agent {

/// Position of a rank among the ranks of this agent.
using SeatIndex = std::uint32_t;
inline constexpr SeatIndex kNoSeat = std::numeric_limits<SeatIndex>::max();

/// A rank of a job that lives on this agent.
struct Seat {
  JobIndex job;
  Rank rank;
};

/// What one connection of this agent is about.
struct Route {
  plan::ConnectionSpec spec;
  bool local = false;               ///< both ends here
  SeatIndex source = kNoSeat;       ///< who sends, if here
  SeatIndex destination = kNoSeat;  ///< who receives, if here
  HostIndex peer;                   ///< the host at the other end; ourselves if local
};

/// Which rank a connection belongs to, and who is at its other end. A value made once.
struct Wiring {
  std::vector<Seat> seats;
  plan::Connections connections;
  std::vector<Route> routes;  ///< by ConnectionIndex
  std::map<plan::ConnectionKey, ConnectionIndex> outgoing_by_key;
  std::map<plan::ConnectionKey, ConnectionIndex> incoming_by_key;

  /// "rank 0 to rank 3 of job 'dlrm' (communicator 'world', channel 1)".
  std::string describe(const plan::Plan& plan, ConnectionIndex connection) const;
};

Wiring wire(const plan::Plan& plan, HostIndex host);

}  // namespace rehearsal::agent

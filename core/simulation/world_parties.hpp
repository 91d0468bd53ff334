#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core/simulation/world.hpp"

namespace rehearsal::simulation {

/// A connection to the coordinator. Each end closes by itself; what is under way to a closed end is
/// lost.
struct World::Link {
  coordination::SessionId session;
  std::size_t peer = 0;
  bool is_agent = false;
  bool coordinator_end = true;
  bool peer_end = true;
  Instant last_to_coordinator;
  Instant last_to_peer;
};

struct World::Agent {
  std::unique_ptr<coordination::AgentSession> session;  // null: the process is dead
  std::unique_ptr<SimulatedWorker> worker;
  std::unique_ptr<SimulatedHost> host;  // outlives agent and helper
  std::unique_ptr<SimulatedHelper> helper;
  fault::OwnerId owner{};     // the agent's connection to it; 0: none
  std::uint64_t workers = 0;  // counts them: events of one that was released are void
  LinkPtr link;
  bool paused = false;
  std::deque<std::function<void()>> missed;  // while paused
  std::uint64_t life = 0;  // counts starts: what was meant for an earlier one is void
};

struct World::Person {
  LinkPtr link;
  Instant next_heartbeat = kNever;
  std::vector<protocol::Envelope> told;
};

}  // namespace rehearsal::simulation

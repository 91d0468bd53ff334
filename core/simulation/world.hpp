#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/coordination/agent_session.hpp"
#include "core/coordination/coordinator.hpp"
#include "core/replay/memory_transport.hpp"
#include "core/simulation/event_queue.hpp"
#include "core/simulation/nic_network.hpp"
#include "core/simulation/simulated_helper.hpp"
#include "core/simulation/simulated_worker.hpp"

namespace rehearsal::simulation {

/// How the control connections behave. They keep order, as TCP does: what is lost takes the
/// connection with it.
struct ControlNetwork {
  Duration delay_min = std::chrono::microseconds{20};
  Duration delay_max = std::chrono::microseconds{200};
  double duplicate_chance = 0;  ///< that a message comes twice
  double break_chance = 0;      ///< that a message is lost, and its connection with it
};

struct WorldOptions {
  std::uint64_t seed = 1;
  /// An agent for each; the coordinator's clock = the agent's + its offset. Names are host0 …
  std::vector<Duration> clock_offsets;
  std::vector<plan::Inventory> inventories;  ///< one an agent
  bool helpers = false;                      ///< each host has one, which allows all on its NICs
  bool commands = false;  ///< … or, with `helpers`: rehearsal-external, with a command `cut`
  coordination::CoordinatorOptions coordinator;
  coordination::AgentOptions agent;  ///< inventory and seed are filled in
  ControlNetwork control;
  replay::MemoryFabric::Options fabric;
  /// Instead of `fabric`: what goes to one NIC queues there, wherever it comes from.
  std::optional<NicNetwork::Options> nics = {};
};

/// A cluster in virtual time: the production Coordinator, AgentSessions and Replayers, a network
/// for messages and one for data, and operators. One thread; the same options always give the same
/// history. The world's time is the coordinator's clock.
class World {
 public:
  explicit World(WorldOptions options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Instant now() const { return now_; }
  void run_for(Duration duration);
  /// Runs until `done` or until `limit` has passed; says which (true: done).
  bool run_until(const std::function<bool()>& done, Duration limit);

  // Operators.
  std::size_t open_operator();
  void send(std::size_t person, protocol::Envelope message);
  void close_operator(std::size_t person);
  bool operator_connected(std::size_t person) const;
  /// All that an operator was told, heartbeats left out.
  const std::vector<protocol::Envelope>& told(std::size_t person) const;

  // Faults and their end. Each may come at any time, and twice.
  void kill_agent(std::size_t agent);
  void start_agent(std::size_t agent);
  void pause_agent(std::size_t agent);
  void resume_agent(std::size_t agent);
  void cut_agent(std::size_t agent);  ///< breaks its control connection
  /// The host's helper dies, and is started again; its kernel and journal stay.
  void kill_helper(std::size_t agent);
  void start_helper(std::size_t agent);
  void kill_coordinator();
  void start_coordinator();

  // What is so now.
  std::size_t agents() const { return agents_.size(); }
  bool has_coordinator() const { return coordinator_ != nullptr; }
  coordination::CoordinatorView coordinator() const { return coordinator_->view(); }
  coordination::AgentView agent(std::size_t agent) const;
  bool agent_alive(std::size_t agent) const;
  /// Whether the agent has a worker that may still send.
  bool agent_sends(std::size_t agent) const;
  /// The kernel, or the commands, of an agent's host; with `helpers`.
  SimulatedHost& host(std::size_t agent);
  const std::vector<coordination::StoreRun>& stored() const { return stored_; }
  const std::vector<std::string>& log() const { return log_; }

 private:
  struct Link;
  struct Agent;
  struct Person;
  using LinkPtr = std::shared_ptr<Link>;

  Instant next() const;
  void step();
  Duration delay();

  // Links.
  LinkPtr open_link(std::size_t peer, bool is_agent);
  void to_coordinator(const LinkPtr& link, const protocol::Envelope& message);
  void to_peer(const LinkPtr& link, const protocol::Envelope& message);
  void close_from_coordinator(const LinkPtr& link, const std::string& reason);
  void close_from_peer(const LinkPtr& link, const std::string& reason);
  bool lost(const LinkPtr& link);
  bool may_repeat(const Link& link, const protocol::Envelope& message);
  void deliver(const LinkPtr& link, const protocol::Envelope& message);
  void link_down(const LinkPtr& link, const std::string& reason);

  // The parties.
  void coordinator_on(const coordination::Event& event);
  void agent_on(std::size_t agent, const coordination::AgentEvent& event);
  void act(std::size_t agent, coordination::AgentAction action);
  void agent_connects(std::size_t agent, std::uint64_t life);
  std::unique_ptr<replay::Transport> network_of(HostIndex host);
  void take_worker_events(std::size_t agent);
  coordination::Helper helper_kind() const {
    return options_.commands ? coordination::Helper::external : coordination::Helper::kernel;
  }
  void connect_helper(std::size_t agent);
  void ask_helper(std::size_t agent, const coordination::AskHelper& asked);
  void drop_helper(std::size_t agent, const std::string& reason);
  Instant agent_time(std::size_t agent) const;
  Instant world_time(std::size_t agent, Instant instant) const;
  Instant agent_due(std::size_t agent) const;

  WorldOptions options_;
  Random random_;
  Instant now_{std::chrono::seconds{100'000}};
  EventQueue queue_;
  replay::MemoryFabric fabric_;
  std::unique_ptr<NicNetwork> nics_;  // in its place, if the options say so
  std::unique_ptr<coordination::Coordinator> coordinator_;
  std::uint64_t epoch_ = 0;
  std::uint64_t sessions_ = 0;
  std::map<coordination::SessionId, LinkPtr> links_;  // as the coordinator sees them
  std::vector<std::unique_ptr<Agent>> agents_;
  std::uint64_t owners_ = 0;  // connections to helpers
  std::vector<std::unique_ptr<Person>> people_;
  std::vector<coordination::StoreRun> stored_;
  std::vector<std::string> log_;
};

}  // namespace rehearsal::simulation

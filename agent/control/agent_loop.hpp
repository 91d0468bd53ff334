#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/control/control_link.hpp"
#include "agent/control/worker_port.hpp"
#include "agent/host/nic_counters.hpp"
#include "agent/host/wire_sampler.hpp"
#include "core/coordination/agent_session.hpp"

namespace rehearsal::agent {

/// The agent's state machine as its loop sees it; what decides is behind it.
struct SessionPort {
  std::function<std::vector<coordination::AgentAction>(const coordination::AgentEvent&, Instant)>
      on;
  std::function<Instant()> next_deadline;
};

struct AgentLoopOptions {
  ControlLinkOptions link;
  SessionPort session;
  StartWorkerPort start_worker;
  /// What is tried when the coordinator asks whether data addresses reach one another.
  plan::Inventory inventory = {};
  /// Of the host's helper; empty: none is looked for.
  std::filesystem::path helper = {};
  /// Of its rehearsal-external; empty: none is looked for.
  std::filesystem::path external = {};
  /// One reading of the NIC counters; empty: they count others' traffic too and are left out.
  std::function<NicCounts()> read_counters = nullptr;
  /// Watches the counters of bytes on the wire while a plan runs; empty: as above.
  std::function<std::unique_ptr<WireSampler>(const plan::Plan&)> watch_wire = nullptr;
};

struct AgentLoopCounters {
  std::uint64_t links_lost = 0;  ///< attempts that failed and links that broke
  std::uint64_t runs = 0;        ///< workers started
  WorkerCounters worker;         ///< over all runs; turn_nanoseconds_max: the longest of all
};

/// The hands of an agent: carries what AgentSession wants to the control link and to the run's
/// worker, and what happens there back to it. It decides nothing itself. One thread (the
/// io_context's); the worker's thread only wakes it.
class AgentLoop {
 public:
  static Result<std::unique_ptr<AgentLoop>> create(asio::io_context& context,
                                                   AgentLoopOptions options);
  ~AgentLoop();

  /// Makes the first attempt to reach the coordinator.
  void start();
  /// Lets go of the coordinator and of the worker, at once; nothing follows.
  void stop(const std::string& reason);

  AgentLoopCounters counters() const;

 private:
  class Impl;
  explicit AgentLoop(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rehearsal::agent

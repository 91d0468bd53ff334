#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/coordination/agent_session.hpp"
#include "core/coordination/phase_barrier.hpp"
#include "core/measure/agent_measurements.hpp"
#include "core/measure/agent_reducer.hpp"
#include "core/measure/arrival_curve.hpp"
#include "core/plan/plan.hpp"
#include "core/replay/background_traffic.hpp"
#include "core/replay/faulted_transport.hpp"
#include "core/replay/kernel_schedule.hpp"
#include "core/replay/memory_transport.hpp"
#include "core/replay/replayer.hpp"

namespace rehearsal::simulation {

/// The worker of one agent in virtual time: the production Replayers of its ranks over a network
/// that exists only in memory. The world calls turn() when next_turn() has come. Instants are the
/// world's; the ranks live on the agent's clock, which shows world time − `clock_offset`.
class SimulatedWorker {
 public:
  struct Options {
    std::shared_ptr<const plan::Plan> plan;
    HostIndex host;
    Duration clock_offset{0};
  };
  /// `network` leads to the other agents.
  SimulatedWorker(const Options& options, std::unique_ptr<replay::Transport> network, Instant now);

  void connect(const std::vector<coordination::KeyedAddress>& addresses);
  /// `instant` is of the agent's clock.
  void start(coordination::Step step, Instant instant);
  /// Drops what is under way; WorkerStopped follows.
  void stop();
  /// Hands over measurements; WorkerStopped follows.
  void finish();

  void turn(Instant now);
  Instant next_turn() const;
  /// A fault of the plan crashes this agent now.
  bool crashes() const;
  std::vector<coordination::AgentEvent> take_events() { return std::exchange(events_, {}); }

 private:
  Instant agent_time(Instant world) const { return world - options_.clock_offset; }
  Instant world_time(Instant agent) const;
  bool over() const { return stopped_ || failed_; }
  void open();
  void fail(const std::string& reason, std::vector<HostIndex> waiting_for);
  void start_if_due(Instant now);
  bool run_ranks(Instant now);
  bool run_background(Instant now);
  void tell_faults(const replay::Replayer& replayer);
  bool poll(replay::Transport& transport, Instant now);
  bool post(replay::Replayer& replayer, Instant now);
  void count(const replay::Completion& completion, Instant now);
  void take_records();
  void look_around(Instant now);
  void tell_progress(Instant now);
  std::vector<HostIndex> waiting_for() const;
  std::uint32_t iterations_done() const;
  std::string measurements();

  struct NicBins {
    measure::ByteBins sent;
    measure::ByteBins received;
    Bytes bytes_sent = {};
    Bytes bytes_received = {};
    Bytes background_sent = {};
    Bytes background_received = {};
  };

  Options options_;
  plan::Connections connections_;
  std::map<plan::ConnectionKey, plan::ConnectionSpec> outgoing_;
  std::uint32_t first_local_ = 0;  // a rank's connections from this index on are local
  std::vector<NicIndex> nic_of_;   // by connection; nothing of those that are local
  std::unique_ptr<replay::MemoryFabric> local_fabric_;
  std::unique_ptr<replay::MemoryTransport> local_;
  std::unique_ptr<replay::Transport> remote_;
  replay::FaultedTransport* faulted_ = nullptr;          // remote_, if the plan has faults for it
  std::optional<replay::BackgroundTraffic> background_;  // if the plan's faults make some here
  fault::Schedule crashes_;                              // on the agent's clock
  replay::KernelSchedule kernel_;                        // on the agent's clock
  std::vector<replay::Replayer> replayers_;
  std::unique_ptr<measure::AgentReducer> reducer_;
  std::vector<NicBins> bins_;  // by NIC
  std::vector<coordination::AgentEvent> events_;

  bool connecting_ = false;
  bool connected_ = false;
  std::optional<coordination::Step> appointed_;
  Instant appointment_ = kNever;  // agent's clock
  std::optional<coordination::Step> running_;
  bool begun_ = false;
  Instant next_progress_ = kNever;
  std::uint32_t iterations_told_ = 0;
  bool failed_ = false;
  bool stopped_ = false;
  Instant now_;  // of the last turn, the world's
};

}  // namespace rehearsal::simulation

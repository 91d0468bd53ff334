#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/worker/run_measurement.hpp"
#include "agent/worker/wiring.hpp"
#include "core/base/result.hpp"
#include "core/coordination/agent_session.hpp"
#include "core/fault/schedule.hpp"
#include "core/plan/plan.hpp"
#include "core/replay/background_traffic.hpp"
#include "core/replay/device_rates.hpp"
#include "core/replay/faulted_transport.hpp"
#include "core/replay/kernel_schedule.hpp"
#include "core/replay/memory_transport.hpp"
#include "core/replay/replayer.hpp"

namespace rehearsal::agent {

/// All ranks of this agent over its transports, one turn at a time: take completions, feed the
/// replayers, post what they want. It owns no thread and reads no clock of its own, so the worker's
/// loop stays small and a test can turn it by hand. turn() neither allocates nor locks,
/// but for what devices are told at the edges of faults; the rest is set-up or comes after the end.
class DutyCycle {
 public:
  static Result<std::unique_ptr<DutyCycle>> create(std::shared_ptr<const plan::Plan> plan,
                                                   HostIndex host, const std::string& token);
  ~DutyCycle();

  /// Prepares to be connected to; the addresses are for the agents at the other ends.
  Result<std::vector<coordination::KeyedAddress>> open();
  /// Connects what these addresses of other ends are of; those of other agents' connections are
  /// passed over.
  Result<void> connect(const std::vector<coordination::KeyedAddress>& addresses);
  bool connected() const noexcept;

  /// From the turn at `instant` on the step runs.
  void start_step(std::uint32_t iteration, std::uint32_t phase, Instant instant) noexcept;

  /// One turn. True if anything moved, so that another may follow at once.
  bool turn(Instant now) noexcept;
  /// When a turn has something to do without an event; the appointment is not counted.
  Instant next_deadline() const noexcept;
  /// What becomes readable when a turn has something to do; −1: nothing.
  int file_descriptor() const noexcept;

  /// A step was started and is done on all ranks; told once.
  std::optional<coordination::WorkerStepDone> take_step_done() noexcept;
  /// A step is started and not done.
  bool running() const noexcept { return running_; }
  /// A step is to start then.
  std::optional<Instant> appointment() const noexcept { return appointment_; }
  /// All iterations are done on all ranks: peers may go.
  bool finished() const noexcept;
  /// No rank computes: without news from a peer nothing will move.
  bool only_waits(Instant now) const noexcept;

  /// A fault of the host's kernel that is to begin, to change or to end; each told once.
  std::optional<coordination::WorkerFault> take_fault() noexcept;
  /// The fault of the plan by which this agent is to crash now; empty: none.
  std::string_view crash() const noexcept;

  /// A connection failed or a peer broke the protocol: nothing will move any more.
  bool failed() const noexcept;
  /// What went wrong, for people; empty: nothing.
  std::string failure() const;
  /// Hosts that this agent waits for, or the one that failed. Allocates; not for the data path.
  std::vector<HostIndex> waiting_for() const;

  /// Nothing leaves any more: what is queued is dropped.
  void abort_all() noexcept;
  /// `place`: where the worker's thread was bound to; empty: nowhere.
  std::string encode_measurements(Duration turn_max, const std::string& place);

  std::uint64_t ops_done() const noexcept;
  /// Rises with each op done and each message sent or received.
  std::uint64_t moved() const noexcept;
  std::uint32_t iterations_done() const noexcept;
  replay::ReplayCounters counters() const noexcept;
  /// What passed beside the jobs, over all faults of the plan that make traffic; `fault` says
  /// nothing.
  replay::BackgroundCount background() const noexcept;
  std::uint64_t system_calls() const noexcept;

 private:
  static constexpr std::size_t kBatch = 128;
  /// What a turn has for one rank; a batch of each of the two transports.
  struct Inbox {
    std::array<replay::Completion, 2 * kBatch> completions;
    std::size_t count = 0;
  };

  DutyCycle(std::shared_ptr<const plan::Plan> plan, HostIndex host);
  Result<void> connect(ConnectionIndex connection, const replay::Address& address);
  bool start_if_due(Instant now) noexcept;
  bool take_completions(replay::Transport& transport, Instant now) noexcept;
  void stage(LocalRankIndex rank, const replay::Completion& completion) noexcept;
  bool run(LocalRankIndex rank, Instant now) noexcept;
  bool run_background(Instant now) noexcept;
  bool post(replay::Replayer& replayer, Instant now) noexcept;
  void tell_faults(const replay::Replayer& replayer) noexcept;
  void turn_devices(Instant now) noexcept;
  void end_devices() noexcept;
  void collect_iterations() noexcept;

  std::shared_ptr<const plan::Plan> plan_;
  HostIndex host_;
  Wiring wiring_;
  RunMeasurement measurement_;
  replay::MemoryFabric fabric_;
  replay::MemoryTransport local_;
  std::unique_ptr<replay::Transport> transport_;  // null: loopback
  replay::FaultedTransport* faulted_ = nullptr;   // transport_, if the plan has faults for it
  std::optional<replay::BackgroundTraffic> background_;  // if the plan's faults make some here
  Inbox background_inbox_;
  fault::Schedule crashes_;
  replay::KernelSchedule kernel_;
  replay::DeviceRates devices_;
  Instant now_;                              // of the last turn
  std::vector<replay::Replayer> replayers_;  // by LocalRankIndex
  std::vector<Inbox> inboxes_;               // by LocalRankIndex
  std::vector<std::uint32_t> collected_;  // iterations whose records were taken, by LocalRankIndex
  std::array<replay::Completion, kBatch> batch_;

  std::optional<Instant> appointment_;
  std::uint32_t iteration_ = 0;
  std::uint32_t phase_ = 0;
  bool started_ = false;  // any step so far
  bool running_ = false;
  bool step_done_ = false;  // not told yet
};

}  // namespace rehearsal::agent

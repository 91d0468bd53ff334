#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/coordination/agent_session.hpp"
#include "core/coordination/clock_estimator.hpp"
#include "core/coordination/phase_barrier.hpp"
#include "core/protocol/parts.hpp"

namespace rehearsal::coordination {

/// One run on an agent, from being reserved until its worker is forgotten. Commands may come twice:
/// a repeat gets the answer that the first one got. Without a coordinator it ends by itself.
class AgentRun {
 public:
  /// `options` and `out` outlive the run.
  AgentRun(const AgentOptions& options, std::vector<AgentAction>& out, std::string id);

  const std::string& id() const { return id_; }
  /// The worker is forgotten, nothing is left to do.
  bool over() const { return over_; }
  /// On its way to its end, whatever the coordinator says.
  bool leaving() const { return orphaned_ || release_wanted_; }

  // Commands of the coordinator, for this run.
  void on(const protocol::Prepare& message, Instant now);
  void on(const protocol::Connect& message, Instant now);
  void on(const protocol::StartAt& message, Instant now);
  void on(const protocol::Finish& message, Instant now);
  void on(const protocol::Stop& message, Instant now);
  void on(const protocol::Release& message, Instant now);

  // The worker.
  void on(const WorkerOpened& event, Instant now);
  void on(const WorkerConnected& event, Instant now);
  void on(const WorkerStepDone& event, Instant now);
  void on(const WorkerProgress& event, Instant now);
  void on(const WorkerFailed& event, Instant now);
  void on(const WorkerStopped& event, Instant now);

  /// The estimate of the clock, whenever it changed.
  void on_clock(const std::optional<ClockOffset>& clock);
  /// The coordinator is gone; it was heard last at `heard`.
  void orphan(Instant heard, Instant now);
  /// There is a coordinator again, which knows nothing of this run.
  void abandon(Instant now);
  void tick(Instant now);
  Instant deadline() const;

 private:
  enum class Worker : std::uint8_t { none, opening, opened, connected, stopping, stopped };

  Result<void> take_plan(const protocol::Prepare& message, const std::string& bytes);
  void send(protocol::Envelope message);
  void send_failed(const std::string& reason, const std::vector<HostIndex>& waiting_for);
  void send_prepared();
  void send_connected();
  void send_step_done();
  void send_results();
  void send_stopped();
  void stop_worker(const std::string& reason, Instant now);
  void release();

  const AgentOptions& options_;
  std::vector<AgentAction>& out_;
  std::string id_;

  protocol::PartAssembler incoming_plan_;
  std::shared_ptr<const plan::Plan> plan_;
  std::vector<KeyedAddress> opened_;                    // our ends, as told in prepared
  std::map<plan::ConnectionKey, std::string> connect_;  // the other ends
  std::optional<ClockOffset> clock_;

  Worker worker_ = Worker::none;
  bool failed_ = false;
  bool connect_given_ = false;
  bool connected_told_ = false;
  std::optional<Step> step_;  // started last
  bool step_done_ = true;
  Instant step_start_ = kNever;
  std::uint32_t iterations_done_ = 0;
  std::optional<std::string> results_;
  bool results_told_ = false;

  bool finish_wanted_ = false;
  bool stop_wanted_ = false;
  bool release_wanted_ = false;
  bool orphaned_ = false;
  Instant orphan_deadline_ = kNever;
  Instant stop_deadline_ = kNever;
  bool over_ = false;
};

}  // namespace rehearsal::coordination

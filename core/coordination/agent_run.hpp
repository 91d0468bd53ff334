#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/coordination/agent_session.hpp"
#include "core/coordination/clock_estimator.hpp"
#include "core/coordination/phase_barrier.hpp"
#include "core/fault/kernel_runner.hpp"
#include "core/protocol/parts.hpp"

namespace rehearsal::coordination {

/// One run on an agent, from being reserved until its worker is forgotten. Commands may come twice:
/// a repeat gets the answer that the first one got. Without a coordinator it ends by itself.
class AgentRun {
 public:
  /// `options`, `out` and `tickets` outlive the run.
  /// `tickets` counts what is asked of the helper.
  AgentRun(const AgentOptions& options, std::vector<AgentAction>& out, std::uint64_t& tickets,
           std::string id);

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
  void on(const WorkerFault& event, Instant now);

  // The helpers, which do the plan's faults of this host that outlive the agent.
  /// False: it was somebody else's ticket.
  bool answered(const HelperAnswered& event, Instant now);
  void helper_gone(Helper helper, const std::string& reason, Instant now);
  /// An operator has them undone.
  void faults_cleared(Instant now);
  bool has_faults() const;
  std::uint32_t faults_applied() const;
  /// Run and name of the fault that a helper knows by this number.
  std::optional<std::pair<std::string, std::string>> name_of(Helper helper, std::uint64_t id) const;
  /// A fault may still be on that should not be; told once. Empty: no.
  std::string take_suspicion(Helper helper);

  /// The coordinator has spoken.
  void heard(Instant now) {
    if (orphaned_) return;
    for (Faults& faults : faults_) {
      if (faults.runner) faults.runner->heard(now);
    }
  }
  /// After each event: what the faults want is asked for, and what waited for them goes on.
  void carry_on(Instant now);
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

  Result<void> take_plan(const protocol::Prepare& message, const std::string& bytes, Instant now);
  void send(protocol::Envelope message);
  void send_failed(const std::string& reason, const std::vector<HostIndex>& waiting_for);
  void send_prepared();
  void send_connected();
  void send_step_done();
  void send_results();
  void send_stopped();
  void stop_worker(const std::string& reason, Instant now);
  void release(Instant now);
  void end_faults(Instant now);
  /// The faults that one helper does, if the plan has any.
  struct Faults {
    Helper helper = Helper::kernel;
    std::optional<fault::KernelRunner> runner = {};
    std::size_t spells_logged = 0;
    std::vector<std::size_t> spells_on = {};  // logged, and not over yet
    std::size_t troubles_told = 0;
    std::string suspicion = {};
    Duration undo_limit{};      // for undoing all
    Instant deadline = kNever;  // by then they are off, or the helper is let go of
    bool helper_dropped = false;
  };
  Result<void> take_faults(const plan::Plan& plan, HostIndex host, Instant now);
  void end_faults(Faults& faults, Instant now);
  void carry_on(Faults& faults);
  void tick_faults(Faults& faults, Instant now);
  bool faults_are_off() const;
  void log_faults(Faults& faults);
  void tell_troubles(Faults& faults);
  void hand_over(Instant now);
  void add_faults_to_results();

  const AgentOptions& options_;
  std::vector<AgentAction>& out_;
  std::uint64_t& tickets_;
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

  std::array<Faults, kHelpers.size()> faults_ = {
      {{.helper = Helper::kernel}, {.helper = Helper::external}}};

  bool finish_wanted_ = false;
  bool stop_wanted_ = false;
  bool stopped_told_ = false;
  bool release_wanted_ = false;
  bool orphaned_ = false;
  Instant orphan_deadline_ = kNever;
  Instant stop_deadline_ = kNever;
  bool over_ = false;
};

}  // namespace rehearsal::coordination

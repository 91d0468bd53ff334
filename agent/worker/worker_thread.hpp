#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "agent/spsc_queue.hpp"
#include "agent/worker.hpp"
#include "agent/worker/duty_cycle.hpp"
#include "agent/worker/progress_watch.hpp"
#include "agent/worker/published_counters.hpp"
#include "agent/worker/waiter.hpp"

namespace rehearsal::agent {

struct ConnectCommand {
  std::vector<coordination::KeyedAddress> addresses;
};
struct StartCommand {
  std::uint32_t iteration = 0;
  std::uint32_t phase = 0;
  Instant instant;
};
struct StopCommand {};
struct FinishCommand {};
using WorkerCommand = std::variant<ConnectCommand, StartCommand, StopCommand, FinishCommand>;

/// What runs on the worker's thread: commands in, turns of the duty cycle, events out, sleep when
/// there is nothing to do.
class WorkerThread {
 public:
  WorkerThread(WorkerOptions options, Waiter waiter);

  /// The thread's body; returns after quit().
  void run();

  // Any other thread.
  void quit() noexcept;
  /// Control thread only.
  void command(WorkerCommand command) noexcept;
  std::vector<WorkerEvent> take_events();
  WorkerCounters counters() const noexcept { return published_.read(); }

 private:
  enum class Stage : std::uint8_t { connecting, replaying, failed, stopped };

  void open();
  bool take_commands();
  void obey(ConnectCommand& command);
  void obey(StartCommand& command);
  void obey(StopCommand& command);
  void obey(FinishCommand& command);
  bool turn(Instant now);
  void give_way() noexcept;
  Instant spin_until(Instant instant) const noexcept;
  void after_turn(Instant now);
  void report_progress(Instant now);
  void tell_faults();
  [[noreturn]] void crash(std::string_view fault);
  void fail(std::string reason, std::vector<HostIndex> waiting_for);
  void end();
  void emit(WorkerEvent event);
  void publish() noexcept;
  Instant wait_until(Instant now) const noexcept;

  WorkerOptions options_;
  Waiter waiter_;
  SpscQueue<WorkerCommand> inbox_;
  SpscQueue<WorkerEvent> outbox_;
  std::atomic<bool> quit_{false};
  PublishedCounters published_;

  std::unique_ptr<DutyCycle> cycle_;
  ProgressWatch watch_;
  Stage stage_ = Stage::connecting;
  bool started_ = false;
  Instant give_way_until_ = kNever;  // a start was just now
  Instant next_progress_ = Instant::min();
  std::string place_;  // of this thread, for the report
  std::uint64_t turns_ = 0;
  std::uint64_t waits_ = 0;
  Duration turn_max_{0};
};

}  // namespace rehearsal::agent

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/replay/background_traffic.hpp"
#include "core/replay/faulted_transport.hpp"
#include "core/replay/memory_transport.hpp"
#include "core/replay/replayer.hpp"

namespace rehearsal::test {

/// Which time a cluster lives in.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() = 0;
  /// Nothing could be done: waits for one of `wakeups`. False: it never comes (or not in good
  /// time).
  virtual bool wait(std::span<const replay::Wakeup> wakeups) = 0;
};

/// Time that jumps to the next deadline.
class VirtualClock final : public Clock {
 public:
  Instant now() override { return now_; }
  bool wait(std::span<const replay::Wakeup> wakeups) override;

 private:
  Instant now_{std::chrono::seconds{1}};
};

/// CLOCK_MONOTONIC; waits on file descriptors, for at most ten seconds.
class MonotonicClock final : public Clock {
 public:
  Instant now() override { return std::chrono::steady_clock::now(); }
  bool wait(std::span<const replay::Wakeup> wakeups) override;
};

/// All agents of a plan in one process and one thread: transports, replayers, and the turn of an
/// agent's worker. What a coordinator would do (start all, go on when all are idle) is done here.
class Cluster {
 public:
  using MakeTransport = std::function<std::unique_ptr<replay::Transport>(HostIndex)>;

  Cluster(const plan::Plan& plan, Clock& clock, const MakeTransport& make_transport);
  ~Cluster();

  /// Opens and connects everything. Empty, or what went wrong.
  std::string connect();
  /// All iterations. Empty, or what went wrong: who stands still, who failed.
  std::string run();
  /// Goes on until nothing moves any more: what comes after the last op is done.
  void settle();

  /// By rank of the (first) job.
  const std::vector<replay::Replayer*>& replayers() const { return by_rank_; }
  /// Records of all iterations, of all ranks.
  const std::vector<measure::OpRecord>& ops() const { return ops_; }
  const std::vector<measure::IterationRecord>& iterations() const { return iterations_; }
  std::size_t completions_seen() const { return completions_seen_; }
  /// Transport that serves the agent.
  replay::Transport& transport(HostIndex host);
  /// The same where the plan has faults of its messages; otherwise null.
  replay::FaultedTransport* faulted(HostIndex host);
  /// What faults make the agent send beside the job, if they do; otherwise null.
  replay::BackgroundTraffic* background(HostIndex host);

 private:
  struct Agent;

  static std::vector<plan::ConnectionSpec> sent_by(const Agent& agent);
  static std::vector<plan::ConnectionSpec> received_by(const Agent& agent);
  bool turn();
  bool turn(Agent& agent, Instant now);
  std::string until(const std::function<bool()>& done);
  bool all_idle() const;
  void start(std::uint32_t iteration, std::uint32_t phase);
  void take_records();
  std::string trouble() const;

  const plan::Plan& plan_;
  Clock& clock_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<replay::Replayer*> by_rank_;
  std::vector<measure::OpRecord> ops_;
  std::vector<measure::IterationRecord> iterations_;
  std::size_t completions_seen_ = 0;
};

}  // namespace rehearsal::test

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/fault/schedule.hpp"
#include "core/plan/plan.hpp"
#include "core/replay/request_queue.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::replay {

/// What a fault made one host send and receive beside the jobs; whole messages.
struct BackgroundCount {
  std::uint32_t fault = 0;  ///< index in the plan
  Bytes sent;
  Bytes received;
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
};

/// The background traffic of one host: sends messages over the flows that begin here while their
/// fault is on, and takes what arrives of the others. A state machine like Replayer, beside it and
/// over the same transport, but with connections of its own, so that nothing of a job waits for it
/// but where they share a NIC or a link. Everything is allocated by the constructor.
///
/// A flow with a rate sends its first message when a level begins and the next ones at equal
/// distances; when credits or the network held it up it makes good for as many messages as it has
/// credits, so that late turns do not lower its rate and a jam is not followed by a flood. A flow
/// without one keeps all its credits under way. When its fault is over nothing more is posted; what
/// is under way arrives.
class BackgroundTraffic {
 public:
  /// Whether any flow of the plan begins or ends at `host`.
  static bool needed(const plan::Connections& connections);

  BackgroundTraffic(const plan::Plan& plan, const plan::Connections& connections);

  /// Of the faults whose flows begin here. Where the run is: edges are told here before advance().
  fault::Schedule& schedule() noexcept { return schedule_; }

  bool is_mine(ConnectionIndex connection) const noexcept;
  /// True once all of its connections have been reported `connected`.
  bool connected() const noexcept { return connected_ == flows_.size(); }

  /// Completions of other connections are passed over.
  void on(std::span<const Completion> completions) noexcept;
  void advance(Instant now) noexcept;
  /// Requests to post, oldest first; after posting call accepted(count).
  std::span<const Request> requests() const noexcept { return requests_.all(); }
  void accepted(std::size_t count) noexcept { requests_.pop(count); }
  /// When advance() has something to do without a completion, or kNever.
  Instant next_deadline() const noexcept;

  /// The run is over: nothing is sent any more.
  void end(Instant now) noexcept;

  std::span<const BackgroundCount> counts() const noexcept { return counts_; }
  /// The connection that failed first, and why (static lifetime).
  struct Failure {
    ConnectionIndex connection;
    std::string_view reason;
  };
  const std::optional<Failure>& failure() const noexcept { return failure_; }

 private:
  /// One end of a flow.
  struct Flow {
    ConnectionIndex connection;
    bool outgoing = false;
    bool connected = false;
    std::uint32_t count = 0;  // in counts_
    std::uint64_t next_sequence = 0;
    // Outgoing.
    std::uint32_t entry = 0;  // of the schedule
    std::uint32_t credits = 0;
    std::uint32_t credits_max = 0;
    std::uint64_t bytes = 0;  // of a message
    std::uint32_t intervals_begin = 0;
    std::uint32_t level = fault::Schedule::kOff;
    Instant next = kNever;  // when the next message may go
  };

  std::uint32_t count_of(std::uint32_t fault);
  void take(Flow& flow, const Completion& completion) noexcept;
  void advance(Flow& flow, Instant now) noexcept;

  std::vector<Flow> flows_;  // by connection, from first_ on
  std::uint32_t first_ = 0;
  std::vector<Duration> intervals_;  // of each outgoing flow, by level; zero: none
  fault::Schedule schedule_;
  std::vector<BackgroundCount> counts_;
  RequestQueue requests_;
  std::size_t connected_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace rehearsal::replay

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/time.hpp"
#include "core/fault/schedule.hpp"
#include "core/measure/flow_times.hpp"
#include "core/measure/records.hpp"
#include "core/plan/plan.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::replay {

/// What one rank moved so far.
struct ReplayCounters {
  Bytes sent;                           ///< over the transport, once it left our hands
  Bytes received;                       ///< over the transport, once it arrived
  Bytes local;                          ///< sent to ranks of the same agent
  std::uint64_t messages_sent = 0;      ///< over the transport
  std::uint64_t messages_received = 0;  ///< over the transport
};

/// Why a replay cannot go on.
struct ReplayFailure {
  std::string_view reason;  ///< static lifetime
  ConnectionIndex connection;
  Rank peer;  ///< at the other end
};

/// One rank's ops over connections: dependencies, streams, channels, credits. A state machine:
/// never touches a socket, a clock or a thread. Everything is allocated by the constructor.
///
/// Feed it completions (those of other ranks are passed over) and time; take the requests, post
/// them, and say how many were accepted. A turn is on(), advance(), post the requests, accepted().
///
/// Collectives of one communicator run one after the other in program order whatever their stream,
/// and so do sends (and receives) with one peer in one communicator; everything else only follows
/// streams and `after`. The op that a compute op waits for ends at an exact instant if it is
/// compute itself, so chains of compute do not drift when advance() is late; communication starts
/// at the `now` of the advance() that sees it ready. Faults of the plan that act on the rank's
/// compute act here: a straggler's compute takes longer, a rank that pauses does nothing meanwhile.
class Replayer {
 public:
  /// `connections` are those of the agent; the replayer keeps the ones of its rank.
  Replayer(const plan::Plan& plan, JobIndex job, Rank rank, const plan::Connections& connections);
  ~Replayer();
  Replayer(Replayer&&) noexcept;
  Replayer& operator=(Replayer&&) noexcept;

  JobIndex job() const noexcept;
  Rank rank() const noexcept;
  std::uint32_t phase_count() const noexcept;

  /// True once all connections of this rank have been reported `connected`.
  bool connected() const noexcept;

  /// Starts `iteration`, or in mode `phase` its phase `phase`, whose ops may then run.
  /// free: starts the first iteration; the others follow by themselves.
  void start(std::uint32_t iteration, std::uint32_t phase, Instant appointment,
             Instant now) noexcept;

  /// Takes completions in.
  void on(std::span<const Completion> completions, Instant now) noexcept;
  /// Moves everything that can move at `now`: compute that has passed, ops that became ready.
  void advance(Instant now) noexcept;

  /// Requests to post, oldest first; after posting call accepted(count).
  std::span<const Request> requests() const noexcept;
  void accepted(std::size_t count) noexcept;

  /// When advance() has something to do without a completion (a compute op ends), or kNever.
  Instant next_deadline() const noexcept;

  /// Computes, or stands still because of a fault: will move again without news from a peer.
  bool computes(Instant now) const noexcept;

  /// Where the rank is: the iteration that began last, and the latest of its phases that an op of
  /// has begun.
  struct Position {
    std::uint32_t iteration = 0;
    std::uint32_t phase = 0;
    bool operator==(const Position&) const = default;
  };
  Position position() const noexcept;

  /// When faults of this rank's compute were on.
  std::span<const fault::Spell> fault_spells() const noexcept;
  /// Ends faults of this rank's compute.
  void end_faults(Instant now) noexcept;

  /// True when the phase (mode `phase`) or iteration that was started is done on this rank; in mode
  /// `free` when all iterations are done.
  bool idle() const noexcept;
  /// Iterations done so far.
  std::uint32_t iterations_done() const noexcept;
  /// Communication ops done so far, over all iterations.
  std::uint64_t ops_done() const noexcept;

  const ReplayCounters& counters() const noexcept;
  /// The first thing that went wrong: a connection failed, or a message came that was not expected.
  /// From then on nothing moves.
  const std::optional<ReplayFailure>& failure() const noexcept;

  /// Records since the last clear; room for two iterations, so clear once an iteration. In mode
  /// `free` the next iteration does not begin before there is room for it.
  std::span<const measure::OpRecord> op_records() const noexcept;
  std::span<const measure::IterationRecord> iteration_records() const noexcept;
  void clear_records() noexcept;

  /// Adds where this rank's time went to the measurements of its agent. Not for the data path.
  void append_flow_times(measure::FlowMeasurements& measurements) const;

  /// Whom this rank waits for now: the peer ranks of the steps that cannot move, for error reports.
  /// Not for the data path.
  std::vector<Rank> waiting_for() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::replay

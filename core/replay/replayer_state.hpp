#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/replay/compute_faults.hpp"
#include "core/replay/flow_meter.hpp"
#include "core/replay/links.hpp"
#include "core/replay/program.hpp"
#include "core/replay/replayer.hpp"
#include "core/replay/request_queue.hpp"

namespace rehearsal::replay {

/// What the Replayer holds; made once, then only overwritten. The rules of time and order
/// (iterations, phases, dependencies) are in replayer_ops.cpp, those of messages in
/// replayer_lanes.cpp.
struct Replayer::State {
  State(const plan::Plan& plan, JobIndex job, Rank rank, const plan::Connections& connections);

  /// A lane of the op that is in flight on a stream.
  struct Lane {
    std::uint32_t stream = 0;
    bool has_step = false;
    bool queued = false;
    collective::Cursor cursor;
    collective::Step step;
    std::uint32_t from =
        kNoIndex;  // position and link of the last step, most often the next one's too
    std::uint32_t from_link = kNoIndex;
    std::uint32_t to = kNoIndex;
    std::uint32_t to_link = kNoIndex;
  };
  /// A stream, and the communication op in flight on it.
  struct Stream {
    profile::OpIndex op = 0;
    bool busy = false;
    std::uint32_t lanes_begin = 0;  // in `lanes`
    std::uint32_t lanes_count = 0;  // of this op
    std::uint32_t lanes_left = 0;
    std::uint64_t unsent = 0;  // messages posted and not `sent`
    Instant ready;
  };
  struct ComputeEnd {
    Instant time;
    profile::OpIndex op;
  };

  // replayer_ops.cpp
  void begin_iteration(std::uint32_t index, Instant appointment, Instant begin) noexcept;
  void open_phase(std::uint32_t index, Instant now) noexcept;
  void start_ready(Instant now) noexcept;
  void start_communication(profile::OpIndex op, Instant now) noexcept;
  bool end_compute(Instant now) noexcept;
  void complete(profile::OpIndex op, Instant time) noexcept;
  void complete_communication(Stream& stream, Instant time) noexcept;
  void satisfy(profile::OpIndex op, Instant time) noexcept;
  void end_iteration_if_done() noexcept;
  void begin_phase(std::uint32_t index) noexcept;
  bool paused(Instant now) noexcept;
  bool may_follow() const noexcept;
  bool has_room() const noexcept;

  // replayer_lanes.cpp
  void take(const Completion& completion, Instant now) noexcept;
  void arrived(std::uint32_t link, const Completion& completion, Instant now) noexcept;
  void was_sent(Link& link, const Completion& completion, Instant now) noexcept;
  void wake(Link& link, Instant now) noexcept;
  void queue_lane(std::uint32_t lane) noexcept;
  void run_lane(std::uint32_t lane, Instant now) noexcept;
  bool prepare_step(Lane& lane) noexcept;
  bool may_send(const Lane& lane) const noexcept;
  std::uint32_t blocking_link(const Lane& lane) const noexcept;
  void do_step(Lane& lane, Instant now) noexcept;
  void fail(std::uint32_t link, std::string_view reason) noexcept;

  JobIndex job;
  Rank rank;
  plan::SyncMode mode;
  std::uint32_t iterations;
  Program program;
  Links links;
  FlowMeter meter;
  std::vector<Lane> lanes;
  std::vector<Stream> streams;
  RequestQueue requests;
  FixedQueue<std::uint32_t> runnable;        // lanes
  FixedQueue<profile::OpIndex> ready;        // ops
  std::vector<ComputeEnd> computing;         // a heap, at most one a stream
  std::vector<std::uint32_t> waits;          // by op: predecessors not done, gates not open
  std::vector<Instant> ready_at;             // by op: when the last of them was
  std::vector<std::uint32_t> left_in_phase;  // ops

  bool begun = false;      // an iteration is under way
  bool following = false;  // mode free: the next iteration begins when there is room
  std::uint32_t phase = 0;
  std::uint32_t phase_begun = 0;  // the latest phase that an op of has begun
  std::uint32_t left = 0;         // ops of the iteration
  Instant last_done;              // the latest end of an op
  measure::IterationRecord current;

  std::unique_ptr<ComputeFaults> faults;  // null: none for this rank
  bool stands_still = false;              // because of one, when last seen
  Instant first_appointment = kNever;     // of the run
  std::uint32_t iterations_done = 0;
  std::uint64_t ops_done = 0;
  std::uint32_t links_connected = 0;
  ReplayCounters counters;
  std::optional<ReplayFailure> failure;
  std::vector<measure::OpRecord> op_records;
  std::vector<measure::IterationRecord> iteration_records;
};

}  // namespace rehearsal::replay

// Time and order: iterations, phases, dependencies.

#include <algorithm>

#include "core/base/check.hpp"
#include "core/replay/replayer_state.hpp"

namespace rehearsal::replay {

namespace {

/// For std::push_heap: the earliest on top, then the first in program order.
constexpr auto kLater = [](const auto& a, const auto& b) noexcept {
  return a.time != b.time ? a.time > b.time : a.op > b.op;
};

}  // namespace

void Replayer::State::begin_iteration(std::uint32_t index, Instant appointment,
                                      Instant begin) noexcept {
  CHECK(!begun, "an iteration begins before the last one is done");
  CHECK(has_room(), "records of earlier iterations were not cleared");
  begun = true;
  left = static_cast<std::uint32_t>(program.ops.size());
  last_done = begin;
  current = {.job = job,
             .rank = rank,
             .iteration = index,
             .start = begin,
             .appointment = appointment,
             .done = begin};
  if (first_appointment == kNever) first_appointment = appointment;
  meter.begin_iteration(index, mode == plan::SyncMode::free ? first_appointment : appointment);
  begin_phase(0);
  const std::uint32_t gate = mode == plan::SyncMode::phase ? 1 : 0;
  std::fill(left_in_phase.begin(), left_in_phase.end(), 0);
  for (profile::OpIndex op = 0; op < program.ops.size(); ++op) {
    waits[op] = program.ops[op].waits + gate;
    ready_at[op] = begin;
    ++left_in_phase[program.ops[op].phase];
    if (waits[op] == 0) ready.push(op);
  }
}

void Replayer::State::open_phase(std::uint32_t index, Instant now) noexcept {
  phase = index;
  if (index > 0) begin_phase(index);
  for (profile::OpIndex op = 0; op < program.ops.size(); ++op)
    if (program.ops[op].phase == index) satisfy(op, now);
}

/// Faults that begin or end with a phase do so before its first op.
void Replayer::State::begin_phase(std::uint32_t index) noexcept {
  phase_begun = index;
  if (faults != nullptr) faults->edge(current.iteration, index, first_appointment);
}

/// Stands still because of a fault. What was being computed when it began is done so much later;
/// messages that are under way arrive meanwhile.
bool Replayer::State::paused(Instant now) noexcept {
  if (faults == nullptr) return false;
  if (faults->at(now)) {
    for (ComputeEnd& end : computing)
      if (end.time > now) end.time += faults->resumes() - now;
    std::make_heap(computing.begin(), computing.end(), kLater);
  }
  stands_still = now < faults->resumes();
  return stands_still;
}

void Replayer::State::start_ready(Instant now) noexcept {
  while (!ready.empty()) {
    const profile::OpIndex op = ready.pop();
    if (program.ops[op].phase > phase_begun) {
      begin_phase(program.ops[op].phase);
      paused(now);  // a straggler that begins here slows this op already
    }
    if (program.ops[op].kind != profile::OpKind::compute) {
      start_communication(op, now);
      continue;
    }
    if (faults == nullptr) {
      computing.push_back({ready_at[op] + program.ops[op].duration, op});
    } else {
      const Instant begin = std::max(ready_at[op], faults->resumes());
      computing.push_back({begin + faults->slowed(program.ops[op].duration), op});
    }
    std::push_heap(computing.begin(), computing.end(), kLater);
  }
}

void Replayer::State::start_communication(profile::OpIndex op, Instant now) noexcept {
  const Program::Op& planned = program.ops[op];
  Stream& stream = streams[planned.stream];
  CHECK(!stream.busy, "two ops of one stream at once");
  stream.busy = true;
  stream.op = op;
  stream.ready = now;
  meter.late(std::max(now - ready_at[op], Duration::zero()));
  stream.unsent = 0;
  stream.lanes_count = stream.lanes_left = planned.expansion.lane_count();
  for (std::uint32_t i = 0; i < stream.lanes_count; ++i) {
    Lane& lane = lanes[stream.lanes_begin + i];
    lane = Lane{};
    lane.stream = planned.stream;
    lane.cursor = planned.expansion.lane(i);
    queue_lane(stream.lanes_begin + i);
  }
  if (stream.lanes_count == 0) complete_communication(stream, now);
}

bool Replayer::State::end_compute(Instant now) noexcept {
  if (computing.empty() || computing.front().time > now) return false;
  const ComputeEnd ended = computing.front();
  std::pop_heap(computing.begin(), computing.end(), kLater);
  computing.pop_back();
  meter.computed(ended.time - ready_at[ended.op]);
  complete(ended.op, ended.time);
  return true;
}

void Replayer::State::complete_communication(Stream& stream, Instant time) noexcept {
  const Program::Op& planned = program.ops[stream.op];
  op_records.push_back({.job = job,
                        .rank = rank,
                        .iteration = current.iteration,
                        .op = stream.op,
                        .instance = planned.instance,
                        .ready = stream.ready,
                        .done = time});
  ++ops_done;
  stream.busy = false;
  complete(stream.op, time);
}

void Replayer::State::complete(profile::OpIndex op, Instant time) noexcept {
  const Program::Op& planned = program.ops[op];
  last_done = std::max(last_done, time);
  --left;
  --left_in_phase[planned.phase];
  for (std::uint32_t i = planned.successors_begin; i < planned.successors_end; ++i)
    satisfy(program.successors[i], time);
  end_iteration_if_done();
}

void Replayer::State::satisfy(profile::OpIndex op, Instant time) noexcept {
  ready_at[op] = std::max(ready_at[op], time);
  if (--waits[op] == 0) ready.push(op);
}

void Replayer::State::end_iteration_if_done() noexcept {
  const bool last_phase = mode != plan::SyncMode::phase || phase + 1 == program.phases;
  if (!begun || left > 0 || !last_phase) return;
  begun = false;
  meter.end_iteration();
  current.done = last_done;
  iteration_records.push_back(current);
  ++iterations_done;
  following = mode == plan::SyncMode::free && iterations_done < iterations;
}

bool Replayer::State::has_room() const noexcept {
  return op_records.size() + program.communication_ops <= op_records.capacity() &&
         iteration_records.size() < iteration_records.capacity();
}

bool Replayer::State::may_follow() const noexcept { return following && has_room(); }

}  // namespace rehearsal::replay

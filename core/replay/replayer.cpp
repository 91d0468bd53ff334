#include "core/replay/replayer.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/plan/stages.hpp"
#include "core/replay/replayer_state.hpp"

namespace rehearsal::replay {

namespace {

/// No more requests can wait than there are credits: a send holds one of its connection, a release
/// one of the other direction.
std::size_t requests_max(const Links& links) {
  std::size_t total = 0;
  for (std::uint32_t i = 0; i < links.size(); ++i) total += links[i].credits_max;
  return total;
}

std::size_t lanes_in_all(const Program& program) {
  std::size_t total = 0;
  for (const std::uint32_t lanes : program.lanes_max) total += lanes;
  return total;
}

/// Room for records: two iterations, and when those are small for many of them.
constexpr std::size_t kIterationRecords = 64;

}  // namespace

Replayer::State::State(const plan::Plan& plan, JobIndex its_job, Rank its_rank,
                       const plan::Connections& connections)
    : job(its_job),
      rank(its_rank),
      mode(plan.synchronisation),
      iterations(plan.iterations),
      program(plan, its_job, its_rank),
      links(connections, its_job, its_rank),
      meter(connections, its_job, its_rank, links,
            measure::windows_of(plan.iterations, plan::stage_edges(plan))),
      lanes(lanes_in_all(program)),
      streams(program.streams),
      requests(requests_max(links)),
      runnable(lanes.size()),
      ready(program.ops.size()),
      waits(program.ops.size()),
      ready_at(program.ops.size()),
      left_in_phase(program.phases),
      faults(ComputeFaults::of(plan, its_job, its_rank)) {
  computing.reserve(streams.size());
  op_records.reserve(std::size_t{program.communication_ops} * 2);
  iteration_records.reserve(kIterationRecords);
  std::uint32_t lanes_before = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i].lanes_begin = lanes_before;
    lanes_before += program.lanes_max[i];
  }
}

Replayer::Replayer(const plan::Plan& plan, JobIndex job, Rank rank,
                   const plan::Connections& connections)
    : state_(std::make_unique<State>(plan, job, rank, connections)) {}
Replayer::~Replayer() = default;
Replayer::Replayer(Replayer&&) noexcept = default;
Replayer& Replayer::operator=(Replayer&&) noexcept = default;

JobIndex Replayer::job() const noexcept { return state_->job; }
Rank Replayer::rank() const noexcept { return state_->rank; }
std::uint32_t Replayer::phase_count() const noexcept { return state_->program.phases; }
bool Replayer::connected() const noexcept {
  return state_->links_connected == state_->links.size();
}

void Replayer::start(std::uint32_t iteration, std::uint32_t phase, Instant appointment,
                     Instant now) noexcept {
  State& state = *state_;
  if (state.mode == plan::SyncMode::phase) {
    if (phase == 0)
      state.begin_iteration(iteration, appointment, now);
    else
      state.current.waited += std::max(now - state.last_done, Duration::zero());
    state.open_phase(phase, now);
  } else {
    state.begin_iteration(iteration, appointment, now);
  }
  state.end_iteration_if_done();
}

void Replayer::on(std::span<const Completion> completions, Instant now) noexcept {
  for (const Completion& completion : completions) state_->take(completion, now);
}

void Replayer::advance(Instant now) noexcept {
  State& state = *state_;
  while (!state.failure && !state.paused(now)) {
    state.start_ready(now);
    if (state.end_compute(now)) continue;
    if (!state.runnable.empty()) {
      const std::uint32_t lane = state.runnable.pop();
      state.lanes[lane].queued = false;
      state.run_lane(lane, now);
      continue;
    }
    if (!state.may_follow()) return;
    state.following = false;
    state.begin_iteration(state.current.iteration + 1, state.last_done, state.last_done);
    state.end_iteration_if_done();
  }
}

std::span<const Request> Replayer::requests() const noexcept { return state_->requests.all(); }
void Replayer::accepted(std::size_t count) noexcept { state_->requests.pop(count); }

Instant Replayer::next_deadline() const noexcept {
  const State& state = *state_;
  if (state.failure) return kNever;
  if (state.stands_still) return state.faults->resumes();
  if (!state.ready.empty() || !state.runnable.empty() || state.may_follow()) return Instant::min();
  const Instant pause =
      state.faults != nullptr && state.begun ? state.faults->next_pause() : kNever;
  return state.computing.empty() ? pause : std::min(pause, state.computing.front().time);
}

bool Replayer::computes(Instant now) const noexcept {
  const State& state = *state_;
  return state.stands_still || (!state.computing.empty() && state.computing.front().time > now);
}

Replayer::Position Replayer::position() const noexcept {
  return {state_->current.iteration, state_->phase_begun};
}

std::span<const fault::Spell> Replayer::fault_spells() const noexcept {
  if (state_->faults == nullptr) return {};
  return state_->faults->spells();
}

void Replayer::end_faults(Instant now) noexcept {
  if (state_->faults != nullptr) state_->faults->close(now);
}

bool Replayer::idle() const noexcept {
  const State& state = *state_;
  if (state.following) return false;
  if (!state.begun) return true;
  return state.mode == plan::SyncMode::phase && state.left_in_phase[state.phase] == 0;
}

std::uint32_t Replayer::iterations_done() const noexcept { return state_->iterations_done; }
std::uint64_t Replayer::ops_done() const noexcept { return state_->ops_done; }
const ReplayCounters& Replayer::counters() const noexcept { return state_->counters; }
const std::optional<ReplayFailure>& Replayer::failure() const noexcept { return state_->failure; }

std::span<const measure::OpRecord> Replayer::op_records() const noexcept {
  return state_->op_records;
}
std::span<const measure::IterationRecord> Replayer::iteration_records() const noexcept {
  return state_->iteration_records;
}
void Replayer::clear_records() noexcept {
  // An iteration that is under way keeps room: its records so far are taken with the others.
  state_->op_records.clear();
  state_->iteration_records.clear();
}

void Replayer::append_flow_times(measure::FlowMeasurements& measurements) const {
  state_->meter.append_to(measurements);
}

std::vector<Rank> Replayer::waiting_for() const {
  const State& state = *state_;
  std::vector<Rank> peers;
  for (const State::Lane& lane : state.lanes) {
    if (!state.streams[lane.stream].busy || !lane.has_step) continue;
    const std::uint32_t link = state.blocking_link(lane);
    if (link != kNoIndex) peers.push_back(state.links[link].peer);
  }
  // Messages that were posted and did not leave: somebody does not take them.
  for (std::uint32_t i = 0; i < state.links.size(); ++i) {
    const Link& link = state.links[i];
    if (!link.outgoing || link.stream == kNoIndex || link.credits == link.credits_max) continue;
    const State::Stream& stream = state.streams[link.stream];
    if (stream.busy && stream.lanes_left == 0) peers.push_back(link.peer);
  }
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  return peers;
}

}  // namespace rehearsal::replay

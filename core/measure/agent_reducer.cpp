#include "core/measure/agent_reducer.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "core/base/check.hpp"

namespace rehearsal::measure {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// One instance of every iteration, and where its class' histogram stands.
struct Slot {
  InstanceKey key;  // iteration zero
  CollectiveClass what;
  std::uint32_t histogram = kNone;
};

// What was seen of one slot in one iteration.
struct Cell {
  Duration shortest = Duration::max();
  Duration longest{0};
  std::uint32_t ranks = 0;
};

struct RankState {
  Rank rank;
  std::vector<std::uint32_t> slot_of_op;  // kNone: compute
  Instant previous_done;
  bool has_previous = false;
};

std::uint32_t position_of(const profile::Communicator& communicator, Rank rank) {
  const auto found = std::find(communicator.ranks.begin(), communicator.ranks.end(), rank);
  CHECK(found != communicator.ranks.end(), "a rank issues ops of its own communicators only");
  return static_cast<std::uint32_t>(found - communicator.ranks.begin());
}

const profile::RankClass& class_of(const profile::Profile& profile, Rank rank) {
  for (const profile::RankClass& candidate : profile.classes) {
    if (std::binary_search(candidate.ranks.begin(), candidate.ranks.end(), rank)) return candidate;
  }
  CHECK(false, "every rank of a valid profile has a class");
  return profile.classes.front();
}

// Names the instances that a rank's ops belong to, in order. Both ends of a message count the
// messages of their pair, so they come to the same key; all ranks of a communicator count its
// collectives.
class Namer {
 public:
  Namer(JobIndex job, const profile::Profile& profile, Rank rank)
      : job_(job), profile_(profile), rank_(rank) {}

  InstanceKey name(const profile::Op& op) {
    InstanceKey key{.job = job_, .communicator = op.communicator};
    if (profile::is_point_to_point(op.kind)) {
      key.point_to_point = true;
      key.source = position_of(profile_.communicators[op.communicator.value], rank_);
      key.destination = op.peer;
      if (op.kind == profile::OpKind::recv) std::swap(key.source, key.destination);
    }
    key.number = counts_[key]++;
    return key;
  }

 private:
  JobIndex job_;
  const profile::Profile& profile_;
  Rank rank_;
  std::map<InstanceKey, std::uint32_t> counts_;
};

}  // namespace

struct AgentReducer::State {
  struct Job {
    JobIndex index;
    std::vector<RankState> ranks;
    std::vector<std::uint32_t> rank_index;  // by rank; kNone: lives elsewhere
    std::vector<Slot> slots;
    std::vector<Cell> cells;  // iteration × slots
    std::vector<IterationPartial> iterations;
    std::vector<RankTimes> rank_times;
  };

  AgentReducerOptions options;
  std::vector<Job> jobs;
  std::vector<std::uint32_t> job_index;  // by JobIndex; kNone: no rank of it here

  void add_job(const ReducedJob& reduced);
  static std::uint32_t histogram_for(Job& job, const CollectiveClass& what);

  Job& job_of(JobIndex index) noexcept {
    CHECK(index.value < job_index.size(), "the record of a job that is not in the run");
    CHECK(job_index[index.value] != kNone, "the record of a job that has no rank here");
    return jobs[job_index[index.value]];
  }
  static RankState& rank_of(Job& job, Rank rank) noexcept {
    CHECK(rank.value < job.rank_index.size(), "the record of a rank that is not in the job");
    CHECK(job.rank_index[rank.value] != kNone, "the record of a rank that lives elsewhere");
    return job.ranks[job.rank_index[rank.value]];
  }
};

std::uint32_t AgentReducer::State::histogram_for(Job& job, const CollectiveClass& what) {
  for (std::size_t i = 0; i < job.rank_times.size(); ++i) {
    if (job.rank_times[i].what == what) return static_cast<std::uint32_t>(i);
  }
  if (job.rank_times.size() == kRankTimesMax) return kNone;
  job.rank_times.push_back({.what = what, .times = {}});
  return static_cast<std::uint32_t>(job.rank_times.size() - 1);
}

void AgentReducer::State::add_job(const ReducedJob& reduced) {
  const profile::Profile& profile = *reduced.profile;
  Job job;
  job.index = reduced.job;
  job.rank_index.assign(profile.ranks, kNone);
  std::map<InstanceKey, std::uint32_t> slot_of_key;
  for (const Rank rank : reduced.ranks) {
    job.rank_index[rank.value] = static_cast<std::uint32_t>(job.ranks.size());
    RankState state{.rank = rank, .slot_of_op = {}, .previous_done = {}};
    Namer namer(reduced.job, profile, rank);
    for (const profile::Op& op : class_of(profile, rank).ops) {
      if (!profile::is_communication(op.kind)) {
        state.slot_of_op.push_back(kNone);
        continue;
      }
      const InstanceKey key = namer.name(op);
      const auto [found, is_new] =
          slot_of_key.try_emplace(key, static_cast<std::uint32_t>(job.slots.size()));
      if (is_new) {
        const CollectiveClass what{
            .job = reduced.job,
            .kind = op.kind == profile::OpKind::recv ? profile::OpKind::send : op.kind,
            .communicator = op.communicator,
            .bytes = class_bytes(profile, op)};
        job.slots.push_back({.key = key, .what = what, .histogram = histogram_for(job, what)});
      }
      state.slot_of_op.push_back(found->second);
    }
    job.ranks.push_back(std::move(state));
  }
  job.cells.resize(job.slots.size() * options.iterations);
  job.iterations.resize(options.iterations);
  job_index.resize(std::max<std::size_t>(job_index.size(), reduced.job.value + 1), kNone);
  job_index[reduced.job.value] = static_cast<std::uint32_t>(jobs.size());
  jobs.push_back(std::move(job));
}

AgentReducer::AgentReducer(std::span<const ReducedJob> jobs, AgentReducerOptions options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
  for (const ReducedJob& job : jobs) state_->add_job(job);
}

AgentReducer::~AgentReducer() = default;
AgentReducer::AgentReducer(AgentReducer&&) noexcept = default;
AgentReducer& AgentReducer::operator=(AgentReducer&&) noexcept = default;

void AgentReducer::add(std::span<const OpRecord> records) noexcept {
  for (const OpRecord& record : records) {
    State::Job& job = state_->job_of(record.job);
    const RankState& rank = State::rank_of(job, record.rank);
    CHECK(record.iteration < state_->options.iterations, "a record behind the last iteration");
    CHECK(record.op < rank.slot_of_op.size(),
          "the record of an op that is not in the rank's class");
    const std::uint32_t slot = rank.slot_of_op[record.op];
    CHECK(slot != kNone, "compute leaves no record");

    const Duration time = record.done - record.ready;
    Cell& cell = job.cells[std::size_t{record.iteration} * job.slots.size() + slot];
    cell.shortest = std::min(cell.shortest, time);
    cell.longest = std::max(cell.longest, time);
    ++cell.ranks;
    if (job.slots[slot].histogram != kNone) {
      job.rank_times[job.slots[slot].histogram].times.record(time);
    }
  }
}

void AgentReducer::add(std::span<const IterationRecord> records) noexcept {
  for (const IterationRecord& record : records) {
    State::Job& job = state_->job_of(record.job);
    RankState& rank = State::rank_of(job, record.rank);
    CHECK(record.iteration < job.iterations.size(), "a record behind the last iteration");

    Duration time = record.done - record.start - record.waited;
    if (state_->options.free_running && rank.has_previous) {
      time = record.done - rank.previous_done;
    }
    rank.previous_done = record.done;
    rank.has_previous = true;

    IterationPartial& partial = job.iterations[record.iteration];
    if (partial.ranks == 0) {
      partial = {.job = record.job,
                 .iteration = record.iteration,
                 .appointment = record.appointment,
                 .first_start = record.start,
                 .last_done = record.done};
    }
    ++partial.ranks;
    partial.longest = std::max(partial.longest, time);
    partial.waited = std::max(partial.waited, record.waited);
    partial.appointment = std::min(partial.appointment, record.appointment);
    partial.first_start = std::min(partial.first_start, record.start);
    partial.last_done = std::max(partial.last_done, record.done);
  }
}

PartialResults AgentReducer::take() {
  PartialResults results;
  for (State::Job& job : state_->jobs) {
    for (std::size_t i = 0; i < job.cells.size(); ++i) {
      Cell& cell = job.cells[i];
      if (cell.ranks == 0) continue;
      const Slot& slot = job.slots[i % job.slots.size()];
      InstancePartial partial{.key = slot.key,
                              .what = slot.what,
                              .ranks = cell.ranks,
                              .shortest = cell.shortest,
                              .longest = cell.longest};
      partial.key.iteration = static_cast<std::uint32_t>(i / job.slots.size());
      results.instances.push_back(partial);
      cell = {};
    }
    for (IterationPartial& partial : job.iterations) {
      if (partial.ranks == 0) continue;
      results.iterations.push_back(partial);
      partial = {};
    }
    for (RankTimes& times : job.rank_times) {
      if (times.times.count() == 0) continue;
      results.rank_times.push_back(times);
      times.times.clear();
    }
  }
  return results;
}

}  // namespace rehearsal::measure

#include "core/replay/compute_faults.hpp"

#include <algorithm>

namespace rehearsal::replay {
namespace {

using fault::Kind;
using fault::Schedule;

bool hits(const fault::PlannedFault& fault, HostIndex host, NicIndex nic, JobIndex job, Rank rank) {
  if (!fault::is_of_compute(fault.what.kind)) return false;
  return std::ranges::any_of(fault.places, [&](const fault::Place& place) {
    return place.host == host && (!place.nic || *place.nic == nic) &&
           (!place.job || *place.job == job) && (!place.rank || *place.rank == rank);
  });
}

}  // namespace

std::unique_ptr<ComputeFaults> ComputeFaults::of(const plan::Plan& plan, JobIndex job, Rank rank) {
  std::vector<Schedule::Entry> entries;
  const plan::Binding& binding = plan.jobs[job.value].bindings[rank.value];
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) {
    const fault::PlannedFault& fault = plan.faults[i];
    if (!hits(fault, binding.host, binding.nic, job, rank)) continue;
    entries.push_back({.fault = i,
                       .when = fault.when,
                       .phase = fault.phase,
                       .levels = static_cast<std::uint32_t>(fault.what.levels.size())});
  }
  if (entries.empty()) return nullptr;
  return std::unique_ptr<ComputeFaults>(new ComputeFaults(plan, job, std::move(entries)));
}

ComputeFaults::ComputeFaults(const plan::Plan& plan, JobIndex job,
                             std::vector<Schedule::Entry> entries)
    : job_(job), schedule_(std::move(entries)), levels_(schedule_.size(), Schedule::kOff) {
  for (std::size_t i = 0; i < schedule_.size(); ++i) {
    faults_.push_back(&plan.faults[schedule_.entry(i).fault]);
    pauses_ |= faults_.back()->what.kind == Kind::pause;
  }
}

void ComputeFaults::edge(std::uint32_t iteration, std::uint32_t phase, Instant start) noexcept {
  schedule_.start(start);
  schedule_.edge(job_, iteration, phase);
}

bool ComputeFaults::at(Instant now) noexcept {
  if (!schedule_.at(now)) return false;
  bool begun = false;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    const std::uint32_t before = std::exchange(levels_[i], schedule_.level(i));
    if (faults_[i]->what.kind != Kind::pause || before != Schedule::kOff ||
        levels_[i] == Schedule::kOff)
      continue;
    resumes_ = std::max(resumes_, schedule_.ends_at(i));
    begun = true;
  }
  return begun;
}

Duration ComputeFaults::slowed(Duration planned) const noexcept {
  auto taken = static_cast<std::uint64_t>(std::max(planned, Duration::zero()).count());
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (levels_[i] == Schedule::kOff || faults_[i]->what.kind != Kind::straggler) continue;
    taken = fault::part_of(taken, faults_[i]->what.levels[levels_[i]].compute);
  }
  return Duration{static_cast<Duration::rep>(taken)};
}

Instant ComputeFaults::next_pause() const noexcept {
  return pauses_ ? schedule_.next_change() : kNever;
}

}  // namespace rehearsal::replay

#include "core/measure/instance_table.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "core/base/check.hpp"

namespace rehearsal::measure {
namespace {

Failure contradicts_plan(std::string what) {
  return fail(ErrorCode::protocol, ErrorSource::control, std::move(what));
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xBF58476D1CE4E5B9ULL;
}

}  // namespace

std::size_t InstanceTable::KeyHash::operator()(const InstanceKey& key) const noexcept {
  std::uint64_t hash = key.job.value;
  hash = mixed(hash, key.communicator.value);
  hash = mixed(hash, key.point_to_point ? 1 : 0);
  hash = mixed(hash, key.source);
  hash = mixed(hash, key.destination);
  hash = mixed(hash, key.number);
  hash = mixed(hash, key.iteration);
  return static_cast<std::size_t>(hash ^ (hash >> 31));
}

InstanceTable::InstanceTable(std::vector<std::shared_ptr<const profile::Profile>> profiles,
                             std::uint32_t iterations)
    : profiles_(std::move(profiles)),
      iterations_(iterations),
      ops_completed_(profiles_.size(), 0) {}

std::uint32_t InstanceTable::ranks_of(const InstanceKey& key) const {
  // A message to oneself has two ops of one rank: also two.
  if (key.point_to_point) return 2;
  const auto& communicators = profiles_[key.job.value]->communicators;
  return static_cast<std::uint32_t>(communicators[key.communicator.value].ranks.size());
}

Result<void> InstanceTable::check(const InstancePartial& partial) const {
  const InstanceKey& key = partial.key;
  if (key.job.value >= profiles_.size()) {
    return contradicts_plan("a result of job " + std::to_string(key.job.value) + ", the plan has " +
                            std::to_string(profiles_.size()));
  }
  const profile::Profile& profile = *profiles_[key.job.value];
  if (key.communicator.value >= profile.communicators.size()) {
    return contradicts_plan("a result of communicator " + std::to_string(key.communicator.value) +
                            ", the profile has " + std::to_string(profile.communicators.size()));
  }
  if (key.iteration >= iterations_) {
    return contradicts_plan("a result of iteration " + std::to_string(key.iteration) +
                            ", the plan has " + std::to_string(iterations_));
  }
  if (partial.ranks > ranks_of(key)) {
    return contradicts_plan("a collective with results of " + std::to_string(partial.ranks) +
                            " ranks, its communicator has " + std::to_string(ranks_of(key)));
  }
  const auto found = instances_.find(key);
  if (found == instances_.end()) return {};
  if (found->second.what != partial.what) {
    return contradicts_plan("two agents disagree on the kind or size of a collective");
  }
  if (found->second.ranks + partial.ranks > ranks_of(key)) {
    return contradicts_plan("a collective with more results than its communicator has ranks");
  }
  return {};
}

Result<void> InstanceTable::add(const PartialResults& results) {
  for (const InstancePartial& partial : results.instances) RETURN_IF_ERROR(check(partial));
  for (const InstancePartial& partial : results.instances) {
    const auto [found, is_new] = instances_.try_emplace(
        partial.key, Merged{.what = partial.what, .ranks = 0, .shortest = partial.shortest});
    found->second.ranks += partial.ranks;
    found->second.shortest = std::min(found->second.shortest, partial.shortest);
    ops_completed_[partial.key.job.value] += partial.ranks;
  }
  for (const RankTimes& times : results.rank_times) {
    const auto found =
        std::find_if(rank_times_.begin(), rank_times_.end(),
                     [&](const RankTimes& known) { return known.what == times.what; });
    if (found != rank_times_.end()) {
      found->times.merge(times.times);
    } else {
      rank_times_.push_back(times);
    }
  }
  return {};
}

std::vector<ClassTimes> InstanceTable::classes() const {
  struct Gathered {
    ClassTimes times;
    std::uint32_t first = 0;  // the lowest number in an iteration
  };
  std::map<CollectiveClass, Gathered> gathered;
  for (const auto& [key, merged] : instances_) {
    const auto [found, is_new] = gathered.try_emplace(merged.what);
    Gathered& entry = found->second;
    if (is_new) {
      entry.times.what = merged.what;
      entry.times.ranks = ranks_of(key);
      entry.first = key.number;
    }
    entry.first = std::min(entry.first, key.number);
    if (merged.ranks == ranks_of(key)) {
      entry.times.instances.push_back({.iteration = key.iteration, .time = merged.shortest});
    } else {
      ++entry.times.incomplete;
    }
  }
  for (const RankTimes& times : rank_times_) {
    const auto found = gathered.find(times.what);
    if (found != gathered.end()) found->second.times.rank_times = times.times.summary();
  }

  std::vector<Gathered> ordered;
  for (auto& [what, entry] : gathered) {
    std::sort(entry.times.instances.begin(), entry.times.instances.end());
    ordered.push_back(std::move(entry));
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const Gathered& a, const Gathered& b) {
    return std::tie(a.times.what.job, a.times.what.communicator, a.first) <
           std::tie(b.times.what.job, b.times.what.communicator, b.first);
  });
  std::vector<ClassTimes> classes;
  for (Gathered& entry : ordered) classes.push_back(std::move(entry.times));
  return classes;
}

std::uint64_t InstanceTable::ops_completed(JobIndex job) const {
  return job.value < ops_completed_.size() ? ops_completed_[job.value] : 0;
}

}  // namespace rehearsal::measure

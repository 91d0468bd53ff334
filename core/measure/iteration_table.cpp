#include "core/measure/iteration_table.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "core/base/check.hpp"

namespace rehearsal::measure {
namespace {

Failure contradicts_plan(std::string what) {
  return fail(ErrorCode::protocol, ErrorSource::control, std::move(what));
}

}  // namespace

const ClockOffset& nearest(std::span<const ClockOffset> offsets, Instant at) {
  CHECK(!offsets.empty(), "there is no estimate of this clock");
  const auto distance = [&](const ClockOffset& offset) {
    return offset.reference > at ? offset.reference - at : at - offset.reference;
  };
  return *std::min_element(
      offsets.begin(), offsets.end(),
      [&](const ClockOffset& a, const ClockOffset& b) { return distance(a) < distance(b); });
}

IterationTable::IterationTable(std::vector<std::uint32_t> ranks, std::uint32_t iterations)
    : ranks_(std::move(ranks)), iterations_(iterations) {}

Result<void> IterationTable::add(HostIndex host, std::span<const IterationPartial> partials,
                                 std::span<const ClockOffset> clocks) {
  for (const IterationPartial& partial : partials) {
    if (partial.job.value >= ranks_.size() || partial.iteration >= iterations_) {
      return contradicts_plan("iteration " + std::to_string(partial.iteration) + " of job " +
                              std::to_string(partial.job.value) + " is not in the plan");
    }
    const auto found = merged_.find({partial.job, partial.iteration});
    const std::uint32_t known = found == merged_.end() ? 0 : found->second.ranks;
    if (partial.ranks > ranks_[partial.job.value] - known) {
      return contradicts_plan("iteration " + std::to_string(partial.iteration) +
                              " has more results than its job has ranks");
    }
  }
  for (const IterationPartial& partial : partials) {
    Merged& merged = merged_[{partial.job, partial.iteration}];
    merged.ranks += partial.ranks;
    merged.time = std::max(merged.time, partial.longest);
    merged.waited = std::max(merged.waited, partial.waited);

    const auto [span, is_new] =
        spans_.try_emplace(host, std::pair{partial.first_start, partial.last_done});
    span->second.first = std::min(span->second.first, partial.first_start);
    span->second.second = std::max(span->second.second, partial.last_done);

    if (clocks.empty()) continue;
    const ClockOffset& clock = nearest(clocks, partial.first_start);
    const Start start{
        .host = host, .at = partial.first_start + clock.offset, .error_bound = clock.error_bound};
    const auto earlier = std::find_if(merged.starts.begin(), merged.starts.end(),
                                      [&](const Start& other) { return other.host == host; });
    if (earlier == merged.starts.end()) {
      merged.starts.push_back(start);
    } else if (start.at < earlier->at) {
      *earlier = start;
    }
  }
  return {};
}

std::vector<IterationTime> IterationTable::complete(JobIndex job) const {
  std::vector<IterationTime> times;
  for (auto entry = merged_.lower_bound({job, 0});
       entry != merged_.end() && entry->first.first == job; ++entry) {
    const Merged& merged = entry->second;
    if (merged.ranks != ranks_[job.value]) continue;
    times.push_back({.job = job,
                     .iteration = entry->first.second,
                     .time = merged.time,
                     .waited = merged.waited});
  }
  return times;
}

std::vector<StartSkew> IterationTable::start_skews() const {
  std::vector<StartSkew> skews;
  for (const auto& [key, merged] : merged_) {
    if (merged.ranks != ranks_[key.first.value] || merged.starts.size() < 2) continue;
    Instant first = Instant::max();
    Instant last = Instant::min();
    std::vector<Duration> bounds;
    for (const Start& start : merged.starts) {
      first = std::min(first, start.at);
      last = std::max(last, start.at);
      bounds.push_back(start.error_bound);
    }
    std::partial_sort(bounds.begin(), bounds.begin() + 2, bounds.end(), std::greater<>());
    skews.push_back({.job = key.first,
                     .iteration = key.second,
                     .skew = last - first,
                     .error_bound = bounds[0] + bounds[1]});
  }
  return skews;
}

std::optional<std::pair<Instant, Instant>> IterationTable::span_of(HostIndex host) const {
  const auto found = spans_.find(host);
  if (found == spans_.end()) return std::nullopt;
  return found->second;
}

}  // namespace rehearsal::measure

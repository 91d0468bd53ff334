#include "core/report/run_times.hpp"

#include <algorithm>
#include <map>

namespace rehearsal::report {
namespace {

using plan::FaultRange;

// Less of an iteration than this part was hit by accident: a fault ends a little after the
// iteration that ends it begins.
constexpr int kHitPart = 100;

struct Spell {
  Instant began;
  Instant ended;
};

bool hits(const Spell& spell, const IterationSpan& span) {
  const Duration both = std::min(spell.ended, span.end) - std::max(spell.began, span.begin);
  return both * kHitPart > std::min(span.end - span.begin, spell.ended - spell.began);
}

// The fault's times on all hosts, on the coordinator's clock.
std::vector<Spell> spells_of(std::uint32_t fault, std::span<const CountedAgent> agents) {
  std::vector<Spell> spells;
  for (const CountedAgent& agent : agents) {
    for (const measure::FaultSpell& spell : agent.measurements->faults.spells) {
      if (spell.fault != fault) continue;
      spells.push_back({agent.at_coordinator(spell.began), agent.at_coordinator(spell.ended)});
    }
  }
  return spells;
}

void widen(std::optional<FaultRange>& range, const FaultRange& more) {
  if (!range) range = more;
  range->begin = std::min(range->begin, more.begin);
  range->end = std::max(range->end, more.end);
}

// Iterations of one job in which one of the spells was on.
std::optional<FaultRange> measured_range(std::span<const Spell> spells,
                                         std::span<const IterationSpan> job) {
  std::optional<FaultRange> range;
  for (const Spell& spell : spells) {
    // Iterations follow one another, so both their begins and their ends ascend.
    auto first = std::ranges::upper_bound(job, spell.began, {}, &IterationSpan::end);
    auto last = std::ranges::lower_bound(job, spell.ended, {}, &IterationSpan::begin);
    while (first < last && !hits(spell, *first)) ++first;
    while (first < last && !hits(spell, *(last - 1))) --last;
    if (first < last) widen(range, {first->iteration, (last - 1)->iteration + 1});
  }
  return range;
}

}  // namespace

Instant CountedAgent::at_coordinator(Instant at) const {
  return clocks.empty() ? at : at + measure::nearest(clocks, at).offset;
}

std::vector<CountedAgent> counted(const RunMeasurements& run,
                                  std::span<const std::string> contradictions) {
  std::vector<CountedAgent> agents;
  for (std::size_t i = 0; i < run.agents.size(); ++i) {
    const AgentResult& agent = run.agents[i];
    if (!agent.measurements || !contradictions[i].empty()) continue;
    agents.push_back(
        {.host = agent.host, .measurements = &*agent.measurements, .clocks = agent.clocks});
  }
  return agents;
}

IterationSpans iteration_spans(const plan::Plan& plan, std::span<const CountedAgent> agents) {
  std::vector<std::map<std::uint32_t, IterationSpan>> jobs(plan.jobs.size());
  for (const CountedAgent& agent : agents) {
    for (const measure::IterationPartial& partial : agent.measurements->results.iterations) {
      const IterationSpan seen{.iteration = partial.iteration,
                               .begin = agent.at_coordinator(partial.first_start),
                               .end = agent.at_coordinator(partial.last_done)};
      const auto [span, is_new] = jobs[partial.job.value].try_emplace(partial.iteration, seen);
      span->second.begin = std::min(span->second.begin, seen.begin);
      span->second.end = std::max(span->second.end, seen.end);
    }
  }
  IterationSpans spans;
  for (const auto& job : jobs) {
    auto& list = spans.emplace_back();
    for (const auto& [iteration, span] : job) list.push_back(span);
  }
  return spans;
}

std::vector<std::optional<FaultRange>> fault_ranges(const plan::Plan& plan,
                                                    std::span<const CountedAgent> agents,
                                                    const IterationSpans& spans) {
  std::vector<std::optional<FaultRange>> ranges(plan.jobs.size());
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) {
    const fault::PlannedFault& fault = plan.faults[i];
    const std::vector<Spell> spells = spells_of(i, agents);
    const auto planned = plan::planned_range(fault, plan.iterations);
    for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
      const auto measured = measured_range(spells, spans[job]);
      // Jobs that run free of one another are not in the same iteration at the same time.
      const bool in_step = plan.jobs.size() == 1 || fault.job == JobIndex{job} ||
                           plan.synchronisation != plan::SyncMode::free;
      if (!planned || !in_step) {
        if (measured) widen(ranges[job], *measured);
        continue;
      }
      FaultRange range = *planned;
      if (measured && measured->end > range.begin) range.end = std::min(range.end, measured->end);
      widen(ranges[job], range);
    }
  }
  return ranges;
}

StageSpans stage_spans(const CountedAgent& agent,
                       std::span<const std::optional<FaultRange>> ranges) {
  const auto& partials = agent.measurements->results.iterations;
  if (partials.empty() || ranges.empty()) return {};
  Instant first = Instant::max();
  Instant last = Instant::min();
  std::vector<std::optional<Instant>> begins(ranges.size());
  std::vector<std::optional<Instant>> ends(ranges.size());
  for (const measure::IterationPartial& partial : partials) {
    first = std::min(first, partial.first_start);
    last = std::max(last, partial.last_done);
    const auto& range = ranges[partial.job.value];
    if (!range) continue;
    if (partial.iteration == range->begin) begins[partial.job.value] = partial.first_start;
    if (partial.iteration == range->end) ends[partial.job.value] = partial.first_start;
  }
  std::optional<std::pair<Instant, Instant>> during;
  for (std::size_t job = 0; job < ranges.size(); ++job) {
    if (!begins[job]) continue;
    const Instant end = ends[job].value_or(last);
    if (!during) during = {*begins[job], end};
    during->first = std::min(during->first, *begins[job]);
    during->second = std::max(during->second, end);
  }
  if (!during) return {};
  StageSpans spans = {std::pair{first, during->first}, during, std::pair{during->second, last}};
  for (auto& span : spans)
    if (span->first >= span->second) span.reset();
  return spans;
}

}  // namespace rehearsal::report

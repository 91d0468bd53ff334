#include "core/report/timeline.hpp"

#include <algorithm>

#include "core/base/table.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"

namespace rehearsal::report {
namespace {

constexpr std::size_t kRowsMax = 24;

// "half-rate on h2", "slow-rank on h1, rank 3 of job dlrm".
std::string who(const FaultSummary& fault, const FaultSpellSummary& spell) {
  std::string text = fault.name + " on " + spell.host;
  if (spell.rank) text += ", rank " + std::to_string(*spell.rank) + " of job " + spell.job;
  return text;
}

bool same_place(const FaultSpellSummary& a, const FaultSpellSummary& b) {
  return a.host == b.host && a.job == b.job && a.rank == b.rank;
}

void add_spells(const fault::PlannedFault& planned, const FaultSummary& fault,
                std::vector<TimelineEvent>& events) {
  for (std::size_t i = 0; i < fault.spells.size(); ++i) {
    const FaultSpellSummary& spell = fault.spells[i];
    fault::What level = planned.what;
    if (spell.level < planned.what.levels.size()) level.levels = {planned.what.levels[spell.level]};
    events.push_back({spell.began, "fault_began", who(fault, spell) + ": " + describe(level)});
    // From level to level it goes on.
    bool goes_on = false;
    for (std::size_t j = i + 1; j < fault.spells.size() && fault.spells[j].began <= spell.ended;
         ++j)
      goes_on |= fault.spells[j].began == spell.ended && same_place(spell, fault.spells[j]);
    if (!goes_on) events.push_back({spell.ended, "fault_ended", who(fault, spell) + " ends"});
  }
}

const IterationSpan* span_at(std::span<const IterationSpan> job, std::uint32_t iteration) {
  const auto found = std::ranges::lower_bound(job, iteration, {}, &IterationSpan::iteration);
  return found != job.end() && found->iteration == iteration ? &*found : nullptr;
}

void add_job(const JobSummary& job, std::span<const IterationSpan> spans, Instant start,
             std::vector<TimelineEvent>& events) {
  if (!job.stages) return;
  const auto name = [&](const Reached& reached) {
    return "iteration " + std::to_string(reached.iteration) + " of job " + job.name;
  };
  if (const auto& noticed = job.stages->noticed) {
    if (const IterationSpan* span = span_at(spans, noticed->iteration))
      events.push_back({span->end - start, "noticed",
                        name(*noticed) + " ends, longer than all before the faults"});
  }
  if (const auto& recovered = job.stages->recovered) {
    if (const IterationSpan* span = span_at(spans, recovered->iteration))
      events.push_back({span->begin - start, "recovered",
                        name(*recovered) + " begins, as fast again as before the faults"});
  }
}

}  // namespace

std::vector<TimelineEvent> timeline_of(const plan::Plan& plan, const IterationSpans& spans,
                                       Instant start, const Summary& summary) {
  Instant end = start;
  for (const auto& job : spans)
    for (const IterationSpan& span : job) end = std::max(end, span.end);
  std::vector<TimelineEvent> events = {{Duration{0}, "started", "the first iteration begins"}};
  for (std::size_t i = 0; i < summary.faults.size(); ++i)
    add_spells(plan.faults[i], summary.faults[i], events);
  for (std::size_t job = 0; job < summary.jobs.size(); ++job)
    add_job(summary.jobs[job], spans[job], start, events);
  events.push_back({end - start, "ended", "the last iteration ends"});
  std::ranges::stable_sort(events, {}, &TimelineEvent::at);
  return events;
}

std::string timeline_lines(std::span<const TimelineEvent> events) {
  if (events.empty()) return {};
  using enum Table::Align;
  Table table({{"time", right}, {"what happened"}});
  for (const TimelineEvent& event : events.first(std::min(events.size(), kRowsMax)))
    table.add({format_duration(event.at), event.text});
  std::string text = table.text();
  if (events.size() > kRowsMax)
    text += "and " + grouped(events.size() - kRowsMax) + " events more, in summary.json\n";
  return text;
}

}  // namespace rehearsal::report

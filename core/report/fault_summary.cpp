#include "core/report/fault_summary.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/names.hpp"
#include "core/base/table.hpp"
#include "core/plan/plan.hpp"
#include "core/report/json_values.hpp"
#include "core/report/run_measurements.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {
namespace {

constexpr std::array kFound = {Found::yes, Found::no, Found::not_applicable};

Duration offset_at(const AgentResult& agent, Instant at) {
  return agent.clocks.empty() ? Duration::zero() : measure::nearest(agent.clocks, at).offset;
}

bool is_in(const plan::Plan& plan, const AgentResult& agent, const measure::FaultSpell& spell) {
  if (spell.fault >= plan.faults.size() || agent.host.value >= plan.hosts.size()) return false;
  return !spell.job || spell.job->value < plan.jobs.size();
}

}  // namespace

std::string_view to_string(Found found) {
  switch (found) {
    case Found::yes:
      return "yes";
    case Found::no:
      return "no";
    case Found::not_applicable:
      return "not_applicable";
  }
  return "";
}

std::optional<Found> found_from(std::string_view name) { return value_named(kFound, name); }

std::optional<Instant> first_start(const RunMeasurements& run) {
  std::optional<Instant> first;
  for (const AgentResult& agent : run.agents) {
    if (!agent.measurements) continue;
    for (const auto& iteration : agent.measurements->results.iterations) {
      const Instant at = iteration.first_start + offset_at(agent, iteration.first_start);
      first = std::min(first.value_or(at), at);
    }
  }
  return first;
}

std::vector<FaultSummary> fault_summaries(const plan::Plan& plan, const RunMeasurements& run) {
  std::vector<FaultSummary> summaries;
  for (const fault::PlannedFault& fault : plan.faults) {
    summaries.push_back({.name = fault.name,
                         .kind = std::string(to_string(fault.what.kind)),
                         .mechanism = std::string(to_string(fault.mechanism)),
                         .what = fault::describe(fault.what),
                         .when = fault::describe(fault.when),
                         .traffic = fault::makes_traffic(fault.what.kind)});
  }
  for (const AgentResult& agent : run.agents) {
    if (!agent.measurements || agent.host.value >= plan.hosts.size()) continue;
    for (const measure::FaultProblem& problem : agent.measurements->faults.problems) {
      if (problem.fault < summaries.size())
        summaries[problem.fault].problems.push_back(
            {.host = plan.hosts[agent.host.value].host, .text = problem.text});
    }
  }
  const std::optional<Instant> start = first_start(run);
  if (!start) return summaries;
  for (const AgentResult& agent : run.agents) {
    if (!agent.measurements) continue;
    for (const measure::FaultSpell& spell : agent.measurements->faults.spells) {
      if (!is_in(plan, agent, spell)) continue;
      FaultSpellSummary shown{.host = plan.hosts[agent.host.value].host, .level = spell.level};
      if (spell.job && spell.rank) {
        shown.job = plan.jobs[spell.job->value].name;
        shown.rank = spell.rank->value;
      }
      // Each by the estimate nearest to it: where one level ends and the next begins is one
      // instant.
      shown.began = spell.began + offset_at(agent, spell.began) - *start;
      shown.ended = spell.ended + offset_at(agent, spell.ended) - *start;
      summaries[spell.fault].spells.push_back(std::move(shown));
    }
    for (const measure::FaultEffect& effect : agent.measurements->faults.effects) {
      if (effect.fault >= summaries.size()) continue;
      summaries[effect.fault].messages += effect.messages;
      summaries[effect.fault].hit += effect.hit;
    }
    for (const measure::BackgroundBytes& bytes : agent.measurements->faults.background) {
      if (bytes.fault >= summaries.size()) continue;
      summaries[bytes.fault].background_sent += bytes.sent;
      summaries[bytes.fault].background_received += bytes.received;
    }
  }
  for (FaultSummary& summary : summaries)
    std::ranges::stable_sort(summary.spells, {}, &FaultSpellSummary::began);
  return summaries;
}

std::string fault_series(const plan::Plan& plan, const RunMeasurements& run) {
  std::string text;
  for (const AgentResult& agent : run.agents) {
    if (!agent.measurements) continue;
    for (const measure::FaultSpell& spell : agent.measurements->faults.spells) {
      if (!is_in(plan, agent, spell)) continue;
      Json json = {{"schema_version", kSummarySchemaVersion},
                   {"host", plan.hosts[agent.host.value].host},
                   {"fault", plan.faults[spell.fault].name},
                   {"level", spell.level},
                   {"began_ns", spell.began.time_since_epoch().count()},
                   {"ended_ns", spell.ended.time_since_epoch().count()}};
      if (spell.job && spell.rank) {
        json["job"] = plan.jobs[spell.job->value].name;
        json["rank"] = spell.rank->value;
      }
      add_clock(json, agent.clocks, spell.began);
      text += text_of(json, -1) + "\n";
    }
  }
  return text;
}

std::string fault_lines(const std::vector<FaultSummary>& faults) {
  if (faults.empty()) return {};
  using enum Table::Align;
  Table table({{"fault"}, {"what"}, {"when"}, {"effect", right}});
  std::string notes;
  for (const FaultSummary& fault : faults) {
    for (const FaultProblemSummary& problem : fault.problems)
      notes += "!! " + fault.name + " on " + problem.host + ": " + problem.text + "\n";
    std::string effect;
    if (fault.messages != 0)
      effect = grouped(fault.hit) + " of " + grouped(fault.messages) + " messages hit";
    if (fault.traffic)
      effect = format_bytes(fault.background_sent) + " sent, " +
               format_bytes(fault.background_received) + " received";
    if (fault.spells.empty()) effect = "never on";
    table.add({fault.name, fault.what, fault.when, effect});
  }
  return table.text() + notes;
}

std::string crash_of(const plan::Plan& plan, std::uint32_t host) {
  for (const fault::PlannedFault& fault : plan.faults) {
    if (fault.what.kind != fault::Kind::crash) continue;
    if (std::ranges::find(fault.places, HostIndex{host}, &fault::Place::host) != fault.places.end())
      return fault.name;
  }
  return {};
}

}  // namespace rehearsal::report

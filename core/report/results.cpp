#include "core/report/results.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/report/json_values.hpp"
#include "core/report/nic_series.hpp"
#include "core/report/summary_builder.hpp"

namespace rehearsal::report {
namespace {

// Time and waiting of each complete iteration of a job.
std::map<std::uint32_t, measure::IterationTime> iterations_of(const Gathered& gathered,
                                                              JobIndex job) {
  std::map<std::uint32_t, measure::IterationTime> result;
  for (const measure::IterationTime& time : gathered.iterations.complete(job)) {
    result.emplace(time.iteration, time);
  }
  return result;
}

// The instances of one class in one iteration.
Json line_of(const plan::PlannedJob& job, const measure::ClassTimes& times,
             std::span<const measure::InstanceTime> instances,
             const std::map<std::uint32_t, measure::IterationTime>& iterations) {
  std::vector<Duration> durations;
  for (const measure::InstanceTime& instance : instances) durations.push_back(instance.time);
  std::sort(durations.begin(), durations.end());
  const std::uint32_t iteration = instances.front().iteration;
  const auto whole = iterations.find(iteration);
  return {{"schema_version", kSummarySchemaVersion},
          {"job", job.name},
          {"iteration", iteration},
          {"kind", std::string(profile::to_string(times.what.kind))},
          {"communicator", job.profile->communicators[times.what.communicator.value].name},
          {"ranks", times.ranks},
          {"bytes", times.what.bytes.count()},
          {"count", durations.size()},
          {"time_seconds",
           {{"min", json_of(durations.front())},
            {"p50", json_of(measure::nearest_rank(durations, 0.5))},
            {"max", json_of(durations.back())}}},
          {"iteration_seconds", whole == iterations.end() ? Json() : json_of(whole->second.time)}};
}

std::string results_jsonl(const plan::Plan& plan, const Gathered& gathered) {
  struct Line {
    std::uint32_t job;
    std::uint32_t iteration;
    std::string text;
  };
  std::vector<Line> lines;
  const std::vector<measure::ClassTimes> classes = gathered.instances.classes();
  for (std::uint32_t j = 0; j < plan.jobs.size(); ++j) {
    const auto iterations = iterations_of(gathered, JobIndex{j});
    for (const measure::ClassTimes& times : classes) {
      if (times.what.job.value != j) continue;
      for (auto first = times.instances.begin(); first != times.instances.end();) {
        const auto last = std::find_if(first, times.instances.end(), [&](const auto& instance) {
          return instance.iteration != first->iteration;
        });
        lines.push_back(
            {.job = j,
             .iteration = first->iteration,
             .text = text_of(line_of(plan.jobs[j], times, {first, last}, iterations), -1)});
        first = last;
      }
    }
  }
  // Iteration by iteration; within one in the order of the profile.
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return std::tie(a.job, a.iteration) < std::tie(b.job, b.iteration);
  });
  std::string text;
  for (const Line& line : lines) text += line.text + "\n";
  return text;
}

std::string series_line(const plan::Plan& plan, const AgentResult& agent,
                        const measure::NicMeasurements& nic, const NicSeries& of) {
  const measure::ByteSeries& series = *of.series;
  Json runs = Json::array();
  for (const measure::BinRun& run : measure::runs_of(series.bytes)) {
    runs.push_back(Json::array({run.count, run.bytes}));
  }
  const plan::Inventory& host = plan.hosts[agent.host.value];
  Json json = {{"schema_version", kSummarySchemaVersion},
               {"host", host.host},
               {"nic", host.nics[nic.nic.value].name},
               {"direction", of.sent ? "sent" : "received"},
               {"source", of.source},
               {"origin_ns", series.origin.time_since_epoch().count()}};
  add_clock(json, agent.clocks, series.origin);
  json["bin_seconds"] = json_of(series.bin);
  json["runs"] = std::move(runs);
  return text_of(json, -1) + "\n";
}

std::string series_jsonl(const plan::Plan& plan, const RunMeasurements& run,
                         const Gathered& gathered) {
  std::string text;
  for (std::size_t i = 0; i < run.agents.size(); ++i) {
    const AgentResult& agent = run.agents[i];
    if (!agent.measurements || !gathered.contradictions[i].empty()) continue;
    for (const measure::NicMeasurements& nic : agent.measurements->nics) {
      if (nic.in_all() == Bytes{0}) continue;
      for (const NicSeries& series : series_of(nic, agent.measurements->transport.byte_source))
        text += series_line(plan, agent, nic, series);
    }
  }
  return text;
}

}  // namespace

Report make_report(const plan::Plan& plan, const plan::Load& load, const RunMeasurements& run) {
  const Gathered gathered = gather(plan, run);
  Report report;
  report.summary = build_summary(plan, load, run, gathered);
  Judgement judgement = judge(plan, run, report.summary, staged_jobs(plan, run, gathered));
  report.summary.verdict = judgement.verdict;
  report.summary.reasons = std::move(judgement.reasons);
  report.summary_json = summary_json(report.summary);
  report.results_jsonl = results_jsonl(plan, gathered);
  report.series_jsonl = series_jsonl(plan, run, gathered) + fault_series(plan, run);
  return report;
}

}  // namespace rehearsal::report

#include "core/report/summary_builder.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/text.hpp"
#include "core/collective/expansion.hpp"
#include "core/report/found.hpp"
#include "core/report/nic_series.hpp"
#include "core/report/notes.hpp"
#include "core/report/run_times.hpp"
#include "core/report/suspects.hpp"
#include "core/report/timeline.hpp"

namespace rehearsal::report {
namespace {

using measure::AgentMeasurements;
using measure::ByteSeries;
using measure::NicMeasurements;

using Agent = CountedAgent;
using FaultRanges = std::vector<std::optional<plan::FaultRange>>;  // by job

std::vector<AgentSummary> agent_summaries(const plan::Plan& plan, const RunMeasurements& run,
                                          const Gathered& gathered) {
  std::vector<AgentSummary> agents;
  for (std::size_t host = 0; host < plan.hosts.size(); ++host) {
    AgentSummary summary{.host = plan.hosts[host].host};
    for (std::size_t i = 0; i < run.agents.size(); ++i) {
      const AgentResult& agent = run.agents[i];
      if (agent.host.value != host) continue;
      summary.results = agent.measurements && gathered.contradictions[i].empty();
      summary.lost = agent.lost;
      const std::string crash = crash_of(plan, agent.host.value);
      if (!summary.lost.empty() && !crash.empty())
        summary.lost += " (fault '" + crash + "' of the plan crashes this agent)";
      if (!gathered.contradictions[i].empty()) {
        summary.lost = "its results contradict the plan: " + gathered.contradictions[i];
      }
    }
    agents.push_back(std::move(summary));
  }
  return agents;
}

CollectiveSummary collective_summary(const profile::Profile& profile,
                                     const measure::ClassTimes& times) {
  CollectiveSummary summary{
      .kind = std::string(profile::to_string(times.what.kind)),
      .communicator = profile.communicators[times.what.communicator.value].name,
      .ranks = times.ranks,
      .bytes = times.what.bytes,
      .count = times.instances.size(),
      .incomplete = times.incomplete,
      .rank_time = times.rank_times};
  std::vector<Duration> durations;
  for (const measure::InstanceTime& instance : times.instances) durations.push_back(instance.time);
  summary.time = measure::summarise(std::move(durations));
  if (summary.time.p50 && *summary.time.p50 > Duration::zero() && summary.bytes > Bytes{0}) {
    const double algbw = static_cast<double>(summary.bytes.count()) / to_seconds(*summary.time.p50);
    summary.algbw_bytes_per_second = algbw;
    summary.busbw_bytes_per_second = algbw * collective::busbw_factor(times.what.kind, times.ranks);
  }
  return summary;
}

JobSummary job_summary(const plan::Plan& plan, const plan::Load& load, JobIndex job,
                       std::span<const Agent> agents, const Gathered& gathered,
                       std::span<const measure::ClassTimes> classes) {
  const plan::PlannedJob& planned = plan.jobs[job.value];
  JobSummary summary{.name = planned.name,
                     .profile_identity = planned.profile_identity,
                     .ranks = planned.profile->ranks,
                     .iterations_planned = plan.iterations};
  std::vector<Duration> durations;
  std::vector<Duration> waits;
  for (const measure::IterationTime& iteration : gathered.iterations.complete(job)) {
    durations.push_back(iteration.time);
    waits.push_back(iteration.waited);
  }
  summary.iterations_completed = static_cast<std::uint32_t>(durations.size());
  summary.iteration_time = measure::summarise(std::move(durations));
  summary.iteration_waited = measure::summarise(std::move(waits));

  const plan::JobLoad& per_iteration = load.jobs[job.value];
  summary.ops_planned = per_iteration.ops * plan.iterations;
  summary.ops_completed = gathered.instances.ops_completed(job);
  summary.bytes_planned = per_iteration.on_wire * plan.iterations;
  for (const Agent& agent : agents) {
    for (const measure::JobBytes& bytes : agent.measurements->jobs) {
      if (bytes.job != job) continue;
      summary.bytes_sent += bytes.sent;
      summary.bytes_received += bytes.received;
      summary.bytes_local += bytes.local;
    }
  }
  for (const measure::ClassTimes& times : classes) {
    if (times.what.job != job) continue;
    summary.collectives.push_back(collective_summary(*planned.profile, times));
  }
  return summary;
}

const NicMeasurements* measured(std::span<const Agent> agents, HostIndex host, NicIndex nic) {
  for (const Agent& agent : agents) {
    if (agent.host != host) continue;
    for (const NicMeasurements& candidate : agent.measurements->nics) {
      if (candidate.nic == nic) return &candidate;
    }
  }
  return nullptr;
}

std::string byte_source(std::span<const Agent> agents, HostIndex host) {
  for (const Agent& agent : agents) {
    if (agent.host == host) return agent.measurements->transport.byte_source;
  }
  return "";
}

// One for every NIC that the plan loads or an agent measured.
std::vector<NicSummary> nic_summaries(const plan::Plan& plan, const plan::Load& load,
                                      std::span<const Agent> agents) {
  std::vector<NicSummary> summaries;
  for (std::uint32_t h = 0; h < plan.hosts.size(); ++h) {
    const plan::Inventory& host = plan.hosts[h];
    for (std::uint32_t n = 0; n < host.nics.size(); ++n) {
      NicSummary summary{.host = host.host,
                         .nic = host.nics[n].name,
                         .source = byte_source(agents, HostIndex{h}),
                         .line_rate = host.nics[n].line_rate};
      for (const plan::NicLoad& nic : load.nics) {
        if (nic.host.value != h || nic.nic.value != n) continue;
        summary.sent_planned += nic.sent * plan.iterations;
        summary.received_planned += nic.received * plan.iterations;
      }
      const NicMeasurements* figures = measured(agents, HostIndex{h}, NicIndex{n});
      const bool planned = summary.sent_planned + summary.received_planned > Bytes{0};
      if (figures == nullptr && !planned) continue;
      if (figures != nullptr) {
        summary.sent = figures->sent;
        summary.received = figures->received;
        summary.background_sent = figures->background_sent;
        summary.background_received = figures->background_received;
        summary.device_counters = figures->device_counters;
        summary.counters_span = figures->counters_span;
        if (!host.shared_nics) {
          summary.counter_sent = figures->counter_sent;
          summary.counter_received = figures->counter_received;
        }
      }
      summaries.push_back(std::move(summary));
    }
  }
  return summaries;
}

std::vector<StageBursts> stage_bursts(const ByteSeries& series, const StageSpans& spans) {
  constexpr std::array kStages = {Stage::before, Stage::during, Stage::after};
  std::vector<StageBursts> bursts;
  for (const Stage stage : kStages) {
    const auto& span = spans[static_cast<std::size_t>(stage)];
    if (!span) continue;
    measure::BurstStatistics statistics =
        measure::burst_statistics(series, span->first, span->second, BitRate{0});
    bursts.push_back({.stage = stage,
                      .length = statistics.length,
                      .total = statistics.total,
                      .peak_to_mean = std::move(statistics.peak_to_mean)});
  }
  return bursts;
}

BurstSummary burst_summary(const plan::Plan& plan, const Agent& agent, const NicMeasurements& nic,
                           bool sent, const ByteSeries& series, std::string source,
                           const Gathered& gathered) {
  const plan::Inventory& host = plan.hosts[agent.host.value];
  // Without a complete iteration on this host the series itself is all that is known of the run.
  const auto [begin, end] =
      gathered.iterations.span_of(agent.host)
          .value_or(std::pair{
              series.origin,
              series.origin + series.bin * static_cast<std::int64_t>(series.bytes.size())});
  return {.host = host.host,
          .nic = host.nics[nic.nic.value].name,
          .direction = sent ? "sent" : "received",
          .source = std::move(source),
          .statistics =
              measure::burst_statistics(series, begin, end, host.nics[nic.nic.value].line_rate)};
}

std::vector<BurstSummary> burst_summaries(const plan::Plan& plan, std::span<const Agent> agents,
                                          const Gathered& gathered, const FaultRanges& ranges) {
  std::vector<BurstSummary> bursts;
  for (const Agent& agent : agents) {
    const StageSpans spans = plan.faults.empty() ? StageSpans{} : stage_spans(agent, ranges);
    for (const NicMeasurements& nic : agent.measurements->nics) {
      if (nic.in_all() == Bytes{0}) continue;
      for (const NicSeries& series : series_of(nic, agent.measurements->transport.byte_source)) {
        BurstSummary& summary = bursts.emplace_back(
            burst_summary(plan, agent, nic, series.sent, *series.series, series.source, gathered));
        summary.stages = stage_bursts(*series.series, spans);
      }
    }
  }
  return bursts;
}

SyncSummary sync_summary(const plan::Plan& plan, const Gathered& gathered) {
  SyncSummary summary{.mode = std::string(plan::to_string(plan.synchronisation)),
                      .start_skew_limit = plan.limits.start_skew};
  std::vector<Duration> skews;
  for (const measure::StartSkew& skew : gathered.iterations.start_skews()) {
    // In mode free only the first iteration starts by appointment.
    if (plan.synchronisation == plan::SyncMode::free && skew.iteration != 0) continue;
    skews.push_back(skew.skew);
    summary.clock_error_bound =
        std::max(summary.clock_error_bound.value_or(Duration::zero()), skew.error_bound);
  }
  summary.start_skew = measure::summarise(std::move(skews));
  return summary;
}

std::string words_of(const std::set<std::string>& words) {
  const std::vector<std::string> list(words.begin(), words.end());
  return joined(std::span<const std::string>(list));
}

TransportSummary transport_summary(const plan::Plan& plan, std::span<const Agent> agents) {
  TransportSummary summary{.kind = std::string(plan::to_string(plan.transport.kind))};
  std::set<std::string> congestion_controls;
  std::set<std::string> receives;
  std::set<std::string> sources;
  Bytes moved;
  for (const Agent& agent : agents) {
    const measure::TransportFacts& facts = agent.measurements->transport;
    if (!facts.congestion_control.empty()) congestion_controls.insert(facts.congestion_control);
    if (!facts.receive.empty()) receives.insert(facts.receive);
    if (!facts.byte_source.empty()) sources.insert(facts.byte_source);
    summary.copied += facts.copied;
    summary.discarded += facts.discarded;
    summary.system_calls += facts.system_calls;
    summary.turn_max = std::max(summary.turn_max, facts.turn_max);
    for (const std::string& line : facts.bound)
      summary.bound.push_back(plan.hosts[agent.host.value].host + ": " + line);
    for (const NicMeasurements& nic : agent.measurements->nics) moved += nic.in_all();
  }
  summary.congestion_control = words_of(congestion_controls);
  summary.receive = words_of(receives);
  summary.byte_source = words_of(sources);
  if (moved > Bytes{0}) {
    summary.system_calls_per_mib = static_cast<double>(summary.system_calls) /
                                   (static_cast<double>(moved.count()) / (1 << 20));
  }
  return summary;
}

std::vector<AgentFlows> flows_of(std::span<const Agent> agents) {
  std::vector<AgentFlows> flows;
  for (const Agent& agent : agents) {
    flows.push_back({.host = agent.host, .measurements = &agent.measurements->flow_times});
  }
  return flows;
}

diagnosis::Observations observations_of(const plan::Plan& plan, std::span<const Agent> agents,
                                        const Gathered& gathered) {
  std::vector<measure::IterationTime> iterations;
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    const auto times = gathered.iterations.complete(JobIndex{job});
    iterations.insert(iterations.end(), times.begin(), times.end());
  }
  return observe(plan, flows_of(agents), iterations);
}

// As near to the median before as the drill asks, in its most lenient expectation.
fault::Fraction recovered_within(const plan::Plan& plan) {
  fault::Fraction within{};
  for (const plan::Expectation& expectation : plan.expectations)
    within = std::max(within, expectation.within);
  return within.millionths == 0 ? plan::kRecoveredWithin : within;
}

void compare_stages_of(const plan::Plan& plan, std::span<const Agent> agents,
                       const Gathered& gathered, const FaultRanges& ranges, Summary& summary) {
  const std::vector<AgentFlows> flows = flows_of(agents);
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    if (!ranges[job]) continue;
    StageComparison comparison = compare_stages(gathered.iterations.complete(JobIndex{job}),
                                                *ranges[job], recovered_within(plan));
    for (StageFigures& figures : comparison.stages) {
      figures.waits =
          longest_waits(flows, JobIndex{job}, figures.begin, figures.end, plan.iterations);
    }
    summary.jobs[job].stages = std::move(comparison);
  }
}

}  // namespace

Gathered gather(const plan::Plan& plan, const RunMeasurements& run) {
  std::vector<std::shared_ptr<const profile::Profile>> profiles;
  std::vector<std::uint32_t> ranks;
  for (const plan::PlannedJob& job : plan.jobs) {
    profiles.push_back(job.profile);
    ranks.push_back(job.profile->ranks);
  }
  Gathered gathered{.instances = {std::move(profiles), plan.iterations},
                    .iterations = {std::move(ranks), plan.iterations},
                    .contradictions = {}};
  for (const AgentResult& agent : run.agents) {
    std::string& contradiction = gathered.contradictions.emplace_back();
    if (!agent.measurements) continue;
    if (agent.host.value >= plan.hosts.size()) {
      contradiction = "host " + std::to_string(agent.host.value) + " is not in it";
      continue;
    }
    for (const NicMeasurements& nic : agent.measurements->nics) {
      if (nic.nic.value >= plan.hosts[agent.host.value].nics.size()) {
        contradiction = "NIC " + std::to_string(nic.nic.value) + " is not in it";
      }
    }
    if (!contradiction.empty()) continue;
    contradiction = contradiction_of(plan, agent.host, agent.measurements->flow_times);
    if (!contradiction.empty()) continue;
    const measure::PartialResults& results = agent.measurements->results;
    if (auto added = gathered.instances.add(results); !added) {
      contradiction = added.error().text();
      continue;
    }
    auto added = gathered.iterations.add(agent.host, results.iterations, agent.clocks);
    if (!added) contradiction = added.error().text();
  }
  return gathered;
}

std::vector<StagedJob> staged_jobs(const plan::Plan& plan, const RunMeasurements& run,
                                   const Gathered& gathered) {
  if (plan.faults.empty()) return {};
  const std::vector<Agent> agents = counted(run, gathered.contradictions);
  const FaultRanges ranges = fault_ranges(plan, agents, iteration_spans(plan, agents));
  std::vector<StagedJob> jobs;
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    jobs.push_back({.name = plan.jobs[job].name,
                    .times = gathered.iterations.complete(JobIndex{job}),
                    .faults = ranges[job]});
  }
  return jobs;
}

Summary build_summary(const plan::Plan& plan, const plan::Load& load, const RunMeasurements& run,
                      const Gathered& gathered) {
  const std::vector<Agent> agents = counted(run, gathered.contradictions);
  const std::vector<measure::ClassTimes> classes = gathered.instances.classes();
  Summary summary{.run = run.run,
                  .drill = plan.drill,
                  .software = run.software,
                  .started_at = run.started_at,
                  .finished_at = run.finished_at,
                  .plan_hash = run.plan_hash.empty() ? plan::plan_hash(plan) : run.plan_hash,
                  .stop = std::string(to_string(run.stop)),
                  .waited_for = run.waited_for,
                  .agents = agent_summaries(plan, run, gathered)};
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    summary.jobs.push_back(job_summary(plan, load, JobIndex{job}, agents, gathered, classes));
  }
  summary.nics = nic_summaries(plan, load, agents);
  summary.sync = sync_summary(plan, gathered);
  const IterationSpans spans =
      plan.faults.empty() ? IterationSpans{} : iteration_spans(plan, agents);
  const FaultRanges ranges = fault_ranges(plan, agents, spans);
  summary.bursts = burst_summaries(plan, agents, gathered, ranges);
  summary.transport = transport_summary(plan, agents);
  summary.transport.notes = transport_notes(plan, summary);
  const auto suspects = suspects_of(observations_of(plan, agents, gathered));
  summary.suspects = in_names(plan, suspects);
  if (!plan.faults.empty()) {
    compare_stages_of(plan, agents, gathered, ranges, summary);
    summary.faults = fault_summaries(plan, run);
    find_faults(plan, suspects, summary.suspects, summary.faults);
    if (const auto start = first_start(run))
      summary.timeline = timeline_of(plan, spans, *start, summary);
  }
  summary.warnings = warnings(plan, summary);
  return summary;
}

}  // namespace rehearsal::report

#include "core/report/verdict.hpp"

#include <algorithm>
#include <array>

#include "core/base/names.hpp"
#include "core/base/table.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/plan/checks.hpp"
#include "core/plan/expectations.hpp"
#include "core/report/fault_expectations.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {
namespace {

constexpr std::array kVerdicts = {Verdict::pass, Verdict::warn, Verdict::fail, Verdict::unknown};
constexpr std::array kStopReasons = {StopReason::finished, StopReason::stopped,
                                     StopReason::timed_out, StopReason::agent_lost,
                                     StopReason::failed};

std::string bytes_text(Bytes bytes) { return grouped(bytes.count()) + " B"; }

std::string with_detail(std::string sentence, const std::string& detail) {
  return sentence + (detail.empty() ? "." : ": " + detail + ".");
}

std::string waited_for(const RunMeasurements& run) {
  if (run.waited_for.empty()) return "";
  return " Waited for " + joined(std::span<const std::string>(run.waited_for)) + ".";
}

std::string progress(const Summary& figures) {
  std::string text;
  for (const JobSummary& job : figures.jobs) {
    text += (text.empty() ? "" : ", ") + std::to_string(job.iterations_completed) + " of " +
            std::to_string(job.iterations_planned) + " iterations of " + job.name;
  }
  return text;
}

// Faults of the kernel that were not as planned; what could not be undone first.
std::vector<std::string> fault_problems(const RunMeasurements& run, const Summary& figures) {
  std::vector<std::string> reasons;
  for (const FaultSummary& fault : figures.faults) {
    for (const FaultProblemSummary& problem : fault.problems) {
      if (run.stop_detail.find(problem.text) != std::string::npos) continue;  // told already
      const bool stays = problem.text.starts_with("STUCK");
      reasons.insert(
          stays ? reasons.begin() : reasons.end(),
          "Fault " + fault.name + " on host " + problem.host + ": " + problem.text + ".");
    }
  }
  return reasons;
}

// Why nothing can be said, if so.
std::vector<std::string> obstacles(const RunMeasurements& run, const Summary& figures) {
  std::vector<std::string> reasons = fault_problems(run, figures);
  for (const AgentSummary& agent : figures.agents) {
    if (!agent.lost.empty()) reasons.push_back("Agent " + agent.host + ": " + agent.lost + ".");
  }
  switch (run.stop) {
    case StopReason::finished:
      break;
    case StopReason::stopped:
      reasons.push_back("The operator stopped the run after " + progress(figures) +
                        "; the report is partial.");
      break;
    case StopReason::timed_out:
      reasons.push_back(with_detail("The run timed out", run.stop_detail) + waited_for(run));
      break;
    case StopReason::agent_lost:
      reasons.push_back(with_detail("The run ended because an agent was lost", run.stop_detail) +
                        waited_for(run));
      break;
    case StopReason::failed:
      reasons.push_back(with_detail("The run could not go on", run.stop_detail) + waited_for(run));
      break;
  }
  for (const AgentSummary& agent : figures.agents) {
    if (agent.results || !agent.lost.empty()) continue;
    reasons.push_back("No measurements came from agent " + agent.host + ".");
  }
  return reasons;
}

std::vector<std::string> shortfalls(const Summary& figures) {
  std::vector<std::string> reasons;
  for (const JobSummary& job : figures.jobs) {
    const auto differs = [&](const std::string& what, const std::string& actual,
                             const std::string& planned) {
      if (actual == planned) return;
      reasons.push_back("Job " + job.name + ": " + what + " " + actual + ", planned " + planned +
                        ".");
    };
    differs("iterations completed", std::to_string(job.iterations_completed),
            std::to_string(job.iterations_planned));
    differs("ops completed", grouped(job.ops_completed), grouped(job.ops_planned));
    differs("bytes sent", bytes_text(job.bytes_sent), bytes_text(job.bytes_planned));
    differs("bytes received", bytes_text(job.bytes_received), bytes_text(job.bytes_planned));
  }
  for (const NicSummary& nic : figures.nics) {
    const std::string name = nic.host + " " + nic.nic;
    if (nic.sent != nic.sent_planned) {
      reasons.push_back("NIC " + name + ": sent " + bytes_text(nic.sent) + ", planned " +
                        bytes_text(nic.sent_planned) + ".");
    }
    if (nic.received != nic.received_planned) {
      reasons.push_back("NIC " + name + ": received " + bytes_text(nic.received) + ", planned " +
                        bytes_text(nic.received_planned) + ".");
    }
  }
  return reasons;
}

Checked at_most(const std::string& what, const std::optional<Duration>& value, Duration limit) {
  const std::string expected = "expected at most " + format_duration(limit) + ".";
  if (!value) return {Checked::Outcome::not_measured, what + " was not measured, " + expected};
  if (*value <= limit) return {};
  return {Checked::Outcome::missed, what + " is " + format_duration(*value) + ", " + expected};
}

// Of the largest size of that kind in each communicator: bandwidth is not what small messages are
// for.
Checked busbw_at_least(const JobSummary& job, profile::OpKind kind, BitRate limit) {
  const std::string what =
      "Job " + job.name + ": busbw of " + std::string(profile::to_string(kind));
  const std::string expected =
      ", expected at least " + format_bit_rate(static_cast<double>(limit.bits_per_second())) + ".";
  Bytes largest;
  for (const CollectiveSummary& entry : job.collectives) {
    if (entry.kind == profile::to_string(kind)) largest = std::max(largest, entry.bytes);
  }
  std::optional<double> slowest;
  for (const CollectiveSummary& entry : job.collectives) {
    if (entry.kind != profile::to_string(kind) || entry.bytes != largest) continue;
    if (!entry.busbw_bytes_per_second) continue;
    slowest =
        std::min(slowest.value_or(*entry.busbw_bytes_per_second), *entry.busbw_bytes_per_second);
  }
  if (!slowest) return {Checked::Outcome::not_measured, what + " was not measured" + expected};
  if (*slowest >= limit.bytes_per_second()) return {};
  return {Checked::Outcome::missed,
          what + " (" + format_bytes(largest) + ") is " + format_bit_rate(*slowest * 8) + expected};
}

std::vector<Checked> check(const plan::Expectation& expectation, const Summary& figures,
                           std::span<const StagedJob> jobs) {
  if (expectation.metric == "found") return check_found(expectation, figures.faults);
  if (plan::needs_stages(expectation)) return check_stages(expectation, jobs);
  if (expectation.metric == "start_skew_max") {
    return {at_most("Start skew (max)", figures.sync.start_skew.max, expectation.at_most)};
  }
  std::vector<Checked> checked;
  for (const JobSummary& job : figures.jobs) {
    const std::string of_job = "Job " + job.name + ": ";
    if (expectation.metric == "iteration_p50") {
      checked.push_back(
          at_most(of_job + "iteration p50", job.iteration_time.p50, expectation.at_most));
    } else if (expectation.metric == "iteration_p99") {
      checked.push_back(
          at_most(of_job + "iteration p99", job.iteration_time.p99, expectation.at_most));
    } else if (const auto kind = plan::kind_of_metric(expectation.metric)) {
      checked.push_back(busbw_at_least(job, *kind, expectation.at_least));
    } else {
      checked.push_back({Checked::Outcome::not_measured,
                         "Expectation '" + expectation.metric + "' names no metric."});
    }
  }
  return checked;
}

std::vector<std::string> limits_passed(const Summary& figures) {
  const SyncSummary& sync = figures.sync;
  if (sync.start_skew_limit == Duration::zero()) return {};
  const std::string limit = "the limit is " + format_duration(sync.start_skew_limit) + ".";
  if (!sync.start_skew.max) return {"Start skew was not measured, " + limit};
  if (*sync.start_skew.max <= sync.start_skew_limit) return {};
  return {"Start skew reached " + format_duration(*sync.start_skew.max) + " (± " +
          format_duration(sync.clock_error_bound.value_or(Duration::zero())) + "), " + limit};
}

std::string all_done(const plan::Plan& plan, const Summary& figures) {
  std::uint64_t ops = 0;
  Bytes bytes;
  for (const JobSummary& job : figures.jobs) {
    ops += job.ops_completed;
    bytes += job.bytes_received;
  }
  std::string text = "All " + grouped(ops) + " ops planned were completed and all " +
                     bytes_text(bytes) + " received";
  if (!plan.expectations.empty()) {
    text += "; " + std::to_string(plan.expectations.size()) +
            (plan.expectations.size() == 1 ? " expectation is met" : " expectations are met");
  }
  return text + ".";
}

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::finished:
      return "finished";
    case StopReason::stopped:
      return "stopped";
    case StopReason::timed_out:
      return "timed_out";
    case StopReason::agent_lost:
      return "agent_lost";
    case StopReason::failed:
      return "failed";
  }
  return "";
}

std::optional<StopReason> stop_reason(std::string_view name) {
  return value_named(kStopReasons, name);
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::warn:
      return "warn";
    case Verdict::fail:
      return "fail";
    case Verdict::unknown:
      return "unknown";
  }
  return "";
}

std::optional<Verdict> verdict_from(std::string_view name) { return value_named(kVerdicts, name); }

int exit_code(Verdict verdict) { return static_cast<int>(verdict); }

Judgement judge(const plan::Plan& plan, const RunMeasurements& run, const Summary& figures,
                std::span<const StagedJob> jobs) {
  const std::vector<std::string> short_of = shortfalls(figures);
  if (auto reasons = obstacles(run, figures); !reasons.empty()) {
    append(reasons, short_of);
    return {.verdict = Verdict::unknown, .reasons = std::move(reasons)};
  }

  std::vector<std::string> missed = short_of;
  std::vector<std::string> not_measured;
  std::vector<std::string> met;  // of faults, as these are what such a drill is about
  for (const plan::Expectation& expectation : plan.expectations) {
    for (Checked& checked : check(expectation, figures, jobs)) {
      if (checked.reason.empty()) continue;
      auto& reasons = checked.outcome == Checked::Outcome::missed         ? missed
                      : checked.outcome == Checked::Outcome::not_measured ? not_measured
                                                                          : met;
      reasons.push_back(std::move(checked.reason));
    }
  }
  const std::vector<std::string> passed_limits = limits_passed(figures);
  const Verdict verdict = !missed.empty()          ? Verdict::fail
                          : !not_measured.empty()  ? Verdict::unknown
                          : !passed_limits.empty() ? Verdict::warn
                                                   : Verdict::pass;
  std::vector<std::string> reasons = std::move(missed);
  append(reasons, std::move(not_measured));
  append(reasons, passed_limits);
  if (verdict == Verdict::pass) reasons.push_back(all_done(plan, figures));
  append(reasons, std::move(met));
  return {.verdict = verdict, .reasons = std::move(reasons)};
}

}  // namespace rehearsal::report

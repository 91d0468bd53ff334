#include "core/report/fault_expectations.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/units.hpp"
#include "core/report/stages.hpp"

namespace rehearsal::report {
namespace {

using Outcome = Checked::Outcome;
using plan::Expectation;

std::string number(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.2f", value);
  return buffer.data();
}

std::string iterations_of(std::uint32_t count) {
  return std::to_string(count) + (count == 1 ? " iteration" : " iterations");
}

std::string_view where(Stage stage) {
  switch (stage) {
    case Stage::before:
      return "before the faults";
    case Stage::during:
      return "during the faults";
    case Stage::after:
      return "after the faults";
  }
  return "";
}

std::optional<Duration> figure_of(const Expectation& expectation, const StageFigures& figures) {
  if (expectation.metric == "iteration_p99") return figures.time.p99;
  if (expectation.metric == "iteration_tail") return figures.tail;
  return figures.time.p50;
}

Checked check_figure(const Expectation& expectation, const StageComparison& comparison) {
  const Stage stage = expectation.stage.value_or(Stage::during);
  const auto value = figure_of(expectation, comparison.stages[static_cast<std::size_t>(stage)]);
  std::string what = "iteration " + expectation.metric.substr(expectation.metric.find('_') + 1) +
                     " " + std::string(where(stage));
  if (expectation.at_most > Duration::zero()) {
    const std::string asked = ", expected at most " + format_duration(expectation.at_most) + ".";
    if (!value) return {Outcome::not_measured, what + " was not measured" + asked};
    const bool met = *value <= expectation.at_most;
    return {met ? Outcome::met : Outcome::missed, what + " is " + format_duration(*value) + asked};
  }
  const auto before = figure_of(expectation, comparison.stages[0]);
  const double most =
      static_cast<double>(expectation.at_most_of_before.millionths) / fault::Fraction::kWhole;
  const std::string asked = ", expected at most " + number(most) + " times.";
  if (!value || !before || *before <= Duration::zero())
    return {Outcome::not_measured, what + " was not measured, or not before them" + asked};
  // Compared in whole numbers, so that twice is not a hair more than twice.
  const std::uint64_t bound =
      fault::part_of(static_cast<std::uint64_t>(before->count()), expectation.at_most_of_before);
  const bool met = static_cast<std::uint64_t>(value->count()) <= bound;
  return {met ? Outcome::met : Outcome::missed,
          what + " is " + format_duration(*value) + ", " +
              number(to_seconds(*value) / to_seconds(*before)) + " times that before" + asked};
}

bool in_time(const Expectation& expectation, const Reached& reached) {
  if (expectation.iterations != 0) return reached.iterations <= expectation.iterations;
  return reached.time <= expectation.at_most;
}

std::string bound_of(const Expectation& expectation) {
  return ", expected in at most " +
         (expectation.iterations != 0 ? iterations_of(expectation.iterations)
                                      : format_duration(expectation.at_most)) +
         ".";
}

std::string took(const Reached& reached) {
  return "in " + iterations_of(reached.iterations) + " (" + format_duration(reached.time) + ")";
}

Checked check_recovery(const Expectation& expectation, const StageComparison& comparison) {
  const std::string near = "to within " + fault::format_fraction(expectation.within) + " of before";
  if (!comparison.stages[0].time.p50 || comparison.stages[2].time.count == 0)
    return {Outcome::not_measured,
            "recovery " + near + " was not measured" + bound_of(expectation)};
  if (!comparison.recovered)
    return {Outcome::missed, "no recovery " + near + bound_of(expectation)};
  return {in_time(expectation, *comparison.recovered) ? Outcome::met : Outcome::missed,
          "recovery " + near + " " + took(*comparison.recovered) + bound_of(expectation)};
}

StageComparison compared(const StagedJob& job, const Expectation& expectation) {
  return compare_stages(job.times, *job.faults, expectation.within);
}

Checked check_job(const Expectation& expectation, const StagedJob& job) {
  Checked checked{Outcome::not_measured,
                  expectation.metric + ": it is not known in which iterations faults were on."};
  if (job.faults) {
    const StageComparison comparison = compared(job, expectation);
    checked = expectation.metric == "recovery" ? check_recovery(expectation, comparison)
                                               : check_figure(expectation, comparison);
  }
  checked.reason = "Job " + job.name + ": " + checked.reason;
  return checked;
}

Checked check_notice(const Expectation& expectation, std::span<const StagedJob> jobs) {
  const StagedJob* first = nullptr;
  std::optional<Reached> reached;
  bool measured = false;
  for (const StagedJob& job : jobs) {
    if (!job.faults) continue;
    const StageComparison comparison = compared(job, expectation);
    measured |= comparison.stages[0].time.count > 0 && comparison.stages[1].time.count > 0;
    if (!comparison.noticed) continue;
    if (reached && reached->time <= comparison.noticed->time) continue;
    first = &job;
    reached = comparison.noticed;
  }
  if (!measured)
    return {Outcome::not_measured,
            "Whether the faults are noticed was not measured" + bound_of(expectation)};
  if (!reached) return {Outcome::missed, "No job noticed the faults" + bound_of(expectation)};
  return {in_time(expectation, *reached) ? Outcome::met : Outcome::missed,
          "Job " + first->name + " noticed the faults " + took(*reached) + bound_of(expectation)};
}

Checked check_found(const FaultSummary& fault) {
  switch (fault.found) {
    case Found::yes:
      return {Outcome::met, fault.finding};
    case Found::no:
      return {Outcome::missed, fault.finding};
    case Found::not_applicable:
      return {Outcome::not_measured, fault.finding};
  }
  return {};
}

}  // namespace

std::vector<Checked> check_stages(const Expectation& expectation, std::span<const StagedJob> jobs) {
  if (expectation.metric == "notice") return {check_notice(expectation, jobs)};
  std::vector<Checked> checked;
  for (const StagedJob& job : jobs) checked.push_back(check_job(expectation, job));
  return checked;
}

std::vector<Checked> check_found(const Expectation& expectation,
                                 std::span<const FaultSummary> faults) {
  std::vector<Checked> checked;
  for (const FaultSummary& fault : faults) {
    const bool asked = expectation.of_fault.empty() ? fault.found != Found::not_applicable
                                                    : fault.name == expectation.of_fault;
    if (asked) checked.push_back(check_found(fault));
  }
  if (checked.empty())
    checked.push_back({Outcome::not_measured, "No fault was on that could have been found."});
  return checked;
}

}  // namespace rehearsal::report

#include "core/report/stages.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <tuple>

#include "core/base/names.hpp"
#include "core/base/table.hpp"
#include "core/base/units.hpp"

namespace rehearsal::report {
namespace {

using measure::IterationTime;

constexpr std::array kStages = {Stage::before, Stage::during, Stage::after};
// So many iterations in a row are no accident.
constexpr std::size_t kSteady = 3;
// What hardly differs from the median was not to be noticed.
constexpr double kNoticed = 1.05;
constexpr std::size_t kTailOf = 10;

Duration times(Duration duration, double factor) {
  return Duration{static_cast<std::int64_t>(static_cast<double>(duration.count()) * factor)};
}

std::span<const IterationTime> within(std::span<const IterationTime> all, std::uint32_t begin,
                                      std::uint32_t end) {
  const auto first = std::ranges::lower_bound(all, begin, {}, &IterationTime::iteration);
  const auto last = std::ranges::lower_bound(all, end, {}, &IterationTime::iteration);
  return {first, last};
}

Duration sum_of(std::span<const IterationTime> iterations) {
  return std::accumulate(
      iterations.begin(), iterations.end(), Duration{0},
      [](Duration sum, const IterationTime& iteration) { return sum + iteration.time; });
}

StageFigures figures_of(Stage stage, std::span<const IterationTime> iterations, std::uint32_t begin,
                        std::uint32_t end) {
  StageFigures figures{.stage = stage, .begin = begin, .end = end};
  std::vector<Duration> durations;
  for (const IterationTime& iteration : iterations) durations.push_back(iteration.time);
  if (!durations.empty()) {
    std::ranges::sort(durations, std::greater<>());
    const std::size_t slowest = (durations.size() + kTailOf - 1) / kTailOf;
    const auto tail = std::span(durations).first(slowest);
    figures.tail =
        std::accumulate(tail.begin(), tail.end(), Duration{0}) / static_cast<std::int64_t>(slowest);
  }
  figures.time = measure::summarise(std::move(durations));
  return figures;
}

// How many of the first iterations come before a steady row within the bound.
std::optional<std::size_t> steady_from(std::span<const IterationTime> iterations, Duration most) {
  std::size_t row = 0;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    row = iterations[i].time <= most ? row + 1 : 0;
    if (row == kSteady) return i + 1 - kSteady;
  }
  if (row == 0) return std::nullopt;
  return iterations.size() - row;
}

std::string number(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.2f", value);
  return buffer.data();
}

std::string shown(const std::optional<Duration>& duration) {
  return duration ? format_duration(*duration) : "–";
}

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::before:
      return "before";
    case Stage::during:
      return "during";
    case Stage::after:
      return "after";
  }
  return "";
}

std::optional<Stage> stage_from(std::string_view name) { return value_named(kStages, name); }

StageComparison compare_stages(std::span<const IterationTime> times_of_job, FaultRange faults,
                               double recovered_within) {
  const std::uint32_t end = times_of_job.empty() ? 0 : times_of_job.back().iteration + 1;
  const auto before = within(times_of_job, 0, faults.begin);
  const auto during = within(times_of_job, faults.begin, faults.end);
  const auto after = within(times_of_job, faults.end, end);
  StageComparison comparison;
  comparison.stages = {figures_of(Stage::before, before, 0, faults.begin),
                       figures_of(Stage::during, during, faults.begin, std::min(faults.end, end)),
                       figures_of(Stage::after, after, std::min(faults.end, end), end)};
  const measure::DurationSummary& steady = comparison.stages[0].time;
  if (!steady.p50 || *steady.p50 <= Duration::zero()) return comparison;
  for (StageFigures& figures : comparison.stages) {
    if (figures.time.p50)
      figures.times_before = to_seconds(*figures.time.p50) / to_seconds(*steady.p50);
  }

  const Duration usual = std::max(*steady.max, times(*steady.p50, kNoticed));
  const auto noticed =
      std::ranges::find_if(during, [&](const IterationTime& i) { return i.time > usual; });
  if (noticed != during.end()) {
    const auto count = static_cast<std::size_t>(noticed - during.begin()) + 1;
    comparison.iterations_to_notice = static_cast<std::uint32_t>(count);
    comparison.time_to_notice = sum_of(during.first(count));
  }
  if (const auto from = steady_from(after, times(*steady.p50, 1 + recovered_within))) {
    comparison.iterations_to_recover = static_cast<std::uint32_t>(*from);
    comparison.time_to_recover = sum_of(after.first(*from));
  }
  return comparison;
}

std::vector<Wait> longest_waits(std::span<const AgentFlows> agents, std::uint32_t begin,
                                std::uint32_t end, std::uint32_t iterations) {
  std::map<std::tuple<JobIndex, Rank, Rank, bool>, Duration> waits;
  std::uint32_t counted = 0;
  for (const AgentFlows& agent : agents) {
    const std::vector<std::uint32_t>& windows = agent.measurements->windows;
    counted = 0;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::uint32_t until = i + 1 < windows.size() ? windows[i + 1] : iterations;
      if (windows[i] < begin || until > end) continue;
      counted += until - windows[i];
      for (const measure::FlowTimes& flow : agent.measurements->flows) {
        const Rank waiting = flow.outgoing ? flow.source : flow.destination;
        const Rank awaited = flow.outgoing ? flow.destination : flow.source;
        waits[{flow.job, waiting, awaited, flow.outgoing}] += flow.windows[i].stood;
      }
    }
  }
  std::vector<Wait> longest;
  for (const auto& [who, time] : waits) {
    const auto& [job, waiting, awaited, for_credit] = who;
    if (time > Duration::zero()) longest.push_back({job, waiting, awaited, for_credit, time});
  }
  std::ranges::stable_sort(longest, std::greater<>(), &Wait::time);
  longest.resize(std::min(longest.size(), kWaitsMax));
  for (Wait& wait : longest) wait.time /= counted;
  return longest;
}

StageJudgement judge_stage(std::span<const IterationTime> times_of_job, FaultRange faults,
                           const StageExpectation& expectation) {
  using enum StageJudgement::Outcome;
  const std::string stage(to_string(expectation.stage));
  if (expectation.within_of_before) {
    const StageComparison comparison =
        compare_stages(times_of_job, faults, *expectation.within_of_before);
    const std::string asked = "to within " + number(*expectation.within_of_before * 100) +
                              " % of before in " + std::to_string(expectation.in_iterations) +
                              " iterations.";
    if (!comparison.stages[0].time.p50 || comparison.stages[2].time.count == 0)
      return {not_measured, "Whether the job recovers was not measured, expected " + asked};
    if (!comparison.iterations_to_recover)
      return {missed, "The job did not recover, expected " + asked};
    const bool soon = *comparison.iterations_to_recover <= expectation.in_iterations;
    return {soon ? met : missed, "The job recovered in " +
                                     std::to_string(*comparison.iterations_to_recover) +
                                     " iterations, expected " + asked};
  }
  const StageComparison comparison = compare_stages(times_of_job, faults);
  const auto& before = comparison.stages[0].time;
  const auto& figures = comparison.stages[static_cast<std::size_t>(expectation.stage)].time;
  const auto& value = expectation.p99 ? figures.p99 : figures.p50;
  const auto& reference = expectation.p99 ? before.p99 : before.p50;
  const double most = expectation.at_most_times_before.value_or(1);
  const std::string what = std::string("Iteration ") + (expectation.p99 ? "p99 " : "p50 ") + stage;
  const std::string asked = "expected at most " + number(most) + " times that before.";
  if (!value || !reference || *reference <= Duration::zero())
    return {not_measured, what + " was not measured, " + asked};
  const double ratio = to_seconds(*value) / to_seconds(*reference);
  return {ratio <= most ? met : missed, what + " is " + format_duration(*value) + ", " +
                                            number(ratio) + " times that before, " + asked};
}

std::string stage_table(const StageComparison& comparison, std::string_view job) {
  using enum Table::Align;
  Table table({{"stages of " + std::string(job)},
               {"iterations", right},
               {"p50", right},
               {"p99", right},
               {"slowest tenth", right},
               {"of before", right}});
  for (const StageFigures& figures : comparison.stages) {
    table.add({std::string(to_string(figures.stage)), grouped(figures.time.count),
               shown(figures.time.p50), shown(figures.time.p99), shown(figures.tail),
               figures.times_before ? number(*figures.times_before) : "–"});
  }
  std::string text = table.text();
  const auto line = [&](const char* what, const std::optional<std::uint32_t>& iterations,
                        const std::optional<Duration>& time, const char* never) {
    text += std::string("  ") + what;
    text += iterations
                ? " after " + std::to_string(*iterations) + " iterations (" + shown(time) + ")"
                : std::string(never);
    text += "\n";
  };
  line("noticed", comparison.iterations_to_notice, comparison.time_to_notice, ": no");
  line("recovered", comparison.iterations_to_recover, comparison.time_to_recover, ": no");
  for (const StageFigures& figures : comparison.stages) {
    for (const Wait& wait : figures.waits) {
      text += "  " + std::string(to_string(figures.stage)) + ": rank " +
              std::to_string(wait.waiting.value) + " waited " + format_duration(wait.time) +
              " of an iteration for " + (wait.for_credit ? "a credit" : "messages") + " of rank " +
              std::to_string(wait.awaited.value) + "\n";
    }
  }
  return text;
}

}  // namespace rehearsal::report

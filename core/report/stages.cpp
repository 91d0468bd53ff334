#include "core/report/stages.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <tuple>

#include "core/base/table.hpp"
#include "core/base/units.hpp"

namespace rehearsal::report {
namespace {

using measure::IterationTime;

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

Duration part_of(Duration whole, fault::Fraction part) {
  return Duration{
      static_cast<std::int64_t>(fault::part_of(static_cast<std::uint64_t>(whole.count()), part))};
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

StageComparison compare_stages(std::span<const IterationTime> times_of_job, FaultRange faults,
                               fault::Fraction recovered_within) {
  const std::uint32_t end = times_of_job.empty() ? 0 : times_of_job.back().iteration + 1;
  const auto before = within(times_of_job, 0, faults.begin);
  const auto during = within(times_of_job, faults.begin, faults.end);
  const auto after = within(times_of_job, faults.end, end);
  StageComparison comparison{.recovered_within = recovered_within};
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
    comparison.noticed = Reached{.iteration = noticed->iteration,
                                 .iterations = static_cast<std::uint32_t>(count),
                                 .time = sum_of(during.first(count))};
  }
  const Duration near = *steady.p50 + part_of(*steady.p50, recovered_within);
  if (const auto from = steady_from(after, near)) {
    comparison.recovered = Reached{.iteration = after[*from].iteration,
                                   .iterations = static_cast<std::uint32_t>(*from),
                                   .time = sum_of(after.first(*from))};
  }
  return comparison;
}

std::vector<Wait> longest_waits(std::span<const AgentFlows> agents, JobIndex job,
                                std::uint32_t begin, std::uint32_t end, std::uint32_t iterations) {
  std::map<std::tuple<Rank, Rank, bool>, Duration> waits;
  std::uint32_t counted = 0;
  for (const AgentFlows& agent : agents) {
    const std::vector<std::uint32_t>& windows = agent.measurements->windows;
    std::uint32_t counted_here = 0;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const std::uint32_t until = i + 1 < windows.size() ? windows[i + 1] : iterations;
      if (windows[i] < begin || until > end) continue;
      counted_here += until - windows[i];
      for (const measure::FlowTimes& flow : agent.measurements->flows) {
        if (flow.job != job) continue;
        const Rank waiting = flow.outgoing ? flow.source : flow.destination;
        const Rank awaited = flow.outgoing ? flow.destination : flow.source;
        waits[{waiting, awaited, flow.outgoing}] += flow.windows[i].stood;
      }
    }
    counted = std::max(counted, counted_here);
  }
  std::vector<Wait> longest;
  for (const auto& [who, time] : waits) {
    const auto& [waiting, awaited, for_credit] = who;
    if (time > Duration::zero()) longest.push_back({waiting, awaited, for_credit, time});
  }
  std::ranges::stable_sort(longest, std::greater<>(), &Wait::time);
  longest.resize(std::min(longest.size(), kWaitsMax));
  for (Wait& wait : longest) wait.time /= counted;
  return longest;
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
  const auto line = [&](const std::string& what, const std::optional<Reached>& reached) {
    text += "  " + what;
    if (!reached) {
      text += ": no";
    } else if (reached->iterations == 0) {
      text += " at once";
    } else {
      text += " after " + std::to_string(reached->iterations) +
              (reached->iterations == 1 ? " iteration (" : " iterations (") + shown(reached->time) +
              ")";
    }
    text += "\n";
  };
  line("noticed", comparison.noticed);
  line("recovered to within " + fault::format_fraction(comparison.recovered_within),
       comparison.recovered);
  for (const StageFigures& figures : comparison.stages) {
    for (const Wait& wait : figures.waits) {
      text += "  " + std::string(to_string(figures.stage)) + ": rank " +
              std::to_string(wait.waiting.value) + " waited for " +
              (wait.for_credit ? "credits" : "messages") + " of rank " +
              std::to_string(wait.awaited.value) + ", " + format_duration(wait.time) +
              " an iteration over all channels\n";
    }
  }
  return text;
}

}  // namespace rehearsal::report

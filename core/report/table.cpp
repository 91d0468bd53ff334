#include "core/report/table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/table.hpp"
#include "core/base/units.hpp"
#include "core/report/timeline.hpp"

namespace rehearsal::report {
namespace {

constexpr std::string_view kAbsent = "–";
constexpr std::string_view kIndent = "  ";
// A large cluster has thousands of NICs; all of them are in summary.json.
constexpr std::size_t kBurstRowsMax = 16;
constexpr std::size_t kSuspectRowsMax = 4;
constexpr std::size_t kCollectiveRowsMax = 40;
// The window by which the bursts of stages are compared; all are in summary.json.
constexpr Duration kStageWindow = std::chrono::milliseconds{5};

std::string shown(const std::optional<Duration>& duration) {
  return duration ? format_duration(*duration) : std::string(kAbsent);
}

std::string shown_rate(const std::optional<double>& bytes_per_second) {
  return bytes_per_second ? format_bit_rate(*bytes_per_second * 8) : std::string(kAbsent);
}

std::string shown_ratio(const measure::PeakToMean& figure) {
  if (!figure.value) return std::string(kAbsent);
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.2f%s", *figure.value,
                figure.resolution_ok ? "" : "~");
  return buffer.data();
}

// Lines of at most kTableWidthMax columns, broken between words.
std::string wrapped(std::string_view text, std::string_view indent, std::string_view first) {
  std::string result(first);
  std::size_t column = first.size();
  bool at_start = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!at_start && column + 1 + word.size() > kTableWidthMax) {
      result += "\n" + std::string(indent);
      column = indent.size();
      at_start = true;
    }
    if (!at_start) result += " ";
    result += word;
    column += word.size() + (at_start ? 0 : 1);
    at_start = false;
  }
  return result + "\n";
}

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "\033[1;32m";
    case Verdict::warn:
      return "\033[1;33m";
    case Verdict::fail:
      return "\033[1;31m";
    case Verdict::unknown:
      return "\033[1;35m";
  }
  return "";
}

std::string upper(std::string_view word) {
  std::string result;
  for (const char c : word) {
    result.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return result;
}

std::string rest(std::size_t rows, std::size_t rows_max) {
  if (rows <= rows_max) return "";
  return std::string(kIndent) + "and " + grouped(rows - rows_max) + " more in summary.json\n";
}

std::string suspect_lines(const Summary& summary) {
  if (!summary.suspects) return "";
  if (summary.suspects->empty()) {
    return std::string(kIndent) + "Suspect: nobody; no NIC, link, host or rank stands out.\n";
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(summary.suspects->size(), kSuspectRowsMax); ++i) {
    const SuspectSummary& suspect = (*summary.suspects)[i];
    std::array<char, 32> confidence{};
    std::snprintf(confidence.data(), confidence.size(), "confidence %.1f", suspect.confidence);
    text +=
        wrapped("Suspect: " + suspect.finding + ", " + confidence.data() + ". " + suspect.evidence,
                kIndent, kIndent);
  }
  return text + rest(summary.suspects->size(), kSuspectRowsMax);
}

std::string verdict_lines(const Summary& summary, bool colour) {
  std::string word = upper(to_string(summary.verdict));
  if (colour) word = std::string(colour_of(summary.verdict)) + word + "\033[0m";
  std::string text = word + "  " + summary.drill;
  if (!summary.run.empty()) text += "  run " + summary.run;
  text += "  plan " + summary.plan_hash.substr(0, 12) + "\n";
  for (const std::string& reason : summary.reasons) text += wrapped(reason, kIndent, kIndent);
  text += suspect_lines(summary);
  for (const FaultSummary& fault : summary.faults) {
    // An expectation of it has said so already.
    const bool said = std::ranges::count(summary.reasons, fault.finding) != 0;
    if (!fault.finding.empty() && !said) text += wrapped(fault.finding, kIndent, kIndent);
  }
  for (const std::string& warning : summary.warnings) {
    text += wrapped("Note: " + warning, kIndent, kIndent);
  }
  return text;
}

std::string collectives_of(const JobSummary& job) {
  using enum Table::Align;
  Table table({{"collective"},
               {"communicator"},
               {"bytes", right},
               {"count", right},
               {"p50", right},
               {"p99", right},
               {"algbw", right},
               {"busbw", right}});
  for (const CollectiveSummary& entry : job.collectives) {
    if (table.rows() == kCollectiveRowsMax) break;
    table.add({entry.kind, entry.communicator, format_bytes(entry.bytes),
               grouped(entry.count) + (entry.incomplete > 0 ? "*" : ""), shown(entry.time.p50),
               shown(entry.time.p99), shown_rate(entry.algbw_bytes_per_second),
               shown_rate(entry.busbw_bytes_per_second)});
  }
  std::string text = table.text(kIndent) + rest(job.collectives.size(), kCollectiveRowsMax);
  for (const CollectiveSummary& entry : job.collectives) {
    if (entry.incomplete == 0) continue;
    return text + std::string(kIndent) + "* further ones that some rank did not complete\n";
  }
  return text;
}

std::string job_lines(const JobSummary& job) {
  std::string text = "Job " + job.name + "  " + grouped(job.ranks) + " ranks, ops " +
                     grouped(job.ops_completed) + " of " + grouped(job.ops_planned) + "\n";
  if (!job.collectives.empty()) text += collectives_of(job);
  return text;
}

std::string iteration_lines(const Summary& summary) {
  using enum Table::Align;
  Table table({{"iterations"},
               {"done", right},
               {"mean", right},
               {"p50", right},
               {"p95", right},
               {"p99", right},
               {"max", right}});
  for (const JobSummary& job : summary.jobs) {
    const measure::DurationSummary& time = job.iteration_time;
    table.add(
        {job.name, grouped(job.iterations_completed) + " of " + grouped(job.iterations_planned),
         shown(time.mean), shown(time.p50), shown(time.p95), shown(time.p99), shown(time.max)});
  }
  std::string text = table.text();
  const SyncSummary& sync = summary.sync;
  text += "Start skew  p50 " + shown(sync.start_skew.p50) + "  p99 " + shown(sync.start_skew.p99) +
          "  max " + shown(sync.start_skew.max) + "  (± " + shown(sync.clock_error_bound) +
          "), in step by " + sync.mode + "\n";
  return text;
}

std::string byte_lines(const Summary& summary) {
  using enum Table::Align;
  Table table(
      {{"bytes"}, {"planned", right}, {"sent", right}, {"received", right}, {"local", right}});
  for (const JobSummary& job : summary.jobs) {
    table.add({job.name, grouped(job.bytes_planned.count()), grouped(job.bytes_sent.count()),
               grouped(job.bytes_received.count()), grouped(job.bytes_local.count())});
  }
  return table.text();
}

// The figure of the shortest window, by which bursts are ranked.
double sharpness(const BurstSummary& burst) {
  const auto& figures = burst.statistics.peak_to_mean;
  return figures.empty() ? 0 : figures.front().value.value_or(0);
}

// All, or of many those with the sharpest bursts, in the order of the summary.
std::vector<const BurstSummary*> shown_bursts(const Summary& summary) {
  std::vector<const BurstSummary*> bursts;
  for (const BurstSummary& burst : summary.bursts) bursts.push_back(&burst);
  if (bursts.size() <= kBurstRowsMax) return bursts;
  std::ranges::stable_sort(bursts, [](const BurstSummary* a, const BurstSummary* b) {
    return sharpness(*a) > sharpness(*b);
  });
  bursts.resize(kBurstRowsMax);
  std::ranges::sort(bursts);  // they stand in one vector
  return bursts;
}

std::string burst_lines(const Summary& summary) {
  using enum Table::Align;
  std::vector<Table::Column> columns = {{"peak to mean"}, {"NIC"}, {"direction"}};
  for (const Duration window : measure::kPeakToMeanWindows) {
    columns.push_back({format_duration_exact(window), right});
  }
  columns.push_back({"bin", right});
  columns.push_back({"source"});
  Table table(std::move(columns));
  bool coarse = false;
  for (const BurstSummary* shown_burst : shown_bursts(summary)) {
    const BurstSummary& burst = *shown_burst;
    std::vector<std::string> cells = {burst.host, burst.nic, burst.direction};
    // Windows of another version of the report would have other columns.
    cells.resize(3 + measure::kPeakToMeanWindows.size(), std::string(kAbsent));
    for (const measure::PeakToMean& figure : burst.statistics.peak_to_mean) {
      for (std::size_t i = 0; i < measure::kPeakToMeanWindows.size(); ++i) {
        if (measure::kPeakToMeanWindows[i] != figure.window) continue;
        cells[3 + i] = shown_ratio(figure);
        coarse = coarse || (figure.value && !figure.resolution_ok);
      }
    }
    cells.push_back(format_duration_exact(burst.statistics.bin));
    cells.push_back(burst.source);
    table.add(std::move(cells));
  }
  return table.text() + rest(summary.bursts.size(), kBurstRowsMax) +
         (coarse ? "~ bins are wider than a tenth of the window\n" : "");
}

// What a burst's sharpest window was before, during and after, where there were stages.
std::string stage_burst_lines(const Summary& summary) {
  using enum Table::Align;
  Table table({{"peak to mean in stages"},
               {"NIC"},
               {"direction"},
               {"window", right},
               {"before", right},
               {"during", right},
               {"after", right},
               {"source"}});
  for (const BurstSummary* burst : shown_bursts(summary)) {
    if (burst->stages.empty()) continue;
    std::vector<std::string> cells = {burst->host, burst->nic, burst->direction,
                                      format_duration_exact(kStageWindow)};
    cells.resize(7, std::string(kAbsent));
    for (const StageBursts& stage : burst->stages) {
      for (const measure::PeakToMean& figure : stage.peak_to_mean) {
        if (figure.window == kStageWindow)
          cells[4 + static_cast<std::size_t>(stage.stage)] = shown_ratio(figure);
      }
    }
    cells.push_back(burst->source);
    table.add(std::move(cells));
  }
  return table.rows() == 0 ? "" : "\n" + table.text();
}

std::string note_lines(const TransportSummary& transport) {
  std::string text = "How these figures were taken\n";
  for (const std::string& note : transport.notes) text += wrapped(note, "    ", "  - ");
  if (transport.system_calls_per_mib) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "System calls per MiB moved: %.2f.",
                  *transport.system_calls_per_mib);
    text += wrapped(buffer.data(), "    ", "  - ");
  }
  return text;
}

}  // namespace

std::string summary_table(const Summary& summary, bool colour) {
  std::string text = verdict_lines(summary, colour);
  for (const JobSummary& job : summary.jobs) text += "\n" + job_lines(job);
  text += "\n" + iteration_lines(summary);
  text += "\n" + byte_lines(summary);
  if (!summary.bursts.empty()) text += "\n" + burst_lines(summary);
  if (!summary.faults.empty()) text += "\n" + fault_lines(summary.faults);
  if (!summary.timeline.empty()) text += "\n" + timeline_lines(summary.timeline);
  for (const JobSummary& job : summary.jobs)
    if (job.stages) text += "\n" + stage_table(*job.stages, job.name);
  text += stage_burst_lines(summary);
  text += "\n" + note_lines(summary.transport);
  return text;
}

}  // namespace rehearsal::report

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/diagnosis/suspect.hpp"
#include "core/report/summary.hpp"
#include "core/report/summary_node.hpp"

namespace rehearsal::report {
namespace {

using Node = SummaryNode;

CollectiveSummary read_collective(const Node& node) {
  return {.kind = node.text("kind"),
          .communicator = node.text("communicator"),
          .ranks = node.small_number("ranks"),
          .bytes = node.bytes("bytes"),
          .count = node.number("count"),
          .incomplete = node.number("incomplete"),
          .time = node.summary("time_seconds"),
          .rank_time = node.summary("rank_time_seconds"),
          .algbw_bytes_per_second = node.figure("algbw_bytes_per_second"),
          .busbw_bytes_per_second = node.figure("busbw_bytes_per_second")};
}

Stage read_stage(const Node& node) {
  const auto stage = plan::stage_from(node.text("stage"));
  if (!stage) node.wrong("stage", "before, during or after");
  return stage.value_or(Stage::before);
}

Wait read_wait(const Node& node) {
  const std::string what = node.text("for");
  if (what != "credit" && what != "message") node.wrong("for", "credit or message");
  return {.waiting = Rank{node.small_number("rank")},
          .awaited = Rank{node.small_number("awaited")},
          .for_credit = what == "credit",
          .time = node.seconds("seconds")};
}

StageFigures read_stage_figures(const Node& node) {
  return {.stage = read_stage(node),
          .begin = node.small_number("begin"),
          .end = node.small_number("end"),
          .time = node.summary("time_seconds"),
          .tail = node.seconds_or_null("tail_seconds"),
          .times_before = node.figure("times_before"),
          .waits = node.list("waits", read_wait)};
}

std::optional<Reached> read_reached(const Node& node, const char* key) {
  if (node.is_null(key)) return std::nullopt;
  const Node reached = node.object(key);
  return Reached{.iteration = reached.small_number("iteration"),
                 .iterations = reached.small_number("iterations"),
                 .time = reached.seconds("seconds")};
}

StageComparison read_stages(const Node& node) {
  StageComparison comparison;
  const auto figures = node.list("figures", read_stage_figures);
  for (std::size_t i = 0; i < comparison.stages.size(); ++i) {
    const bool there =
        figures.size() == comparison.stages.size() && figures[i].stage == static_cast<Stage>(i);
    if (!there) {
      node.wrong("figures", "a list of the stages before, during and after");
      break;
    }
    comparison.stages[i] = figures[i];
  }
  comparison.noticed = read_reached(node, "noticed");
  comparison.recovered = read_reached(node, "recovered");
  const double within = node.figure("recovered_within").value_or(-1);
  if (!(within >= 0 && within <= 1)) node.wrong("recovered_within", "a number from 0 to 1");
  comparison.recovered_within.millionths = static_cast<std::uint32_t>(
      std::lround(std::clamp(within, 0.0, 1.0) * fault::Fraction::kWhole));
  return comparison;
}

JobSummary read_job(const Node& node) {
  const Node iterations = node.object("iterations");
  const Node ops = node.object("ops");
  const Node bytes = node.object("bytes");
  JobSummary job{.name = node.text("name"),
                 .profile_identity = node.text("profile_identity"),
                 .ranks = node.small_number("ranks"),
                 .iterations_planned = iterations.small_number("planned"),
                 .iterations_completed = iterations.small_number("completed"),
                 .iteration_time = iterations.summary("time_seconds"),
                 .iteration_waited = iterations.summary("waited_seconds"),
                 .ops_planned = ops.number("planned"),
                 .ops_completed = ops.number("completed"),
                 .bytes_planned = bytes.bytes("planned"),
                 .bytes_sent = bytes.bytes("sent"),
                 .bytes_received = bytes.bytes("received"),
                 .bytes_local = bytes.bytes("local"),
                 .collectives = node.list("collectives", read_collective)};
  if (node.has("stages")) job.stages = read_stages(node.object("stages"));
  return job;
}

measure::CounterRise read_counter_rise(const Node& node) {
  return {.name = node.text("name"), .rise = node.number("rise")};
}

NicSummary read_nic(const Node& node) {
  const std::optional<Bytes> line_rate = node.bytes_or_null("line_rate_bits_per_second");
  const bool background = node.has("background_sent_bytes");
  return {.host = node.text("host"),
          .nic = node.text("nic"),
          .source = node.text("source"),
          .line_rate = BitRate{line_rate.value_or(Bytes{}).count()},
          .sent_planned = node.bytes("planned_sent_bytes"),
          .sent = node.bytes("sent_bytes"),
          .received_planned = node.bytes("planned_received_bytes"),
          .received = node.bytes("received_bytes"),
          .background_sent = background ? node.bytes("background_sent_bytes") : Bytes{},
          .background_received = background ? node.bytes("background_received_bytes") : Bytes{},
          .counter_sent = node.bytes_or_null("counter_sent_bytes"),
          .counter_received = node.bytes_or_null("counter_received_bytes"),
          .device_counters = node.list("device_counters", read_counter_rise),
          .counters_span = node.seconds("counters_span_seconds")};
}

SyncSummary read_sync(const Node& node) {
  return {.mode = node.text("mode"),
          .start_skew = node.summary("start_skew_seconds"),
          .start_skew_limit =
              node.seconds_or_null("start_skew_limit_seconds").value_or(Duration::zero()),
          .clock_error_bound = node.seconds_or_null("clock_error_bound_seconds")};
}

measure::PeakToMean read_peak_to_mean(const Node& node) {
  return {.window = node.seconds("window_seconds"),
          .value = node.figure("value"),
          .resolution_ok = node.yes("resolution_ok")};
}

measure::Backlog read_backlog(const Node& node) {
  return {.rate = BitRate{node.number("rate_bits_per_second")}, .bytes = node.bytes("bytes")};
}

StageBursts read_stage_bursts(const Node& node) {
  return {.stage = read_stage(node),
          .length = node.seconds("length_seconds"),
          .total = node.bytes("bytes"),
          .peak_to_mean = node.list("peak_to_mean", read_peak_to_mean)};
}

BurstSummary read_burst(const Node& node) {
  BurstSummary burst{.host = node.text("host"),
                     .nic = node.text("nic"),
                     .direction = node.text("direction"),
                     .source = node.text("source")};
  burst.statistics.bin = node.seconds("bin_seconds");
  burst.statistics.length = node.seconds("length_seconds");
  burst.statistics.total = node.bytes("bytes");
  burst.statistics.peak_to_mean = node.list("peak_to_mean", read_peak_to_mean);
  const auto source = measure::drain_rate_source(node.text("drain_rate_source"));
  if (!source) node.wrong("drain_rate_source", "line_rate or peak_bin");
  burst.statistics.drain_rate_source = source.value_or(measure::DrainRateSource::line_rate);
  burst.statistics.backlog = node.list("backlog", read_backlog);
  if (node.has("stages")) burst.stages = node.list("stages", read_stage_bursts);
  return burst;
}

TransportSummary read_transport(const Node& node) {
  return {.kind = node.text("kind"),
          .congestion_control = node.text("congestion_control"),
          .receive = node.text("receive"),
          .byte_source = node.text("byte_source"),
          .copied = node.bytes("copied_bytes"),
          .discarded = node.bytes("discarded_bytes"),
          .system_calls = node.number("system_calls"),
          .system_calls_per_mib = node.figure("system_calls_per_mib"),
          .turn_max = node.seconds("turn_max_seconds"),
          .bound = node.texts("bound"),
          .notes = node.texts("notes")};
}

AgentSummary read_agent(const Node& node) {
  return {
      .host = node.text("host"), .results = node.yes("results"), .lost = node.text_or_null("lost")};
}

FaultSpellSummary read_spell(const Node& node) {
  FaultSpellSummary spell{.host = node.text("host"),
                          .job = node.text_or_null("job"),
                          .level = node.small_number("level"),
                          .began = node.seconds("began_seconds"),
                          .ended = node.seconds("ended_seconds")};
  if (node.figure("rank")) spell.rank = node.small_number("rank");
  return spell;
}

FaultProblemSummary read_problem(const Node& node) {
  return {.host = node.text("host"), .text = node.text("text")};
}

FaultSummary read_fault(const Node& node) {
  const bool traffic = node.has("background_sent_bytes");
  FaultSummary fault{
      .name = node.text("name"),
      .kind = node.text("kind"),
      .mechanism = node.text("mechanism"),
      .what = node.text("what"),
      .when = node.text("when"),
      .messages = node.number("messages"),
      .hit = node.number("hit"),
      .traffic = traffic,
      .background_sent = traffic ? node.bytes("background_sent_bytes") : Bytes{},
      .background_received = traffic ? node.bytes("background_received_bytes") : Bytes{},
      .spells = node.list("spells", read_spell)};
  if (node.has("problems")) fault.problems = node.list("problems", read_problem);
  if (!node.has("found")) return fault;  // of an earlier version
  const std::optional<Found> found = found_from(node.text("found"));
  if (!found) node.wrong("found", "yes, no or not_applicable");
  fault.found = found.value_or(Found::not_applicable);
  if (!node.is_null("suspect")) fault.suspect = node.small_number("suspect");
  fault.confidence = node.figure("confidence");
  fault.finding = node.text_or_null("finding");
  return fault;
}

TimelineEvent read_event(const Node& node) {
  return {.at = node.seconds("at_seconds"), .event = node.text("event"), .text = node.text("text")};
}

SuspectSummary read_suspect(const Node& node) {
  SuspectSummary suspect{.place = node.text("place"),
                         .host = node.text_or_null("host"),
                         .nic = node.text_or_null("nic"),
                         .peer_host = node.text_or_null("peer_host"),
                         .peer_nic = node.text_or_null("peer_nic"),
                         .job = node.text_or_null("job"),
                         .factor = node.figure("factor").value_or(1),
                         .confidence = node.figure("confidence").value_or(0),
                         .finding = node.text("finding"),
                         .evidence = node.text("evidence")};
  if (!diagnosis::place_from(suspect.place)) node.wrong("place", "a place");
  if (!node.is_null("rank")) suspect.rank = node.small_number("rank");
  return suspect;
}

Summary read(const Node& node) {
  Summary summary{.run = node.text("run"),
                  .drill = node.text("drill"),
                  .software = node.text("software"),
                  .started_at = node.text("started_at"),
                  .finished_at = node.text("finished_at"),
                  .plan_hash = node.text("plan_hash")};
  const std::optional<Verdict> verdict = verdict_from(node.text("verdict"));
  if (!verdict) node.wrong("verdict", "pass, warn, fail or unknown");
  summary.verdict = verdict.value_or(Verdict::unknown);
  summary.reasons = node.texts("reasons");
  summary.warnings = node.texts("warnings");
  summary.stop = node.text("stop");
  summary.waited_for = node.texts("waited_for");
  // Reports of earlier versions have none.
  if (!node.is_null("suspects")) summary.suspects = node.list("suspects", read_suspect);
  summary.agents = node.list("agents", read_agent);
  summary.jobs = node.list("jobs", read_job);
  summary.nics = node.list("nics", read_nic);
  summary.sync = read_sync(node.object("sync"));
  summary.bursts = node.list("bursts", read_burst);
  summary.transport = read_transport(node.object("transport"));
  if (node.has("faults")) summary.faults = node.list("faults", read_fault);
  if (node.has("timeline")) summary.timeline = node.list("timeline", read_event);
  return summary;
}

}  // namespace

Result<Summary> read_summary(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return invalid("a summary must be a JSON object; this is none (truncated?)");
  }
  std::string error;
  const Node root(json, "summary", error);
  const std::uint64_t version = root.number("schema_version");
  if (error.empty() && version != kSummarySchemaVersion) {
    return fail(ErrorCode::unsupported, ErrorSource::config,
                "a summary of schema version " + std::to_string(version) + "; version " +
                    std::to_string(kSummarySchemaVersion) + " is understood");
  }
  Summary summary = read(root);
  if (!error.empty()) return invalid(error);
  return summary;
}

}  // namespace rehearsal::report

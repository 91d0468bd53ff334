#include <nlohmann/json.hpp>

#include "core/report/json_values.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {
namespace {

using report::json_of;

Json json_of(const CollectiveSummary& collective) {
  return {{"kind", collective.kind},
          {"communicator", collective.communicator},
          {"ranks", collective.ranks},
          {"bytes", collective.bytes.count()},
          {"count", collective.count},
          {"incomplete", collective.incomplete},
          {"time_seconds", json_of(collective.time)},
          {"rank_time_seconds", json_of(collective.rank_time)},
          {"algbw_bytes_per_second", json_of(collective.algbw_bytes_per_second)},
          {"busbw_bytes_per_second", json_of(collective.busbw_bytes_per_second)}};
}

Json json_of(const Wait& wait) {
  return {{"rank", wait.waiting.value},
          {"awaited", wait.awaited.value},
          {"for", wait.for_credit ? "credit" : "message"},
          {"seconds", json_of(wait.time)}};
}

Json json_of(const StageFigures& figures) {
  Json waits = Json::array();
  for (const Wait& wait : figures.waits) waits.push_back(json_of(wait));
  return {{"stage", std::string(to_string(figures.stage))},
          {"begin", figures.begin},
          {"end", figures.end},
          {"time_seconds", json_of(figures.time)},
          {"tail_seconds", json_of(figures.tail)},
          {"times_before", json_of(figures.times_before)},
          {"waits", std::move(waits)}};
}

Json json_of(const std::optional<Reached>& reached) {
  if (!reached) return Json();
  return {{"iteration", reached->iteration},
          {"iterations", reached->iterations},
          {"seconds", json_of(reached->time)}};
}

Json json_of(const StageComparison& comparison) {
  Json stages = Json::array();
  for (const StageFigures& figures : comparison.stages) stages.push_back(json_of(figures));
  return {{"figures", std::move(stages)},
          {"noticed", json_of(comparison.noticed)},
          {"recovered", json_of(comparison.recovered)},
          {"recovered_within",
           static_cast<double>(comparison.recovered_within.millionths) / fault::Fraction::kWhole}};
}

Json json_of(const JobSummary& job) {
  Json collectives = Json::array();
  for (const CollectiveSummary& entry : job.collectives) collectives.push_back(json_of(entry));
  Json json = {{"name", job.name},
               {"profile_identity", job.profile_identity},
               {"ranks", job.ranks},
               {"iterations",
                {{"planned", job.iterations_planned},
                 {"completed", job.iterations_completed},
                 {"time_seconds", json_of(job.iteration_time)},
                 {"waited_seconds", json_of(job.iteration_waited)}}},
               {"ops", {{"planned", job.ops_planned}, {"completed", job.ops_completed}}},
               {"bytes",
                {{"planned", job.bytes_planned.count()},
                 {"sent", job.bytes_sent.count()},
                 {"received", job.bytes_received.count()},
                 {"local", job.bytes_local.count()}}},
               {"collectives", std::move(collectives)}};
  if (job.stages) json["stages"] = json_of(*job.stages);
  return json;
}

Json json_of(const NicSummary& nic) {
  const Json line_rate =
      nic.line_rate == BitRate{0} ? Json() : Json(nic.line_rate.bits_per_second());
  Json device_counters = Json::array();
  for (const measure::CounterRise& counter : nic.device_counters)
    device_counters.push_back({{"name", counter.name}, {"rise", counter.rise}});
  Json json = {{"host", nic.host},
               {"nic", nic.nic},
               {"source", nic.source},
               {"line_rate_bits_per_second", line_rate},
               {"planned_sent_bytes", nic.sent_planned.count()},
               {"sent_bytes", nic.sent.count()},
               {"planned_received_bytes", nic.received_planned.count()},
               {"received_bytes", nic.received.count()},
               {"counter_sent_bytes", json_of(nic.counter_sent)},
               {"counter_received_bytes", json_of(nic.counter_received)},
               {"device_counters", device_counters},
               {"counters_span_seconds", json_of(nic.counters_span)}};
  if (nic.background_sent + nic.background_received != Bytes{0}) {
    json["background_sent_bytes"] = nic.background_sent.count();
    json["background_received_bytes"] = nic.background_received.count();
  }
  return json;
}

Json json_of(const SyncSummary& sync) {
  const bool limited = sync.start_skew_limit > Duration::zero();
  return {{"mode", sync.mode},
          {"start_skew_seconds", json_of(sync.start_skew)},
          {"start_skew_limit_seconds", limited ? json_of(sync.start_skew_limit) : Json()},
          {"clock_error_bound_seconds", json_of(sync.clock_error_bound)}};
}

Json json_of(const std::vector<measure::PeakToMean>& peak_to_mean) {
  Json ratios = Json::array();
  for (const measure::PeakToMean& entry : peak_to_mean) {
    ratios.push_back({{"window_seconds", json_of(entry.window)},
                      {"value", json_of(entry.value)},
                      {"resolution_ok", entry.resolution_ok}});
  }
  return ratios;
}

Json json_of(const StageBursts& bursts) {
  return {{"stage", std::string(to_string(bursts.stage))},
          {"length_seconds", json_of(bursts.length)},
          {"bytes", bursts.total.count()},
          {"peak_to_mean", json_of(bursts.peak_to_mean)}};
}

Json json_of(const BurstSummary& burst) {
  const measure::BurstStatistics& statistics = burst.statistics;
  Json backlog = Json::array();
  for (const measure::Backlog& entry : statistics.backlog) {
    backlog.push_back(
        {{"rate_bits_per_second", entry.rate.bits_per_second()}, {"bytes", entry.bytes.count()}});
  }
  Json json = {{"host", burst.host},
               {"nic", burst.nic},
               {"direction", burst.direction},
               {"source", burst.source},
               {"bin_seconds", json_of(statistics.bin)},
               {"length_seconds", json_of(statistics.length)},
               {"bytes", statistics.total.count()},
               {"peak_to_mean", json_of(statistics.peak_to_mean)},
               {"drain_rate_source", std::string(to_string(statistics.drain_rate_source))},
               {"backlog", std::move(backlog)}};
  for (const StageBursts& stage : burst.stages) json["stages"].push_back(json_of(stage));
  return json;
}

Json json_of(const TransportSummary& transport) {
  return {{"kind", transport.kind},
          {"congestion_control", transport.congestion_control},
          {"receive", transport.receive},
          {"byte_source", transport.byte_source},
          {"copied_bytes", transport.copied.count()},
          {"discarded_bytes", transport.discarded.count()},
          {"system_calls", transport.system_calls},
          {"system_calls_per_mib", json_of(transport.system_calls_per_mib)},
          {"turn_max_seconds", json_of(transport.turn_max)},
          {"bound", transport.bound},
          {"notes", transport.notes}};
}

Json json_of(const AgentSummary& agent) {
  return {{"host", agent.host},
          {"results", agent.results},
          {"lost", agent.lost.empty() ? Json() : Json(agent.lost)}};
}

Json json_of(const FaultSpellSummary& spell) {
  return {{"host", spell.host},
          {"job", spell.rank ? Json(spell.job) : Json()},
          {"rank", spell.rank ? Json(*spell.rank) : Json()},
          {"level", spell.level},
          {"began_seconds", json_of(spell.began)},
          {"ended_seconds", json_of(spell.ended)}};
}

Json json_of(const FaultSummary& fault) {
  Json spells = Json::array();
  for (const FaultSpellSummary& spell : fault.spells) spells.push_back(json_of(spell));
  Json json = {{"name", fault.name}, {"kind", fault.kind}, {"mechanism", fault.mechanism},
               {"what", fault.what}, {"when", fault.when}, {"messages", fault.messages},
               {"hit", fault.hit}};
  if (fault.traffic) {
    json["background_sent_bytes"] = fault.background_sent.count();
    json["background_received_bytes"] = fault.background_received.count();
  }
  json["spells"] = std::move(spells);
  for (const FaultProblemSummary& problem : fault.problems)
    json["problems"].push_back({{"host", problem.host}, {"text", problem.text}});
  json["found"] = std::string(to_string(fault.found));
  json["suspect"] = fault.suspect ? Json(*fault.suspect) : Json();
  json["confidence"] = json_of(fault.confidence);
  json["finding"] = fault.finding;
  return json;
}

Json json_of(const TimelineEvent& event) {
  return {{"at_seconds", json_of(event.at)}, {"event", event.event}, {"text", event.text}};
}

Json json_of(const SuspectSummary& suspect) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  return {{"place", suspect.place},
          {"host", text_or_null(suspect.host)},
          {"nic", text_or_null(suspect.nic)},
          {"peer_host", text_or_null(suspect.peer_host)},
          {"peer_nic", text_or_null(suspect.peer_nic)},
          {"job", text_or_null(suspect.job)},
          {"rank", suspect.rank ? Json(*suspect.rank) : Json()},
          {"factor", suspect.factor},
          {"confidence", suspect.confidence},
          {"finding", suspect.finding},
          {"evidence", suspect.evidence}};
}

template <typename T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(json_of(value));
  return list;
}

}  // namespace

std::string summary_json(const Summary& summary) {
  Json json = {{"schema_version", kSummarySchemaVersion},
               {"run", summary.run},
               {"drill", summary.drill},
               {"software", summary.software},
               {"started_at", summary.started_at},
               {"finished_at", summary.finished_at},
               {"plan_hash", summary.plan_hash},
               {"verdict", std::string(to_string(summary.verdict))},
               {"reasons", summary.reasons},
               {"warnings", summary.warnings},
               {"stop", summary.stop},
               {"waited_for", summary.waited_for},
               {"suspects", summary.suspects ? list_of(*summary.suspects) : Json()},
               {"agents", list_of(summary.agents)},
               {"jobs", list_of(summary.jobs)},
               {"nics", list_of(summary.nics)},
               {"sync", json_of(summary.sync)},
               {"bursts", list_of(summary.bursts)},
               {"transport", json_of(summary.transport)}};
  if (!summary.faults.empty()) {
    json["faults"] = list_of(summary.faults);
    json["timeline"] = list_of(summary.timeline);
  }
  return text_of(json, 2) + "\n";
}

}  // namespace rehearsal::report

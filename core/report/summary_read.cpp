#include <cmath>
#include <nlohmann/json.hpp>

#include "core/diagnosis/suspect.hpp"
#include "core/report/json_values.hpp"
#include "core/report/summary.hpp"

namespace rehearsal::report {
namespace {

// Seconds that fit a Duration.
constexpr double kSecondsMax = 9e9;

// One object of the file. The first thing wrong is kept in `error` (shared by all nodes of a file)
// and everything read after it is empty, so that readers need not look after each field.
class Node {
 public:
  Node(const Json& json, std::string path, std::string& error)
      : json_(json), path_(std::move(path)), error_(error) {}

  Node object(const char* key) const {
    static const Json kNothing = Json::object();
    const Json* value = find(key);
    if (value == nullptr || !value->is_object()) {
      wrong(key, "an object");
      return {kNothing, path_ + "." + key, error_};
    }
    return {*value, path_ + "." + key, error_};
  }

  template <typename Read>
  auto list(const char* key, const Read& read) const {
    std::vector<decltype(read(std::declval<const Node&>()))> result;
    const Json* value = find(key);
    if (value == nullptr || !value->is_array()) {
      wrong(key, "a list");
      return result;
    }
    for (std::size_t i = 0; i < value->size(); ++i) {
      const std::string path = path_ + "." + key + "[" + std::to_string(i) + "]";
      if (!(*value)[i].is_object()) {
        complain(path + " must be an object");
        return result;
      }
      result.push_back(read(Node{(*value)[i], path, error_}));
    }
    return result;
  }

  /// Of what only some runs have.
  bool has(const char* key) const { return json_.contains(key); }

  bool is_null(const char* key) const {
    const Json* value = find(key);
    return value == nullptr || value->is_null();
  }
  std::string text(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    wrong(key, "a text");
    return "";
  }
  std::string text_or_null(const char* key) const {
    const Json* value = find(key);
    return value != nullptr && value->is_null() ? "" : text(key);
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> result;
    const Json* value = find(key);
    if (value == nullptr || !value->is_array()) wrong(key, "a list of texts");
    if (value == nullptr) return result;
    for (const Json& entry : *value) {
      if (!entry.is_string()) {
        wrong(key, "a list of texts");
        return {};
      }
      result.push_back(entry.get<std::string>());
    }
    return result;
  }
  bool yes(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && value->is_boolean()) return value->get<bool>();
    wrong(key, "true or false");
    return false;
  }
  std::uint64_t number(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && value->is_number_unsigned()) return value->get<std::uint64_t>();
    wrong(key, "a whole number");
    return 0;
  }
  std::uint32_t small_number(const char* key) const {
    const std::uint64_t value = number(key);
    if (value > 0xFFFF'FFFF) wrong(key, "a whole number below 4294967296");
    return static_cast<std::uint32_t>(value);
  }
  std::optional<double> figure(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && value->is_null()) return std::nullopt;
    if (value != nullptr && value->is_number()) return value->get<double>();
    wrong(key, "a number or null");
    return std::nullopt;
  }
  std::optional<Duration> seconds_or_null(const char* key) const {
    const std::optional<double> value = figure(key);
    if (!value) return std::nullopt;
    if (!(std::abs(*value) < kSecondsMax)) {
      wrong(key, "a number of seconds");
      return std::nullopt;
    }
    return Duration{std::llround(*value * 1e9)};
  }
  Duration seconds(const char* key) const {
    const std::optional<Duration> value = seconds_or_null(key);
    if (!value) wrong(key, "a number of seconds");
    return value.value_or(Duration::zero());
  }
  Bytes bytes(const char* key) const { return Bytes{number(key)}; }
  std::optional<Bytes> bytes_or_null(const char* key) const {
    const Json* value = find(key);
    if (value != nullptr && value->is_null()) return std::nullopt;
    return bytes(key);
  }
  measure::DurationSummary summary(const char* key) const {
    const Node node = object(key);
    return {.count = node.number("count"),
            .mean = node.seconds_or_null("mean"),
            .p50 = node.seconds_or_null("p50"),
            .p95 = node.seconds_or_null("p95"),
            .p99 = node.seconds_or_null("p99"),
            .max = node.seconds_or_null("max")};
  }

  void wrong(const char* key, const std::string& right) const {
    complain(path_ + "." + key + " must be " + right);
  }

 private:
  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  void complain(std::string what) const {
    if (error_.empty()) error_ = std::move(what);
  }

  const Json& json_;
  std::string path_;
  std::string& error_;
};

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

JobSummary read_job(const Node& node) {
  const Node iterations = node.object("iterations");
  const Node ops = node.object("ops");
  const Node bytes = node.object("bytes");
  return {.name = node.text("name"),
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
}

measure::CounterRise read_counter_rise(const Node& node) {
  return {.name = node.text("name"), .rise = node.number("rise")};
}

NicSummary read_nic(const Node& node) {
  const std::optional<Bytes> line_rate = node.bytes_or_null("line_rate_bits_per_second");
  return {.host = node.text("host"),
          .nic = node.text("nic"),
          .source = node.text("source"),
          .line_rate = BitRate{line_rate.value_or(Bytes{}).count()},
          .sent_planned = node.bytes("planned_sent_bytes"),
          .sent = node.bytes("sent_bytes"),
          .received_planned = node.bytes("planned_received_bytes"),
          .received = node.bytes("received_bytes"),
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
  FaultSummary fault{.name = node.text("name"),
                     .kind = node.text("kind"),
                     .mechanism = node.text("mechanism"),
                     .what = node.text("what"),
                     .when = node.text("when"),
                     .messages = node.number("messages"),
                     .hit = node.number("hit"),
                     .spells = node.list("spells", read_spell)};
  if (node.has("problems")) fault.problems = node.list("problems", read_problem);
  return fault;
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

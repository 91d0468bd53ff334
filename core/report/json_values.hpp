#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "core/base/time.hpp"
#include "core/base/units.hpp"
#include "core/measure/histogram.hpp"
#include "core/measure/iteration_table.hpp"

namespace rehearsal::report {

/// Keys stay in the order in which they were written, so that files can be compared.
using Json = nlohmann::ordered_json;

inline Json json_of(Duration duration) { return to_seconds(duration); }
inline Json json_of(const std::optional<Duration>& duration) {
  return duration ? json_of(*duration) : Json();
}
inline Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
inline Json json_of(const std::optional<Bytes>& bytes) {
  return bytes ? Json(bytes->count()) : Json();
}
inline Json json_of(const measure::DurationSummary& summary) {
  return {{"count", summary.count},      {"mean", json_of(summary.mean)},
          {"p50", json_of(summary.p50)}, {"p95", json_of(summary.p95)},
          {"p99", json_of(summary.p99)}, {"max", json_of(summary.max)}};
}

/// The offset of an agent's clock near `at` and its error bound, in nanoseconds; null where the
/// clock was never measured.
inline void add_clock(Json& json, std::span<const measure::ClockOffset> clocks, Instant at) {
  const measure::ClockOffset* clock = clocks.empty() ? nullptr : &measure::nearest(clocks, at);
  json["clock_offset_ns"] = clock != nullptr ? Json(clock->offset.count()) : Json();
  json["clock_error_bound_ns"] = clock != nullptr ? Json(clock->error_bound.count()) : Json();
}

/// Text that is no UTF-8 (a name from another machine) has its wrong bytes replaced. `indent` −1:
/// one line.
inline std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rehearsal::report

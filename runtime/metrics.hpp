#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rehearsal::runtime {

enum class MetricKind : std::uint8_t { counter, gauge, histogram };
std::string_view to_string(MetricKind kind);

/// One line of a daemon's catalogue: what a metric is called, counts and means. A metric that is
/// not in the catalogue cannot be set.
struct MetricRow {
  std::string_view name;  ///< rehearsal_…, with its unit, counters with _total
  MetricKind kind = MetricKind::gauge;
  std::string_view unit;        ///< "bytes", "seconds", "1" for counts and states
  std::string_view label = {};  ///< its one label, or empty
  /// The label's values, separated by spaces, when they are a fixed set (all are exported from the
  /// start); empty: one series for each thing that `help` names.
  std::string_view values = {};
  std::string_view help;
};

/// The metrics of one daemon, made from its catalogue. One thread.
class Metrics {
 public:
  explicit Metrics(std::span<const MetricRow> catalogue);
  ~Metrics();
  Metrics(Metrics&&) noexcept;

  /// Gauge: the value now. Counter: the total so far (a smaller total than before changes nothing).
  void set(std::string_view name, double value);
  void set(std::string_view name, std::string_view label_value, double value);
  /// Counter: one more, or `by` more.
  void add(std::string_view name, double by = 1);
  /// Histogram: one observation.
  void observe(std::string_view name, double value);

  /// Prometheus' text format.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The content type that goes with Metrics::text().
inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/// The catalogue as the table of docs/metrics.md.
std::string markdown_table(std::span<const MetricRow> catalogue);

}  // namespace rehearsal::runtime

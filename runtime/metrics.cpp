#include "runtime/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <vector>

#include "core/base/check.hpp"

namespace rehearsal::runtime {
namespace {

/// From 1 µs to 4 s, two buckets an octave being the most, here one in two octaves.
prometheus::Histogram::BucketBoundaries time_buckets() {
  prometheus::Histogram::BucketBoundaries bounds;
  for (double bound = 1e-6; bound < 5.0; bound *= 4) bounds.push_back(bound);
  return bounds;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (space > 0) found.emplace_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return found;
}

}  // namespace

std::string_view to_string(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return "counter";
    case MetricKind::gauge:
      return "gauge";
    case MetricKind::histogram:
      return "histogram";
  }
  return "?";
}

struct Metrics::State {
  struct Family {
    const MetricRow* row = nullptr;
    prometheus::Family<prometheus::Counter>* counters = nullptr;
    prometheus::Family<prometheus::Gauge>* gauges = nullptr;
    prometheus::Family<prometheus::Histogram>* histograms = nullptr;
  };

  prometheus::Registry registry;
  std::map<std::string_view, Family> families;

  const Family& family(std::string_view name) const {
    const auto found = families.find(name);
    CHECK(found != families.end(), "a metric starts as a row in the catalogue");
    return found->second;
  }

  static prometheus::Labels labels(const MetricRow& row, std::string_view value) {
    CHECK(row.label.empty() == value.empty(), "a labelled metric is set with a label");
    if (row.label.empty()) return {};
    return {{std::string(row.label), std::string(value)}};
  }

  void set(const Family& family, std::string_view label_value, double value) {
    const auto series = labels(*family.row, label_value);
    if (family.gauges != nullptr) {
      family.gauges->Add(series).Set(value);
    } else {
      CHECK(family.counters != nullptr, "a histogram is observed, not set");
      auto& counter = family.counters->Add(series);
      counter.Increment(value - counter.Value());  // takes only what is positive
    }
  }

  void add_family(const MetricRow& row) {
    Family family{.row = &row};
    const std::string name(row.name);
    const std::string help(row.help);
    switch (row.kind) {
      case MetricKind::counter:
        family.counters = &prometheus::BuildCounter().Name(name).Help(help).Register(registry);
        break;
      case MetricKind::gauge:
        family.gauges = &prometheus::BuildGauge().Name(name).Help(help).Register(registry);
        break;
      case MetricKind::histogram:
        family.histograms = &prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
        family.histograms->Add({}, time_buckets());
        break;
    }
    CHECK(families.emplace(row.name, family).second, "a name stands once in the catalogue");
    if (family.histograms != nullptr) return;
    if (row.label.empty()) set(family, {}, 0);
    for (const std::string& value : words(row.values)) set(family, value, 0);
  }
};

Metrics::Metrics(std::span<const MetricRow> catalogue) : state_(std::make_unique<State>()) {
  for (const MetricRow& row : catalogue) state_->add_family(row);
}
Metrics::~Metrics() = default;
Metrics::Metrics(Metrics&&) noexcept = default;

void Metrics::set(std::string_view name, double value) {
  state_->set(state_->family(name), {}, value);
}

void Metrics::set(std::string_view name, std::string_view label_value, double value) {
  state_->set(state_->family(name), label_value, value);
}

void Metrics::add(std::string_view name, double by) {
  const auto& family = state_->family(name);
  CHECK(family.counters != nullptr, "only counters are added to");
  family.counters->Add({}).Increment(by);
}

void Metrics::observe(std::string_view name, double value) {
  const auto& family = state_->family(name);
  CHECK(family.histograms != nullptr, "only histograms are observed");
  family.histograms->Add({}, time_buckets()).Observe(value);
}

std::string Metrics::text() const {
  return prometheus::TextSerializer{}.Serialize(state_->registry.Collect());
}

std::string markdown_table(std::span<const MetricRow> catalogue) {
  std::string table = "| name | type | unit | label | meaning |\n|---|---|---|---|---|\n";
  for (const MetricRow& row : catalogue) {
    std::string label(row.label);
    if (!row.values.empty()) {
      label += ": " + std::string(row.values);
    }
    table += "| `" + std::string(row.name) + "` | " + std::string(to_string(row.kind)) + " | " +
             std::string(row.unit) + " | " + label + " | " + std::string(row.help) + " |\n";
  }
  return table;
}

}  // namespace rehearsal::runtime

#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/units.hpp"
#include "core/measure/histogram.hpp"
#include "core/report/json_values.hpp"

namespace rehearsal::report {

/// One object of a summary.json. The first thing wrong is kept in `error` (shared by all nodes of a
/// file) and everything read after it is empty, so that readers need not look after each field.
class SummaryNode {
 public:
  SummaryNode(const Json& json, std::string path, std::string& error)
      : json_(json), path_(std::move(path)), error_(error) {}

  SummaryNode object(const char* key) const {
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
    std::vector<decltype(read(std::declval<const SummaryNode&>()))> result;
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
      result.push_back(read(SummaryNode{(*value)[i], path, error_}));
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
    const SummaryNode node = object(key);
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
  // Seconds that fit a Duration.
  static constexpr double kSecondsMax = 9e9;

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

}  // namespace rehearsal::report

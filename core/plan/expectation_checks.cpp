#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/plan/checks.hpp"

namespace rehearsal::plan {
namespace {

using profile::OpKind;

constexpr std::string_view kBusbw = "_busbw";
// Kinds whose bus bandwidth is defined (a barrier moves nothing).
constexpr std::array kBusbwKinds = {OpKind::all_reduce, OpKind::all_gather, OpKind::reduce_scatter,
                                    OpKind::all_to_all, OpKind::broadcast,  OpKind::reduce,
                                    OpKind::gather,     OpKind::scatter};

enum class Bound {
  duration,  // at most
  rate,      // at least
  reached,   // at most so many iterations, or a duration
  none,
};

// What a metric is judged by: its bound, and its keys in a drill.
struct Form {
  std::string_view metric;
  Bound bound;
  std::span<const std::string_view> keys;
};
constexpr std::array<std::string_view, 2> kOfIterations = {"stage", "at_most"};
constexpr std::array<std::string_view, 1> kMost = {"at_most"};
constexpr std::array<std::string_view, 1> kLeast = {"at_least"};
constexpr std::array<std::string_view, 2> kNotice = {"iterations", "at_most"};
constexpr std::array<std::string_view, 3> kRecovery = {"within", "iterations", "at_most"};
constexpr std::array<std::string_view, 1> kFound = {"fault"};
constexpr std::array<Form, 7> kForms = {{{"iteration_p50", Bound::duration, kOfIterations},
                                         {"iteration_p99", Bound::duration, kOfIterations},
                                         {"iteration_tail", Bound::duration, kOfIterations},
                                         {"start_skew_max", Bound::duration, kMost},
                                         {"notice", Bound::reached, kNotice},
                                         {"recovery", Bound::reached, kRecovery},
                                         {"found", Bound::none, kFound}}};

std::optional<Form> form_of(std::string_view metric) {
  if (kind_of_metric(metric)) return Form{metric, Bound::rate, kLeast};
  const auto found = std::ranges::find(kForms, metric, &Form::metric);
  if (found == kForms.end()) return std::nullopt;
  return *found;
}

bool has(const Expectation& expectation, std::string_view key) {
  if (key == "stage") return expectation.stage.has_value();
  if (key == "at_least") return expectation.at_least.bits_per_second() != 0;
  if (key == "iterations") return expectation.iterations != 0;
  if (key == "within") return expectation.within.millionths != 0;
  if (key == "fault") return !expectation.of_fault.empty();
  return expectation.at_most != Duration::zero() || expectation.at_most_of_before.millionths != 0;
}

// Keys that belong to another metric.
std::optional<Wrong> check_keys(const Expectation& expectation, const Form& form) {
  constexpr std::array<std::string_view, 6> kAll = {"stage",  "at_most",    "at_least",
                                                    "within", "iterations", "fault"};
  for (const std::string_view key : kAll) {
    if (!has(expectation, key) || std::ranges::find(form.keys, key) != form.keys.end()) continue;
    return Wrong{key, expectation.metric + " has no " + std::string(key),
                 "beside metric it takes " + joined(form.keys)};
  }
  return std::nullopt;
}

std::optional<Wrong> unknown(std::string_view metric) {
  const std::vector<std::string> metrics = expectation_metrics();
  const std::vector<std::string_view> words(metrics.begin(), metrics.end());
  const std::string_view meant = closest(metric, words);
  return Wrong{"metric", in_quotes(metric) + " is no metric",
               (meant.empty() ? "" : "did you mean '" + std::string(meant) + "'? ") +
                   "expected one of " + joined(metrics, metrics.size())};
}

std::optional<Wrong> check_rate(const Expectation& expectation) {
  if (has(expectation, "at_least") && !has(expectation, "at_most")) return std::nullopt;
  return Wrong{has(expectation, "at_most") ? "at_most" : "at_least",
               expectation.metric + " is a rate and needs a lower bound",
               "at_least: with a rate above zero, like 18Gbit/s, and no at_most"};
}

std::optional<Wrong> check_duration(const Expectation& expectation) {
  const bool timed = expectation.at_most > Duration::zero();
  const bool of_before = expectation.at_most_of_before.millionths != 0;
  const bool compares = expectation.stage && *expectation.stage != Stage::before;
  if (has(expectation, "at_least") || timed == of_before)
    return Wrong{has(expectation, "at_least") ? "at_least" : "at_most",
                 expectation.metric + " is a duration and needs an upper bound",
                 "at_most: with a duration above zero, like 20ms, and no at_least"};
  if (of_before && !compares)
    return Wrong{"at_most", "is a share of what it is before the faults",
                 "stage: during or after, or at_most: with a duration, like 20ms"};
  if (expectation.metric == "iteration_tail" && !expectation.stage)
    return Wrong{"stage", "iteration_tail is of a stage", "stage: before, during or after"};
  return std::nullopt;
}

std::optional<Wrong> check_reached(const Expectation& expectation) {
  const bool timed = expectation.at_most > Duration::zero();
  if (timed == (expectation.iterations != 0) || expectation.at_most_of_before.millionths != 0)
    return Wrong{"iterations", expectation.metric + " needs one bound",
                 "iterations: from 1, or at_most: a duration above zero"};
  if (expectation.iterations > kIterationsMax)
    return Wrong{"iterations", "is " + std::to_string(expectation.iterations),
                 "expected 1 to " + std::to_string(kIterationsMax)};
  const bool near = has(expectation, "within") && expectation.within <= fault::kWhole;
  if (expectation.metric != "recovery" || near) return std::nullopt;
  return Wrong{"within", "is " + fault::format_fraction(expectation.within),
               "expected above 0% up to 100%"};
}

std::optional<Wrong> check_bound(const Expectation& expectation, Bound bound) {
  switch (bound) {
    case Bound::rate:
      return check_rate(expectation);
    case Bound::duration:
      return check_duration(expectation);
    case Bound::reached:
      return check_reached(expectation);
    case Bound::none:
      if (!has(expectation, "fault") || is_name(expectation.of_fault)) return std::nullopt;
      return Wrong{"fault", in_quotes(expectation.of_fault) + " is no name",
                   std::string(kNameRule)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Wrong> check(const Expectation& expectation) {
  const auto form = form_of(expectation.metric);
  if (!form) return unknown(expectation.metric);
  if (auto wrong = check_bound(expectation, form->bound)) return wrong;
  return check_keys(expectation, *form);
}

std::vector<std::string> expectation_metrics() {
  std::vector<std::string> result;
  for (const Form& form : kForms) result.emplace_back(form.metric);
  for (const OpKind kind : kBusbwKinds) {
    result.push_back(std::string(to_string(kind)) + std::string(kBusbw));
  }
  return result;
}

std::optional<OpKind> kind_of_metric(std::string_view metric) {
  if (!metric.ends_with(kBusbw)) return std::nullopt;
  const auto kind = profile::op_kind(metric.substr(0, metric.size() - kBusbw.size()));
  if (!kind || std::ranges::find(kBusbwKinds, *kind) == kBusbwKinds.end()) return std::nullopt;
  return kind;
}

}  // namespace rehearsal::plan

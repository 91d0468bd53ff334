#include "core/plan/expectations.hpp"

#include <algorithm>
#include <set>

#include "core/base/text.hpp"
#include "core/plan/checks.hpp"
#include "core/plan/stages.hpp"

namespace rehearsal::plan {
namespace {

Failure wrong(const std::string& path, const std::string& what, const std::string& right) {
  return fail(ErrorCode::invalid_input, ErrorSource::config, path + ": " + what + "; " + right);
}

Result<void> check_collective(const Plan& plan, const Expectation& expectation,
                              const std::string& path) {
  const std::optional<profile::OpKind> kind = kind_of_metric(expectation.metric);
  if (!kind) return {};
  std::set<profile::OpKind> kinds;
  for (const PlannedJob& job : plan.jobs) {
    for (const profile::RankClass& ranks : job.profile->classes) {
      for (const profile::Op& op : ranks.ops) kinds.insert(op.kind);
    }
  }
  if (kinds.contains(*kind)) return {};
  std::vector<std::string_view> there;
  for (const profile::OpKind found : kinds) {
    if (is_communication(found)) there.push_back(to_string(found));
  }
  return wrong(
      path + ".metric",
      in_quotes(expectation.metric) + ", but no job issues " + std::string(to_string(*kind)),
      "the jobs issue " + joined(there));
}

// The key that asks for stages.
std::string key_of(const Expectation& expectation) {
  return expectation.stage ? ".stage" : ".metric";
}

std::string fault_path(std::size_t fault) { return "faults[" + std::to_string(fault) + "]"; }

// Iterations before the first fault are what the others are compared with.
Result<void> check_before(const Plan& plan, const std::string& path) {
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    const fault::PlannedFault& fault = plan.faults[i];
    const bool at_once =
        fault.when.iteration ? *fault.when.iteration == 0 : fault.when.after == Duration::zero();
    if (!at_once) continue;
    return wrong(path,
                 "fault " + in_quotes(fault.name) +
                     " begins with the run, so there is nothing before it to compare with",
                 fault.when.iteration ? fault_path(i) + ".when.iteration: 1 or more"
                                      : fault_path(i) + ".when.after: above 0s");
  }
  return {};
}

Result<void> check_after(const Plan& plan, const std::string& path) {
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    const fault::PlannedFault& fault = plan.faults[i];
    if (fault.what.kind == fault::Kind::crash)
      return wrong(path, "fault " + in_quotes(fault.name) + " ends the run, so nothing comes after",
                   "leave this expectation out");
    const auto range = planned_range(fault, plan.iterations);
    if (!range || fault.when.iterations == 0 || range->end < plan.iterations) continue;
    return wrong(
        path,
        "fault " + in_quotes(fault.name) +
            " goes on to the last iteration, so nothing comes after it",
        "iterations: more than " + std::to_string(*fault.when.iteration + fault.when.iterations));
  }
  return {};
}

Result<void> check_found(const Plan& plan, const Expectation& expectation,
                         const std::string& path) {
  if (expectation.of_fault.empty()) {
    if (std::ranges::any_of(plan.faults, can_be_found)) return {};
    return wrong(path + ".metric", "no fault of this drill could be found by its traces",
                 "leave this expectation out");
  }
  std::vector<std::string_view> known;
  for (const fault::PlannedFault& fault : plan.faults) known.push_back(fault.name);
  const auto named = std::ranges::find(known, expectation.of_fault);
  if (named == known.end()) {
    const std::string_view meant = closest(expectation.of_fault, known);
    return wrong(path + ".fault", "no fault is named " + in_quotes(expectation.of_fault),
                 (meant.empty() ? "" : "did you mean '" + std::string(meant) + "'? ") +
                     "known are " + joined(known));
  }
  if (can_be_found(plan.faults[static_cast<std::size_t>(named - known.begin())])) return {};
  return wrong(path + ".fault",
               in_quotes(expectation.of_fault) + " is nothing that could be found by its traces",
               "another fault, or leave this expectation out");
}

Result<void> check_stages(const Plan& plan, const Expectation& expectation,
                          const std::string& path) {
  if (!needs_stages(expectation)) return {};
  const std::string key = path + key_of(expectation);
  if (plan.faults.empty())
    return wrong(key, "the drill has no faults, so nothing is before, during or after them",
                 "faults, or an expectation of the whole run");
  if (expectation.metric == "found") return check_found(plan, expectation, path);
  const bool of_before = expectation.at_most_of_before.millionths != 0 || !expectation.stage ||
                         *expectation.stage == Stage::before;
  if (of_before) RETURN_IF_ERROR(check_before(plan, key));
  if (expectation.metric == "recovery" || expectation.stage == Stage::after)
    return check_after(plan, key);
  return {};
}

}  // namespace

bool needs_stages(const Expectation& expectation) {
  return expectation.stage || expectation.metric == "notice" || expectation.metric == "recovery" ||
         expectation.metric == "found";
}

bool can_be_found(const fault::PlannedFault& fault) {
  return fault.what.kind != fault::Kind::crash && fault.what.kind != fault::Kind::external;
}

Result<void> check_expectations(const Plan& plan) {
  for (std::size_t i = 0; i < plan.expectations.size(); ++i) {
    const std::string path = "expectations[" + std::to_string(i) + "]";
    RETURN_IF_ERROR(check_collective(plan, plan.expectations[i], path));
    RETURN_IF_ERROR(check_stages(plan, plan.expectations[i], path));
  }
  return {};
}

std::string describe(const Expectation& expectation) {
  std::string text = expectation.metric;
  if (expectation.metric == "found")
    return text + ": " +
           (expectation.of_fault.empty() ? std::string("every fault") : expectation.of_fault);
  if (expectation.stage) text += " " + std::string(to_string(*expectation.stage));
  if (expectation.within.millionths != 0)
    text += " to within " + fault::format_fraction(expectation.within) + " of before";
  if (expectation.iterations != 0)
    text += " in " + std::to_string(expectation.iterations) +
            (expectation.iterations == 1 ? " iteration" : " iterations");
  if (expectation.at_most_of_before.millionths != 0)
    text += " at most " + fault::format_fraction(expectation.at_most_of_before) + " of before";
  if (expectation.at_most > Duration::zero())
    text += " at most " + format_duration_exact(expectation.at_most);
  if (expectation.at_least.bits_per_second() != 0)
    text += " at least " + format_bit_rate_exact(expectation.at_least);
  return text;
}

}  // namespace rehearsal::plan

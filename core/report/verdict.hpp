#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/report/run_measurements.hpp"

namespace rehearsal::report {

struct StagedJob;
struct Summary;

enum class Verdict : std::uint8_t {
  pass,     ///< everything planned was done, every expectation met
  warn,     ///< that too, but a limit that colours the figures was passed
  fail,     ///< a shortfall, or an expectation missed
  unknown,  ///< the run did not end by itself, or figures are missing: nothing can be said
};
std::string_view to_string(Verdict verdict);
std::optional<Verdict> verdict_from(std::string_view name);

/// What `rehearse` exits with: 0, 1, 2, 3.
int exit_code(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::pass;
  std::vector<std::string> reasons = {};  ///< sentences, the gravest first; never empty
};

/// Judges a run by what the plan asked for; `figures` has everything but verdict and reasons,
/// `jobs` (one for each of the plan's) what expectations of stages are judged by.
Judgement judge(const plan::Plan& plan, const RunMeasurements& run, const Summary& figures,
                std::span<const StagedJob> jobs);

}  // namespace rehearsal::report

#include "core/diagnosis/change.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/diagnosis/certainty.hpp"
#include "core/diagnosis/pace.hpp"

namespace rehearsal::diagnosis {
namespace {

// Logarithm of the least factor by which a place must have become slower.
const double kChangeMin = std::log(1.08);
// A noise smaller than this is not believed: clocks and turns are not that exact.
constexpr double kNoiseMin = 0.01;
// So many times its noise some place strays by accident.
constexpr double kByAccident = 3;
// Flows that are hardly ever waited for double by nothing; in parts of what is usual.
constexpr double kHardlyWaitedFor = 0.05;
// What a place takes more must be at least this part of what iterations take more.
constexpr double kPartOfSlowness = 0.25;

// Seconds an iteration for which messages of a flow were on their way and waited for.
std::vector<std::optional<double>> exposed(const Observations& observations,
                                           std::span<const std::size_t> windows) {
  double iterations = 0;
  for (const std::size_t window : windows) iterations += observations.windows[window].iterations;
  std::vector<std::optional<double>> result;
  for (const Flow& flow : observations.flows) {
    double sum = 0;
    std::uint64_t messages = 0;
    for (const std::size_t window : windows) {
      sum += to_seconds(flow.windows[window].exposed);
      messages += flow.windows[window].messages;
    }
    result.emplace_back();
    if (messages > 0 && iterations > 0) result.back() = std::max(sum, 0.0) / iterations;
  }
  return result;
}

// How flows of some windows differ from what they take in the normal ones.
class Change {
 public:
  Change(const Observations& observations, std::span<const std::size_t> normal)
      : observations_(observations), normal_(exposed(observations, normal)) {
    std::vector<double> known;
    for (const auto& flow : normal_)
      if (flow) known.push_back(*flow);
    if (!known.empty()) least_ = kHardlyWaitedFor * quantile(known, 0.5);
  }

  Paces paces(std::span<const std::size_t> windows) const {
    Paces paces = exposed(observations_, windows);
    for (std::size_t i = 0; i < paces.size(); ++i) {
      const bool known = paces[i] && normal_[i] && *normal_[i] + least_ > 0;
      if (known)
        paces[i] = std::log((*paces[i] + least_) / (*normal_[i] + least_));
      else
        paces[i].reset();
    }
    return paces;
  }

  // The most that one of the blamed flows takes more in an iteration, seconds.
  double excess(const Explanation& explanation, std::span<const std::size_t> windows) const {
    const auto now = exposed(observations_, windows);
    double most = 0;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (explanation.blamed[i] && now[i] && normal_[i])
        most = std::max(most, *now[i] - *normal_[i]);
    return most;
  }

 private:
  const Observations& observations_;
  std::vector<std::optional<double>> normal_;
  double least_ = 0;
};

// Effects that the explanation seems to have in windows one by one.
std::vector<double> effects_in(const Change& change, const Explanation& explanation,
                               std::span<const std::size_t> windows) {
  std::vector<double> effects;
  for (const std::size_t window : windows)
    if (const auto fit = fit_of(explanation, change.paces(std::span(&window, 1))))
      effects.push_back(fit->effect);
  return effects;
}

double deviation(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double iteration_time(const Observations& observations, std::span<const std::size_t> windows) {
  double time = 0;
  double iterations = 0;
  for (const std::size_t window : windows) {
    const Window& of = observations.windows[window];
    time += to_seconds(of.iteration_time) * of.iterations;
    iterations += of.iterations;
  }
  return time / iterations;
}

// How sure it is that an effect in the slow windows is more than the noise in the normal ones.
double certainty(const Change& change, const Explanation& explanation, double effect,
                 const Stretches& stretches) {
  const std::vector<double> usual = effects_in(change, explanation, stretches.normal);
  if (usual.size() < kNormalMin) return 0;
  // The effect is a mean over the slow windows, held against one over the normal ones.
  const double share = 1 / static_cast<double>(stretches.slow.size()) +
                       1 / static_cast<double>(stretches.normal.size());
  const double noise = std::max(deviation(usual) * std::sqrt(share), kNoiseMin);
  return certainty_of(effect, noise, kByAccident);
}

}  // namespace

bool may_have_changed(const Observations& observations, const Explanation& explanation,
                      const Stretches& stretches) {
  if (stretches.normal.size() < kNormalMin) return true;
  const Change change(observations, stretches.normal);
  const auto fit = fit_of(explanation, change.paces(stretches.slow));
  return fit && fit->effect >= kChangeMin &&
         certainty(change, explanation, fit->effect, stretches) >= kConfidenceMin;
}

std::optional<double> slowdown_of(const Observations& observations, const Explanation& explanation,
                                  const Stretches& stretches) {
  const Paces paces = Change(observations, stretches.normal).paces(stretches.slow);
  std::vector<double> blamed;
  for (std::size_t i = 0; i < paces.size(); ++i)
    if (explanation.blamed[i] && paces[i]) blamed.push_back(*paces[i]);
  if (blamed.empty()) return std::nullopt;
  return std::exp(quantile(blamed, 0.5));
}

std::optional<Suspect> find_change(const Observations& observations, const Stretches& stretches) {
  if (stretches.normal.size() < kNormalMin || stretches.slow.empty()) return std::nullopt;
  const Change change(observations, stretches.normal);
  const auto found = best_explanation(observations, change.paces(stretches.slow), kChangeMin);
  if (!found) return std::nullopt;
  const double slower =
      iteration_time(observations, stretches.slow) - iteration_time(observations, stretches.normal);
  if (change.excess(found->explanation, stretches.slow) < kPartOfSlowness * slower)
    return std::nullopt;
  const double effect = found->fit.effect;
  Suspect suspect = found->explanation.suspect;
  suspect.windows_of = static_cast<std::uint32_t>(stretches.slow.size());
  suspect.windows = static_cast<std::uint32_t>(
      std::ranges::count_if(effects_in(change, found->explanation, stretches.slow),
                            [&](double seen) { return seen >= effect / 2; }));
  suspect.factor = std::exp(effect);
  if (const auto slowdown = slowdown_of(observations, found->explanation, stretches))
    suspect.factor = *slowdown;
  suspect.against_itself = true;
  const double steady = static_cast<double>(suspect.windows) / suspect.windows_of;
  suspect.confidence =
      found->fit.cleanness() * certainty(change, found->explanation, effect, stretches) * steady;
  return suspect;
}

}  // namespace rehearsal::diagnosis

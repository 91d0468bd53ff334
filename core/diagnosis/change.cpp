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
// … nor does an iteration feel so small a part of it.
constexpr double kHardlyFelt = 0.02;
// Nor is a message ever under way for less than this part of what it takes in normal windows.
constexpr double kLeastUnderWay = 0.05;
// What a place takes more must be at least this part of what iterations take more.
constexpr double kPartOfSlowness = 0.25;

// What flows are compared by.
enum class Figure { exposed, under_way };

using Values = std::vector<std::optional<double>>;

// Seconds for which a flow's messages were on their way and waited for, in an iteration.
std::optional<double> exposed(const Flow& flow, std::span<const std::size_t> windows,
                              double iterations) {
  double sum = 0;
  std::uint64_t messages = 0;
  for (const std::size_t window : windows) {
    sum += to_seconds(flow.windows[window].exposed);
    messages += flow.windows[window].messages;
  }
  if (messages == 0) return std::nullopt;
  return std::max(sum, 0.0) / iterations;
}

// Seconds that a message was under way, on average.
std::optional<double> under_way(const Flow& flow, std::span<const std::size_t> windows) {
  double sum = 0;
  double messages = 0;
  for (const std::size_t window : windows) {
    const Passage& passage = flow.windows[window];
    if (!passage.under_way) continue;
    sum += to_seconds(*passage.under_way);
    messages += static_cast<double>(passage.messages);
  }
  if (messages == 0) return std::nullopt;
  return sum / messages;
}

double iterations_in(const Observations& observations, std::span<const std::size_t> windows) {
  double iterations = 0;
  for (const std::size_t window : windows) iterations += observations.windows[window].iterations;
  return iterations;
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

// How flows of some windows differ from what they take in the normal ones.
class Change {
 public:
  Change(const Observations& observations, std::span<const std::size_t> normal, Figure figure)
      : observations_(observations), figure_(figure), normal_(values(normal)) {
    std::vector<double> known;
    for (const auto& flow : normal_)
      if (flow) known.push_back(*flow);
    if (!known.empty()) typical_ = quantile(known, 0.5);
    least_ =
        std::max(kHardlyWaitedFor * typical_, kHardlyFelt * iteration_time(observations, normal));
  }

  Paces paces(std::span<const std::size_t> windows) const {
    Paces paces = values(windows);
    // That many flows are never waited for says nothing against those that are.
    const bool known = (figure_ == Figure::exposed ? least_ : typical_) > 0;
    for (std::size_t i = 0; i < paces.size(); ++i) {
      if (!paces[i] || !normal_[i] || !known)
        paces[i].reset();
      else
        paces[i] = pace(*paces[i], *normal_[i]);
    }
    return paces;
  }

  // The most that one of the blamed flows takes more in an iteration, seconds.
  double excess(const Explanation& explanation, std::span<const std::size_t> windows) const {
    const Values now = values(windows);
    double most = 0;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (explanation.blamed[i] && now[i] && normal_[i])
        most = std::max(most, (*now[i] - *normal_[i]) * times(i, windows));
    return most;
  }

 private:
  Values values(std::span<const std::size_t> windows) const {
    const double iterations = iterations_in(observations_, windows);
    Values result;
    for (const Flow& flow : observations_.flows)
      result.push_back(figure_ == Figure::exposed ? exposed(flow, windows, iterations)
                                                  : under_way(flow, windows));
    return result;
  }

  // How often a value counts in an iteration.
  double times(std::size_t flow, std::span<const std::size_t> windows) const {
    if (figure_ == Figure::exposed) return 1;
    double messages = 0;
    for (const std::size_t window : windows)
      messages += static_cast<double>(observations_.flows[flow].windows[window].messages);
    return messages / iterations_in(observations_, windows);
  }

  // What a message of one flow takes is known but for what two clocks are apart: only how much more
  // it takes counts, in parts of what is usual for all.
  double pace(double now, double normal) const {
    if (figure_ == Figure::exposed) return std::log((now + least_) / (normal + least_));
    return std::log(std::max(1 + (now - normal) / typical_, kLeastUnderWay));
  }

  const Observations& observations_;
  Figure figure_;
  Values normal_;
  double typical_ = 0;  // of all flows
  double least_ = 0;    // exposed: is added to both values that are compared
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

std::optional<double> median_of_blamed(const Change& change, const Explanation& explanation,
                                       std::span<const std::size_t> windows) {
  const Paces paces = change.paces(windows);
  std::vector<double> blamed;
  for (std::size_t i = 0; i < paces.size(); ++i)
    if (explanation.blamed[i] && paces[i]) blamed.push_back(*paces[i]);
  if (blamed.empty()) return std::nullopt;
  return quantile(blamed, 0.5);
}

double deviation(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
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

// Whether what the place takes more can be why iterations do.
bool is_felt(const Observations& observations, const Change& change, const Explanation& explanation,
             const Stretches& stretches) {
  const double slower =
      iteration_time(observations, stretches.slow) - iteration_time(observations, stretches.normal);
  return change.excess(explanation, stretches.slow) >= kPartOfSlowness * slower;
}

std::optional<Suspect> find_change_of(const Observations& observations, const Stretches& stretches,
                                      Figure figure) {
  if (stretches.normal.size() < kNormalMin || stretches.slow.empty()) return std::nullopt;
  const Change change(observations, stretches.normal, figure);
  const auto found = best_explanation(observations, change.paces(stretches.slow), kChangeMin);
  if (!found) return std::nullopt;
  if (!is_felt(observations, change, found->explanation, stretches)) return std::nullopt;
  const double effect = found->fit.effect;
  Suspect suspect = found->explanation.suspect;
  suspect.windows_of = static_cast<std::uint32_t>(stretches.slow.size());
  suspect.windows = static_cast<std::uint32_t>(
      std::ranges::count_if(effects_in(change, found->explanation, stretches.slow),
                            [&](double seen) { return seen >= effect / 2; }));
  suspect.factor = std::exp(effect);
  if (const auto slowdown = median_of_blamed(change, found->explanation, stretches.slow))
    suspect.factor = std::exp(*slowdown);
  suspect.by_time_under_way = figure == Figure::under_way;
  suspect.against_itself = true;
  const double steady = static_cast<double>(suspect.windows) / suspect.windows_of;
  suspect.confidence =
      found->fit.cleanness() * certainty(change, found->explanation, effect, stretches) * steady;
  return suspect;
}

}  // namespace

bool may_have_changed(const Observations& observations, const Explanation& explanation,
                      const Stretches& stretches) {
  if (stretches.normal.size() < kNormalMin) return true;
  const Change change(observations, stretches.normal, Figure::exposed);
  const auto fit = fit_of(explanation, change.paces(stretches.slow));
  if (!fit) return true;
  return fit->effect >= kChangeMin && is_felt(observations, change, explanation, stretches) &&
         certainty(change, explanation, fit->effect, stretches) >= kConfidenceMin;
}

std::optional<double> slowdown_of(const Observations& observations, const Explanation& explanation,
                                  const Stretches& stretches) {
  const Change change(observations, stretches.normal, Figure::exposed);
  const auto pace = median_of_blamed(change, explanation, stretches.slow);
  if (!pace) return std::nullopt;
  return std::exp(*pace);
}

std::optional<Suspect> find_change(const Observations& observations, const Stretches& stretches) {
  auto suspect = find_change_of(observations, stretches, Figure::exposed);
  if (suspect && suspect->confidence >= kConfidenceMin) return suspect;
  const auto other = find_change_of(observations, stretches, Figure::under_way);
  if (!suspect || (other && other->confidence > suspect->confidence)) suspect = other;
  return suspect;
}

}  // namespace rehearsal::diagnosis

#include "core/diagnosis/suspect.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/base/names.hpp"
#include "core/diagnosis/change.hpp"
#include "core/diagnosis/explanation.hpp"
#include "core/diagnosis/pace.hpp"
#include "core/diagnosis/straggler.hpp"
#include "core/diagnosis/stretches.hpp"

namespace rehearsal::diagnosis {
namespace {

constexpr std::array kPlaces = {Place::nic_sending, Place::nic_receiving, Place::nic,
                                Place::link,        Place::host,          Place::rank};
// The effect at which a clean finding is half believed.
constexpr double kHalfBelieved = 0.1;

// In how many of the windows the explanation shows at least half of its effect.
std::uint32_t seen_in(const Observations& observations, const PaceModel& model, const Found& found,
                      std::span<const std::size_t> windows) {
  std::uint32_t seen = 0;
  for (const std::size_t window : windows) {
    const auto fit = fit_of(found.explanation, model.paces(observations, std::span(&window, 1)));
    if (fit && fit->effect >= found.fit.effect / 2) ++seen;
  }
  return seen;
}

// `stretches`: whose slow ones the windows are; null: they are all that there is.
std::optional<Suspect> find_in_network(const Observations& observations,
                                       std::span<const std::size_t> windows,
                                       const Stretches* stretches) {
  const PaceModel model(observations, windows);
  const Paces paces = model.paces(observations, windows);
  const auto found = best_explanation(observations, paces, std::log(kFactorMin));
  if (!found) return std::nullopt;
  // What differs in a healthy run too makes no run slow.
  if (stretches != nullptr && !may_have_changed(observations, found->explanation, *stretches))
    return std::nullopt;
  const Fit& fit = found->fit;
  Suspect suspect = found->explanation.suspect;
  suspect.windows_of = static_cast<std::uint32_t>(windows.size());
  suspect.windows = seen_in(observations, model, *found, windows);
  suspect.factor = std::exp(fit.effect);
  if (stretches != nullptr) {
    const auto slowdown = slowdown_of(observations, found->explanation, *stretches);
    suspect.against_itself = slowdown && *slowdown > 1;
    if (suspect.against_itself) suspect.factor = *slowdown;
  }
  const double strength = fit.effect / (fit.effect + kHalfBelieved);
  const double steady = static_cast<double>(suspect.windows) / suspect.windows_of;
  suspect.confidence = fit.cleanness() * strength * steady;
  return suspect;
}

void drop_doubtful(std::vector<Suspect>& suspects) {
  std::erase_if(suspects, [](const Suspect& s) { return s.confidence < kConfidenceMin; });
}

std::vector<Suspect> look_at(const Observations& observations, std::span<const std::size_t> windows,
                             const Stretches* stretches) {
  std::vector<Suspect> suspects = find_stragglers(observations, windows);
  if (const auto place = find_in_network(observations, windows, stretches))
    suspects.push_back(*place);
  drop_doubtful(suspects);
  return suspects;
}

// What shows only where the slow windows are held against the others.
std::vector<Suspect> compare(const Observations& observations, const Stretches& stretches) {
  std::vector<Suspect> suspects;
  if (!stretches.much) suspects = find_stragglers(observations, stretches.slow);
  if (const auto place = find_change(observations, stretches)) suspects.push_back(*place);
  drop_doubtful(suspects);
  return suspects;
}

}  // namespace

std::string_view to_string(Place place) {
  switch (place) {
    case Place::nic_sending:
      return "nic_sending";
    case Place::nic_receiving:
      return "nic_receiving";
    case Place::nic:
      return "nic";
    case Place::link:
      return "link";
    case Place::host:
      return "host";
    case Place::rank:
      return "rank";
  }
  return "";
}

std::optional<Place> place_from(std::string_view name) { return value_named(kPlaces, name); }

std::vector<Suspect> find_suspects(const Observations& observations) {
  const std::vector<std::size_t> all = known_windows(observations);
  if (all.empty()) return {};
  const auto stretches = stretches_of(observations);
  bool slow_part = stretches && stretches->much;
  std::vector<Suspect> suspects = slow_part ? look_at(observations, stretches->slow, &*stretches)
                                            : look_at(observations, all, nullptr);
  if (suspects.empty() && stretches) {
    suspects = compare(observations, *stretches);
    slow_part = true;
  }
  for (Suspect& suspect : suspects) suspect.slow_part = slow_part;
  std::ranges::stable_sort(
      suspects, [](const Suspect& a, const Suspect& b) { return a.confidence > b.confidence; });
  return suspects;
}

}  // namespace rehearsal::diagnosis

#include "core/diagnosis/straggler.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/diagnosis/certainty.hpp"
#include "core/diagnosis/pace.hpp"
#include "core/diagnosis/stretches.hpp"

namespace rehearsal::diagnosis {
namespace {

// What an iteration hardly feels is nobody's fault.
constexpr double kShareOfIterationMin = 0.05;
constexpr double kSeenInMin = 0.5;
// So many times its noise some rank strays in some window by accident.
constexpr double kByAccident = 3;

double seconds(Duration duration) { return to_seconds(duration); }

// What a rank took more than planned in an iteration of a window.
double excess(const Observations& observations, const RankWork& work, std::size_t window) {
  const double iterations = observations.windows[window].iterations;
  return seconds(work.taken[window]) / iterations - seconds(work.planned);
}

// Medians over ranks, by window: what all of them take more is no fault of one.
std::vector<double> usual_excess(const Observations& observations,
                                 std::span<const std::size_t> windows) {
  std::vector<double> result;
  for (const std::size_t window : windows) {
    std::vector<double> all;
    for (const RankWork& work : observations.ranks) {
      all.push_back(excess(observations, work, window));
    }
    result.push_back(quantile(all, 0.5));
  }
  return result;
}

// What the ranks of other hosts (of all, if there is only one) stray by from window to window: the
// root of the mean square of one of the more restless, seconds an iteration. Where hosts are short
// of CPU some rank is always late.
double noise_beside(const Observations& observations, const RankWork& work,
                    std::span<const std::size_t> all, const std::vector<double>& usual) {
  const bool others = std::ranges::any_of(
      observations.ranks, [&](const RankWork& other) { return other.host != work.host; });
  std::vector<double> strays;
  for (const RankWork& other : observations.ranks) {
    if (&other == &work || (others && other.host == work.host)) continue;
    double squares = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double more = excess(observations, other, all[i]) - usual[i];
      squares += more * more;
    }
    strays.push_back(std::sqrt(squares / static_cast<double>(all.size())));
  }
  return quantile(strays, 0.75);
}

struct Slowness {
  double excess = 0;  // seconds an iteration, beyond what is usual, over the windows
  double share = 0;   // of the iteration
  std::uint32_t seen = 0;
};

Slowness slowness(const Observations& observations, const RankWork& work,
                  std::span<const std::size_t> windows, const std::vector<double>& usual) {
  Slowness result;
  double iterations = 0;
  double iteration_time = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Window& window = observations.windows[windows[i]];
    const double more = excess(observations, work, windows[i]) - usual[i];
    const double least = kShareOfIterationMin * seconds(window.iteration_time);
    if (more > least && more > 0) ++result.seen;
    result.excess += more * window.iterations;
    iteration_time += seconds(window.iteration_time) * window.iterations;
    iterations += window.iterations;
  }
  if (iterations == 0) return result;
  result.excess /= iterations;
  iteration_time /= iterations;
  if (iteration_time > 0) result.share = result.excess / iteration_time;
  return result;
}

// Where all ranks of a host (more than one) are suspects, the host takes their place.
std::vector<Suspect> by_host(const Observations& observations, std::vector<Suspect> suspects) {
  std::map<HostIndex, std::size_t> ranks;
  std::map<HostIndex, std::size_t> slow;
  for (const RankWork& work : observations.ranks) ++ranks[work.host];
  for (const Suspect& suspect : suspects) ++slow[suspect.host];
  std::vector<Suspect> result;
  for (Suspect& suspect : suspects) {
    const bool whole = ranks[suspect.host] > 1 && slow[suspect.host] == ranks[suspect.host];
    if (!whole) {
      result.push_back(suspect);
      continue;
    }
    const auto named = std::ranges::find_if(result, [&](const Suspect& other) {
      return other.place == Place::host && other.host == suspect.host;
    });
    if (named != result.end()) continue;  // the most certain rank came first
    suspect.place = Place::host;
    result.push_back(suspect);
  }
  return result;
}

}  // namespace

std::vector<Suspect> find_stragglers(const Observations& observations,
                                     std::span<const std::size_t> windows) {
  std::vector<Suspect> suspects;
  if (observations.ranks.size() < 2 || windows.empty()) return suspects;
  const std::vector<double> usual = usual_excess(observations, windows);
  const std::vector<std::size_t> all = known_windows(observations);
  const std::vector<double> usual_in_all = usual_excess(observations, all);
  for (const RankWork& work : observations.ranks) {
    const Slowness found = slowness(observations, work, windows, usual);
    const double planned = seconds(work.planned);
    if (found.share < kShareOfIterationMin) continue;
    const double seen_in = static_cast<double>(found.seen) / static_cast<double>(windows.size());
    if (seen_in < kSeenInMin) continue;
    const double noise = noise_beside(observations, work, all, usual_in_all) /
                         std::sqrt(static_cast<double>(windows.size()));
    const double certainty = certainty_of(found.excess, noise, kByAccident);
    const double strength = found.share / (found.share + kShareOfIterationMin / 3);
    suspects.push_back({.place = Place::rank,
                        .host = work.host,
                        .job = work.job,
                        .rank = work.rank,
                        .computing = true,
                        .factor = planned > 0 ? 1 + found.excess / planned : 1,
                        .confidence = strength * certainty * seen_in,
                        .excess = Duration{std::llround(found.excess * 1e9)},
                        .windows = found.seen,
                        .windows_of = static_cast<std::uint32_t>(windows.size())});
  }
  std::ranges::stable_sort(suspects,
                           [](const Suspect& a, const Suspect& b) { return a.excess > b.excess; });
  return by_host(observations, std::move(suspects));
}

}  // namespace rehearsal::diagnosis

#include "core/diagnosis/stretches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/diagnosis/pace.hpp"

namespace rehearsal::diagnosis {
namespace {

// The fast and the slow half of what is but noise differ by 3.2 times the standard error of that
// difference, whatever the noise. This much is no accident.
constexpr double kClear = 5;
// What an iteration hardly feels is nobody's fault; in parts of the usual time.
constexpr double kDifferenceMin = 0.02;
// So many iterations of one window, or so many windows: once is an accident.
constexpr std::uint32_t kIterationsMin = 3;
constexpr std::size_t kWindowsMin = 2;
// A noise smaller than this is not believed; in parts of the usual time.
constexpr double kNoiseMin = 1e-3;
// The median of the distance of two normal values, in standard deviations of one.
constexpr double kMedianDistance = 0.954;

struct Timed {
  std::size_t window;
  double time;  // seconds
};

std::vector<Timed> timed_windows(const Observations& observations) {
  std::vector<Timed> windows;
  for (std::size_t i = 0; i < observations.windows.size(); ++i) {
    const Window& window = observations.windows[i];
    if (window.iterations == 0 || window.iteration_time <= Duration::zero()) continue;
    windows.push_back({i, to_seconds(window.iteration_time)});
  }
  return windows;
}

// The standard deviation of a window's time: steps from one window to the next are noise, but for
// the few where the run truly changes.
double noise_of(const std::vector<Timed>& windows) {
  std::vector<double> steps;
  for (std::size_t i = 1; i < windows.size(); ++i)
    steps.push_back(std::abs(windows[i].time - windows[i - 1].time));
  return quantile(steps, 0.5) / kMedianDistance;
}

// `sorted` by time; those from `begin` on are slow.
Stretches parted(const std::vector<Timed>& sorted, std::size_t begin) {
  Stretches stretches;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    (i < begin ? stretches.normal : stretches.slow).push_back(sorted[i].window);
  std::ranges::sort(stretches.normal);
  std::ranges::sort(stretches.slow);
  return stretches;
}

// Where windows sorted by time are best cut in two.
struct Split {
  std::size_t normal = 0;  // so many first ones
  double clearness = 0;    // difference of the means in its standard errors
  double difference = 0;   // in parts of the mean of the normal ones
};

bool is_clear(const Split& split) {
  return split.clearness >= kClear && split.difference >= kDifferenceMin;
}

Split clearest_split(const std::vector<Timed>& sorted, double noise) {
  double all = 0;
  for (const Timed& window : sorted) all += window.time;
  Split clearest;
  double sum = 0;
  for (std::size_t normal = 1; normal < sorted.size(); ++normal) {
    sum += sorted[normal - 1].time;
    if (normal < kNormalMin) continue;
    const auto fast = static_cast<double>(normal);
    const auto slow = static_cast<double>(sorted.size() - normal);
    const double usual = sum / fast;
    const double difference = (all - sum) / slow - usual;
    const double error = std::max(noise, kNoiseMin * usual) * std::sqrt(1 / fast + 1 / slow);
    if (difference / error <= clearest.clearness) continue;
    clearest = {
        .normal = normal, .clearness = difference / error, .difference = difference / usual};
  }
  return clearest;
}

std::optional<Stretches> much_slower(const std::vector<Timed>& sorted, const Split& split) {
  std::vector<double> times;
  for (const Timed& window : sorted) times.push_back(window.time);
  const double bound = quantile(times, 0.25) * kMuchSlower;
  const auto begin = static_cast<std::size_t>(
      std::ranges::count_if(times, [&](double time) { return time <= bound; }));
  if (begin == sorted.size()) return std::nullopt;
  Stretches stretches = parted(sorted, begin);
  stretches.much = true;
  // What is between is a little slow: neither.
  if (is_clear(split) && split.normal < begin)
    stretches.normal = parted(sorted, split.normal).normal;
  return stretches;
}

std::optional<Stretches> often_enough(const Observations& observations, Stretches stretches) {
  const bool once = stretches.slow.size() < kWindowsMin &&
                    observations.windows[stretches.slow.front()].iterations < kIterationsMin;
  if (once) return std::nullopt;
  return stretches;
}

}  // namespace

std::vector<std::size_t> known_windows(const Observations& observations) {
  std::vector<std::size_t> windows;
  for (std::size_t i = 0; i < observations.windows.size(); ++i)
    if (observations.windows[i].iterations != 0) windows.push_back(i);
  return windows;
}

std::optional<Stretches> stretches_of(const Observations& observations) {
  std::vector<Timed> windows = timed_windows(observations);
  if (windows.size() < 2) return std::nullopt;
  const double noise = noise_of(windows);
  std::ranges::stable_sort(windows, {}, &Timed::time);
  const Split split = clearest_split(windows, noise);
  if (auto stretches = much_slower(windows, split))
    return often_enough(observations, *std::move(stretches));
  if (!is_clear(split)) return std::nullopt;
  return often_enough(observations, parted(windows, split.normal));
}

}  // namespace rehearsal::diagnosis

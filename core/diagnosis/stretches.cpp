#include "core/diagnosis/stretches.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/diagnosis/pace.hpp"

namespace rehearsal::diagnosis {
namespace {

// A gap of so many times the noise of a window is no accident, also where there are sixteen of
// them.
constexpr double kGapOfNoise = 3;
// What an iteration hardly feels is nobody's fault.
constexpr double kGapMin = 0.02;
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

std::optional<Stretches> much_slower(const std::vector<Timed>& sorted) {
  std::vector<double> times;
  for (const Timed& window : sorted) times.push_back(window.time);
  const double bound = quantile(times, 0.25) * kMuchSlower;
  const auto begin = static_cast<std::size_t>(
      std::ranges::count_if(times, [&](double time) { return time <= bound; }));
  if (begin == sorted.size()) return std::nullopt;
  Stretches stretches = parted(sorted, begin);
  stretches.much = true;
  return stretches;
}

}  // namespace

std::optional<Stretches> stretches_of(const Observations& observations) {
  std::vector<Timed> windows = timed_windows(observations);
  if (windows.size() < 2) return std::nullopt;
  const double noise = noise_of(windows);
  std::ranges::stable_sort(windows, {}, &Timed::time);
  if (auto stretches = much_slower(windows)) return stretches;
  double sum = 0;
  for (std::size_t normal = 1; normal < windows.size(); ++normal) {
    sum += windows[normal - 1].time;
    if (normal < kNormalMin) continue;
    const double gap = windows[normal].time - windows[normal - 1].time;
    const double usual = sum / static_cast<double>(normal);
    if (gap > std::max(kGapOfNoise * noise, kGapMin * usual)) return parted(windows, normal);
  }
  return std::nullopt;
}

}  // namespace rehearsal::diagnosis

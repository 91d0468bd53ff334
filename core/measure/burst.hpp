#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/base/units.hpp"
#include "core/measure/arrival_curve.hpp"

namespace rehearsal::measure {

/// Burst statistics of an arrival curve A(t), in the terms of "On the Burstiness of Distributed
/// Machine Learning Traffic" (arXiv 2401.00329) and of network calculus:
///   burstiness curve  E(τ)    = sup over t of A(t, t + τ)
///   peak-to-mean      PtM(τ)  = E(τ) / (τ · mean rate)
///   backlog           Bmax(r) = sup over s ≤ t of [A(s, t) − r (t − s)]
/// docs/results.md says how reports use them.

/// One arrival, for curves that are known packet by packet.
struct Arrival {
  Duration at{0};
  std::uint64_t bytes = 0;
};

/// E_b(k): the largest sum of `window` consecutive bins (of all bins if there are fewer). With bins
/// of width D: E((k − 1) D) ≤ E_b(k) ≤ E(k D). O(n).
std::uint64_t envelope(std::span<const std::uint64_t> bins, std::size_t window);
/// E(τ) over half-open windows [t, t + τ): E(0+) is the largest arrival. `arrivals` ascending.
/// O(n).
std::uint64_t envelope(std::span<const Arrival> arrivals, Duration window);

/// PtM of a window of `window` bins over all of `bins`. Absent when the window is longer than the
/// series, or nothing was seen.
std::optional<double> peak_to_mean(std::span<const std::uint64_t> bins, std::size_t window);

/// Bmax of a buffer drained at `bytes_per_bin`, by Lindley's recursion, arrivals of a bin spread
/// evenly over it. O(n).
double backlog_max(std::span<const std::uint64_t> bins, double bytes_per_bin);
/// Bmax of a buffer drained at `bytes_per_second`: q_i = max(q_{i−1} − r Δt, 0) + s_i. O(n).
double backlog_max(std::span<const Arrival> arrivals, double bytes_per_second);

/// The windows every report has.
inline constexpr std::array<Duration, 4> kPeakToMeanWindows = {
    std::chrono::milliseconds{1}, std::chrono::milliseconds{5}, std::chrono::milliseconds{10},
    std::chrono::milliseconds{100}};

struct PeakToMean {
  Duration window{0};
  std::optional<double> value = {};  ///< absent: the series is shorter than the window, or empty
  bool resolution_ok = false;        ///< bin ≤ window / 10: the error of E is at most a tenth

  bool operator==(const PeakToMean&) const = default;
};

struct Backlog {
  BitRate rate = {};  ///< at which the buffer is drained
  Bytes bytes = {};   ///< largest backlog, rounded up

  bool operator==(const Backlog&) const = default;
};

enum class DrainRateSource : std::uint8_t {
  line_rate,  ///< of the NIC
  peak_bin,   ///< the NIC's line rate is not known (veth, lo): the rate of the busiest bin stands
              ///< for it
};
std::string_view to_string(DrainRateSource source);
std::optional<DrainRateSource> drain_rate_source(std::string_view name);

struct BurstStatistics {
  Duration bin{0};
  Duration length{0};  ///< whole bins
  Bytes total = {};
  std::vector<PeakToMean> peak_to_mean = {};
  DrainRateSource drain_rate_source = DrainRateSource::line_rate;
  std::vector<Backlog> backlog =
      {};  ///< drained at the rate, half and a quarter of it; empty: no bytes

  bool operator==(const BurstStatistics&) const = default;
};

/// Statistics over the bins that [begin, end) touches (clock of the series); what lies outside does
/// not count, where the series says nothing there was silence. `line_rate` zero: not known.
BurstStatistics burst_statistics(const ByteSeries& series, Instant begin, Instant end,
                                 BitRate line_rate);

}  // namespace rehearsal::measure

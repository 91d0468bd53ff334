#include "core/measure/burst.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/check.hpp"

namespace rehearsal::measure {
namespace {

std::uint64_t total_of(std::span<const std::uint64_t> bins) {
  return std::accumulate(bins.begin(), bins.end(), std::uint64_t{0});
}

std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

// The bins that [begin, end) touches, silence added where the series has none.
std::vector<std::uint64_t> bins_between(const ByteSeries& series, Instant begin, Instant end) {
  if (end <= begin) return {};
  const std::int64_t width = series.bin.count();
  const std::int64_t first = floor_divide((begin - series.origin).count(), width);
  const std::int64_t last = floor_divide((end - series.origin).count() - 1, width);
  std::vector<std::uint64_t> bins(
      static_cast<std::size_t>(std::min(last - first + 1, static_cast<std::int64_t>(kBinsMax))));
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const std::int64_t at = first + static_cast<std::int64_t>(i);
    if (at < 0 || at >= static_cast<std::int64_t>(series.bytes.size())) continue;
    bins[i] = series.bytes[static_cast<std::size_t>(at)];
  }
  return bins;
}

std::vector<Backlog> backlogs(std::span<const std::uint64_t> bins, Duration bin,
                              double bytes_per_second) {
  std::vector<Backlog> result;
  for (const double part : {1.0, 0.5, 0.25}) {
    const double rate = bytes_per_second * part;
    const double most = backlog_max(bins, rate * to_seconds(bin));
    // The recursion in floating point may be a hair above a whole number.
    const double rounded = std::ceil(most - 1e-6 * std::max(1.0, most * 1e-6));
    result.push_back({.rate = BitRate{static_cast<std::uint64_t>(std::llround(rate * 8))},
                      .bytes = Bytes{static_cast<std::uint64_t>(std::max(rounded, 0.0))}});
  }
  return result;
}

}  // namespace

std::string_view to_string(DrainRateSource source) {
  return source == DrainRateSource::line_rate ? "line_rate" : "peak_bin";
}

std::optional<DrainRateSource> drain_rate_source(std::string_view name) {
  for (const auto source : {DrainRateSource::line_rate, DrainRateSource::peak_bin}) {
    if (to_string(source) == name) return source;
  }
  return std::nullopt;
}

std::uint64_t envelope(std::span<const std::uint64_t> bins, std::size_t window) {
  std::uint64_t inside = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    inside += bins[i];
    if (i >= window) inside -= bins[i - window];
    most = std::max(most, inside);
  }
  return window == 0 ? 0 : most;
}

std::uint64_t envelope(std::span<const Arrival> arrivals, Duration window) {
  std::uint64_t inside = 0;
  std::uint64_t most = 0;
  std::size_t first = 0;
  // A window need only be tried where it ends just behind an arrival.
  for (const Arrival& arrival : arrivals) {
    inside += arrival.bytes;
    while (arrival.at - arrivals[first].at >= window && &arrivals[first] != &arrival) {
      inside -= arrivals[first++].bytes;
    }
    most = std::max(most, inside);
  }
  return most;
}

std::optional<double> peak_to_mean(std::span<const std::uint64_t> bins, std::size_t window) {
  const std::uint64_t total = total_of(bins);
  if (window == 0 || window > bins.size() || total == 0) return std::nullopt;
  const double mean = static_cast<double>(total) / static_cast<double>(bins.size());
  return static_cast<double>(envelope(bins, window)) / (static_cast<double>(window) * mean);
}

double backlog_max(std::span<const std::uint64_t> bins, double bytes_per_bin) {
  double backlog = 0;
  double most = 0;
  for (const std::uint64_t bytes : bins) {
    backlog = std::max(backlog + static_cast<double>(bytes) - bytes_per_bin, 0.0);
    most = std::max(most, backlog);
  }
  return most;
}

double backlog_max(std::span<const Arrival> arrivals, double bytes_per_second) {
  double backlog = 0;
  double most = 0;
  Duration previous{0};
  for (const Arrival& arrival : arrivals) {
    const double drained = bytes_per_second * to_seconds(arrival.at - previous);
    backlog = std::max(backlog - drained, 0.0) + static_cast<double>(arrival.bytes);
    previous = arrival.at;
    most = std::max(most, backlog);
  }
  return most;
}

BurstStatistics burst_statistics(const ByteSeries& series, Instant begin, Instant end,
                                 BitRate line_rate) {
  CHECK(series.bin > Duration::zero(), "a bin has a width");
  const std::vector<std::uint64_t> bins = bins_between(series, begin, end);
  BurstStatistics statistics;
  statistics.bin = series.bin;
  statistics.length = series.bin * static_cast<std::int64_t>(bins.size());
  statistics.total = Bytes{total_of(bins)};
  for (const Duration window : kPeakToMeanWindows) {
    // The nearest whole number of bins; with bins of a tenth of the window or less this is within a
    // twentieth of it, and exact for the default width.
    const auto windows =
        static_cast<std::size_t>(std::max<std::int64_t>((window + series.bin / 2) / series.bin, 1));
    statistics.peak_to_mean.push_back({.window = window,
                                       .value = peak_to_mean(bins, windows),
                                       .resolution_ok = series.bin * 10 <= window});
  }
  if (statistics.total == Bytes{0}) return statistics;

  double bytes_per_second = line_rate.bytes_per_second();
  if (line_rate == BitRate{0}) {
    statistics.drain_rate_source = DrainRateSource::peak_bin;
    bytes_per_second = static_cast<double>(envelope(bins, 1)) / to_seconds(series.bin);
  }
  statistics.backlog = backlogs(bins, series.bin, bytes_per_second);
  return statistics;
}

}  // namespace rehearsal::measure

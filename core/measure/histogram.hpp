#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/encoding.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"

struct hdr_histogram;

namespace rehearsal::measure {

/// From how many values on a percentile is told: one value must lie beyond it, or it is the maximum
/// by another name. The median of one value is that value.
inline constexpr std::uint64_t kCountForP50 = 1;
inline constexpr std::uint64_t kCountForP95 = 20;
inline constexpr std::uint64_t kCountForP99 = 100;

/// A distribution of durations in a few figures; absent where the count does not carry them.
struct DurationSummary {
  std::uint64_t count = 0;
  std::optional<Duration> mean = {};  ///< from 1
  std::optional<Duration> p50 = {};   ///< from kCountForP50
  std::optional<Duration> p95 = {};   ///< from kCountForP95
  std::optional<Duration> p99 = {};   ///< from kCountForP99
  std::optional<Duration> max = {};   ///< from 1

  bool operator==(const DurationSummary&) const = default;
};

/// Exact figures by nearest rank (the smallest value with at least p of all at or below it).
DurationSummary summarise(std::vector<Duration> values);

/// The value at nearest rank `quantile` of (0, 1]; `sorted` ascending, not empty.
Duration nearest_rank(const std::vector<Duration>& sorted, double quantile);

/// Durations from 1 ns to an hour with three significant figures, in memory that does not grow
/// (HdrHistogram; 0.26 MiB, touched where values fall). Histograms of several agents merge.
class DurationHistogram {
 public:
  DurationHistogram();
  ~DurationHistogram();
  DurationHistogram(const DurationHistogram& other);
  DurationHistogram& operator=(const DurationHistogram& other);
  DurationHistogram(DurationHistogram&&) noexcept;
  DurationHistogram& operator=(DurationHistogram&&) noexcept;

  /// Below zero counts as zero, over an hour as an hour. Data path: no allocation.
  void record(Duration value) noexcept;
  void merge(const DurationHistogram& other) noexcept;
  void clear() noexcept;

  std::uint64_t count() const noexcept;
  /// Exact. Zero when empty.
  Duration mean() const noexcept;
  Duration max() const noexcept;
  /// The value at `quantile` of (0, 1], to three significant figures. Zero when empty.
  Duration quantile(double quantile) const noexcept;
  DurationSummary summary() const;

  void encode(Encoder& encoder) const;
  static Result<DurationHistogram> decode(Decoder& decoder);

 private:
  struct Close {
    void operator()(hdr_histogram* histogram) const noexcept;
  };
  std::unique_ptr<hdr_histogram, Close> histogram_;
  std::uint64_t sum_ns_ = 0;
  std::int64_t max_ns_ = 0;
};

}  // namespace rehearsal::measure

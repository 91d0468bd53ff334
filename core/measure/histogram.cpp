#include "core/measure/histogram.hpp"

#include <hdr_histogram.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/check.hpp"

namespace rehearsal::measure {
namespace {

constexpr std::int64_t kLowest = 1;
constexpr std::int64_t kHighest = Duration{std::chrono::hours{1}}.count();
constexpr int kSignificantFigures = 3;
constexpr std::uint64_t kCountMax = std::uint64_t{1} << 48;

hdr_histogram* make() {
  hdr_histogram* histogram = nullptr;
  CHECK(hdr_init(kLowest, kHighest, kSignificantFigures, &histogram) == 0,
        "a histogram needs 0.26 MiB");
  return histogram;
}

// Only figures that `count` carries.
template <typename Quantile>
DurationSummary summary_of(std::uint64_t count, Duration mean, Duration max,
                           const Quantile& quantile) {
  DurationSummary summary{.count = count};
  if (count == 0) return summary;
  summary.mean = mean;
  summary.max = max;
  if (count >= kCountForP50) summary.p50 = quantile(0.50);
  if (count >= kCountForP95) summary.p95 = quantile(0.95);
  if (count >= kCountForP99) summary.p99 = quantile(0.99);
  return summary;
}

// 1-based rank of the quantile among `count` values. The product may be a hair above a whole number
// (0.95 × 20 is 19.000…), which must not count as the next one.
std::uint64_t rank_of(std::uint64_t count, double quantile) {
  const double rank = std::ceil(quantile * static_cast<double>(count) - 1e-9);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(rank, 1.0)), 1, count);
}

}  // namespace

Duration nearest_rank(const std::vector<Duration>& sorted, double quantile) {
  CHECK(!sorted.empty(), "nothing has no quantile");
  return sorted[rank_of(sorted.size(), quantile) - 1];
}

DurationSummary summarise(std::vector<Duration> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const Duration sum = std::accumulate(values.begin(), values.end(), Duration::zero());
  return summary_of(values.size(), sum / static_cast<std::int64_t>(values.size()), values.back(),
                    [&](double quantile) { return nearest_rank(values, quantile); });
}

void DurationHistogram::Close::operator()(hdr_histogram* histogram) const noexcept {
  hdr_close(histogram);
}

DurationHistogram::DurationHistogram() : histogram_(make()) {}
DurationHistogram::~DurationHistogram() = default;
DurationHistogram::DurationHistogram(DurationHistogram&&) noexcept = default;
DurationHistogram& DurationHistogram::operator=(DurationHistogram&&) noexcept = default;

DurationHistogram::DurationHistogram(const DurationHistogram& other) : histogram_(make()) {
  merge(other);
}

DurationHistogram& DurationHistogram::operator=(const DurationHistogram& other) {
  if (this != &other) {
    clear();
    merge(other);
  }
  return *this;
}

void DurationHistogram::record(Duration value) noexcept {
  const std::int64_t ns = std::clamp<std::int64_t>(value.count(), 0, kHighest);
  hdr_record_value(histogram_.get(), ns);
  sum_ns_ += static_cast<std::uint64_t>(ns);
  max_ns_ = std::max(max_ns_, ns);
}

void DurationHistogram::merge(const DurationHistogram& other) noexcept {
  hdr_add(histogram_.get(), other.histogram_.get());
  sum_ns_ += other.sum_ns_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

void DurationHistogram::clear() noexcept {
  hdr_reset(histogram_.get());
  sum_ns_ = 0;
  max_ns_ = 0;
}

std::uint64_t DurationHistogram::count() const noexcept {
  return static_cast<std::uint64_t>(histogram_->total_count);
}

Duration DurationHistogram::mean() const noexcept {
  if (count() == 0) return Duration::zero();
  return Duration{static_cast<std::int64_t>(sum_ns_ / count())};
}

Duration DurationHistogram::max() const noexcept { return Duration{max_ns_}; }

Duration DurationHistogram::quantile(double quantile) const noexcept {
  if (count() == 0) return Duration::zero();
  const std::int64_t value = hdr_value_at_percentile(histogram_.get(), quantile * 100.0);
  return Duration{std::min(value, max_ns_)};
}

DurationSummary DurationHistogram::summary() const {
  return summary_of(count(), mean(), max(), [&](double share) { return quantile(share); });
}

void DurationHistogram::encode(Encoder& encoder) const {
  encoder.number(sum_ns_);
  encoder.number(static_cast<std::uint64_t>(max_ns_));
  const std::int64_t* counts = histogram_->counts;
  const auto slots = static_cast<std::size_t>(histogram_->counts_len);
  encoder.number(slots - static_cast<std::size_t>(std::count(counts, counts + slots, 0)));
  std::size_t next = 0;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (counts[slot] == 0) continue;
    encoder.number(slot - next);
    encoder.number(static_cast<std::uint64_t>(counts[slot]));
    next = slot + 1;
  }
}

Result<DurationHistogram> DurationHistogram::decode(Decoder& decoder) {
  // All histograms have the same slots.
  static const auto kSlots = static_cast<std::uint64_t>(DurationHistogram().histogram_->counts_len);
  struct Entry {
    std::uint64_t slot;
    std::uint64_t count;
  };
  ASSIGN_OR_RETURN(const std::uint64_t sum, decoder.number());
  ASSIGN_OR_RETURN(const std::uint64_t max, decoder.number_up_to(kHighest, "the longest duration"));
  ASSIGN_OR_RETURN(const std::size_t size, decoder.count(2, "the slots of a histogram"));
  // Read whole before the histogram is made: bytes that are none cost no more than their length.
  std::vector<Entry> entries;
  std::uint64_t next = 0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (next >= kSlots) return invalid("a histogram has more slots than there are");
    ASSIGN_OR_RETURN(const std::uint64_t gap,
                     decoder.number_up_to(kSlots - 1 - next, "the gap between histogram slots"));
    ASSIGN_OR_RETURN(const std::uint64_t count,
                     decoder.number_up_to(kCountMax - total, "the count of a histogram slot"));
    if (count == 0) return invalid("a histogram slot is listed with a count of zero");
    entries.push_back({.slot = next + gap, .count = count});
    next += gap + 1;
    total += count;
  }

  DurationHistogram result;
  for (const Entry& entry : entries) {
    result.histogram_->counts[entry.slot] = static_cast<std::int64_t>(entry.count);
  }
  hdr_reset_internal_counters(result.histogram_.get());
  result.sum_ns_ = sum;
  result.max_ns_ = static_cast<std::int64_t>(max);
  return result;
}

}  // namespace rehearsal::measure

#include "core/measure/arrival_curve.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/check.hpp"

namespace rehearsal::measure {
namespace {

constexpr std::uint64_t kNanosecondsMax = (std::uint64_t{1} << 62) - 1;

// Rounds towards minus infinity.
std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  const std::int64_t quotient = value / by;
  return quotient - (value % by < 0 ? 1 : 0);
}

Instant origin_on_common_clock(const AlignedSeries& part) {
  return part.series->origin + part.offset;
}

Instant end_on_common_clock(const AlignedSeries& part) {
  return origin_on_common_clock(part) +
         part.series->bin * static_cast<std::int64_t>(part.series->bytes.size());
}

}  // namespace

std::uint64_t ByteSeries::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

ByteBins::ByteBins(Instant origin, std::size_t capacity, Duration bin)
    : origin_(origin),
      bin_at_start_(bin),
      bin_(bin),
      end_(bin * static_cast<std::int64_t>(capacity)),
      bytes_(capacity) {
  CHECK(capacity >= 2, "neighbours must have a place to merge to");
  CHECK(capacity % 2 == 0, "every bin has a neighbour");
  CHECK(capacity <= kBinsMax, "a series must be small enough to be sent");
  CHECK(bin > Duration::zero(), "a bin has a width");
}

void ByteBins::widen(Duration since) noexcept {
  while (since >= end_) {
    const std::size_t merged = (used_ + 1) / 2;
    for (std::size_t i = 0; i < merged; ++i) {
      bytes_[i] = bytes_[2 * i] + bytes_[2 * i + 1];  // the capacity is even
    }
    std::fill(bytes_.begin() + static_cast<std::ptrdiff_t>(merged),
              bytes_.begin() + static_cast<std::ptrdiff_t>(used_), 0);
    used_ = merged;
    bin_ *= 2;
    end_ *= 2;
  }
}

void ByteBins::restart(Instant origin) noexcept {
  const std::uint64_t before = std::accumulate(
      bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(used_), std::uint64_t{0});
  std::fill(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(used_), 0);
  bytes_[0] = before;
  used_ = before > 0 ? 1 : 0;
  origin_ = origin;
  bin_ = bin_at_start_;
  end_ = bin_ * static_cast<std::int64_t>(bytes_.size());
}

ByteSeries ByteBins::series() const {
  const auto counted = bytes();
  return {.origin = origin_, .bin = bin_, .bytes = {counted.begin(), counted.end()}};
}

ByteSeries widened(const ByteSeries& series, std::size_t factor) {
  CHECK(factor > 0, "a bin has a width");
  ByteSeries wide{
      .origin = series.origin, .bin = series.bin * static_cast<std::int64_t>(factor), .bytes = {}};
  wide.bytes.resize((series.bytes.size() + factor - 1) / factor);
  for (std::size_t i = 0; i < series.bytes.size(); ++i) wide.bytes[i / factor] += series.bytes[i];
  return wide;
}

ByteSeries sum_of(std::span<const AlignedSeries> parts) {
  if (parts.empty()) return {};
  ByteSeries sum{.origin = Instant::max(), .bin = Duration::zero(), .bytes = {}};
  Instant end = Instant::min();
  for (const AlignedSeries& part : parts) {
    sum.bin = std::max(sum.bin, part.series->bin);
    sum.origin = std::min(sum.origin, origin_on_common_clock(part));
    end = std::max(end, end_on_common_clock(part));
  }
  // One bin more: a series may be shifted to the edge behind its end.
  const auto bins_for = [&] {
    return static_cast<std::uint64_t>((end - sum.origin) / sum.bin) + 2;
  };
  while (bins_for() > kBinsMax) sum.bin *= 2;
  sum.bytes.resize(bins_for());

  for (const AlignedSeries& part : parts) {
    const std::int64_t from_origin = (origin_on_common_clock(part) - sum.origin).count();
    const std::int64_t width = sum.bin.count();
    // Bins that fit the sum's keep their shape: the whole series moves to the nearest edge. Others
    // (widths that do not divide) go bin by bin to where their beginning lies.
    const bool divides = width % part.series->bin.count() == 0;
    const std::int64_t shift =
        divides ? floor_divide(from_origin + width / 2, width) * width : from_origin;
    for (std::size_t i = 0; i < part.series->bytes.size(); ++i) {
      const std::int64_t at = shift + part.series->bin.count() * static_cast<std::int64_t>(i);
      sum.bytes[static_cast<std::size_t>(at / width)] += part.series->bytes[i];
    }
  }
  while (!sum.bytes.empty() && sum.bytes.back() == 0) sum.bytes.pop_back();
  return sum;
}

void encode(const ByteSeries& series, Encoder& encoder) {
  encoder.number(static_cast<std::uint64_t>(series.origin.time_since_epoch().count()));
  encoder.number(static_cast<std::uint64_t>(series.bin.count()));
  // Pairs of (silent bins, bins that follow) and the latter's bytes; trailing silence is dropped.
  std::size_t size = series.bytes.size();
  while (size > 0 && series.bytes[size - 1] == 0) --size;
  encoder.number(size);
  for (std::size_t i = 0; i < size;) {
    std::size_t busy = i;
    while (series.bytes[busy] == 0) ++busy;
    std::size_t end = busy;
    while (end < size && series.bytes[end] != 0) ++end;
    encoder.number(busy - i);
    encoder.number(end - busy);
    for (std::size_t k = busy; k < end; ++k) encoder.number(series.bytes[k]);
    i = end;
  }
}

Result<ByteSeries> decode_byte_series(Decoder& decoder, std::size_t bins_max) {
  ByteSeries series;
  ASSIGN_OR_RETURN(const std::uint64_t origin,
                   decoder.number_up_to(kNanosecondsMax, "the origin of a byte series"));
  ASSIGN_OR_RETURN(const std::uint64_t bin,
                   decoder.number_up_to(kNanosecondsMax / kBinsMax, "the width of a bin"));
  if (bin == 0) return invalid("a byte series has bins of no width");
  ASSIGN_OR_RETURN(const std::uint64_t size, decoder.number_up_to(bins_max, "the count of bins"));
  series.origin = Instant{Duration{static_cast<std::int64_t>(origin)}};
  series.bin = Duration{static_cast<std::int64_t>(bin)};
  while (series.bytes.size() < size) {
    const std::uint64_t left = size - series.bytes.size();
    ASSIGN_OR_RETURN(const std::uint64_t silent,
                     decoder.number_up_to(left, "a run of silent bins"));
    ASSIGN_OR_RETURN(const std::uint64_t busy,
                     decoder.number_up_to(left - silent, "a run of busy bins"));
    if (busy == 0) return invalid("a byte series has an empty run of busy bins");
    series.bytes.resize(series.bytes.size() + silent);
    for (std::uint64_t i = 0; i < busy; ++i) {
      ASSIGN_OR_RETURN(const std::uint64_t bytes,
                       decoder.number_up_to(kNanosecondsMax / kBinsMax, "the bytes of a bin"));
      series.bytes.push_back(bytes);
    }
  }
  return series;
}

std::vector<BinRun> runs_of(std::span<const std::uint64_t> bins) {
  std::vector<BinRun> runs;
  for (const std::uint64_t bytes : bins) {
    if (!runs.empty() && runs.back().bytes == bytes) {
      ++runs.back().count;
    } else {
      runs.push_back({.count = 1, .bytes = bytes});
    }
  }
  return runs;
}

Result<std::vector<std::uint64_t>> bins_of(std::span<const BinRun> runs) {
  std::vector<std::uint64_t> bins;
  for (const BinRun& run : runs) {
    if (run.count > kBinsMax - bins.size()) {
      return invalid("a series of more than " + std::to_string(kBinsMax) + " bins");
    }
    bins.insert(bins.end(), run.count, run.bytes);
  }
  return bins;
}

}  // namespace rehearsal::measure

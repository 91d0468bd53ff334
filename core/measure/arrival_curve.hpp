#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/encoding.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace rehearsal::measure {

/// The finest bin that a report needs: peak-to-mean at 1 ms asks for bins of a tenth of it.
inline constexpr Duration kBinDefault = std::chrono::microseconds{100};
/// Bins of one series at most (8 MiB): 105 s at 100 µs, then the bins get wider.
inline constexpr std::size_t kBinsMax = std::size_t{1} << 20;

/// Bytes per bin at one observation point in one direction: bin i counts [origin + i·bin,
/// origin + (i + 1)·bin). Behind the last bin nothing was seen. A value that is sent, merged,
/// stored.
struct ByteSeries {
  Instant origin = {};  ///< of the clock of the host that counted
  Duration bin = kBinDefault;
  std::vector<std::uint64_t> bytes = {};

  std::uint64_t total() const;
  bool operator==(const ByteSeries&) const = default;
};

/// Counts bytes into bins while they are sent or received. Everything is allocated by the
/// constructor; when an instant lies behind the last bin, neighbours are merged in place and the
/// bin width doubles, so a run of any length fits (at a resolution that is told by bin()). Data
/// path, owner thread only.
class ByteBins {
 public:
  /// `capacity`: bins, even, in [2, kBinsMax]; `bin` above zero.
  ByteBins(Instant origin, std::size_t capacity, Duration bin = kBinDefault);

  /// Counts `bytes` at `at`. An instant before the origin counts in the first bin.
  void add(Instant at, std::uint64_t bytes) noexcept {
    const auto since = at - origin_;
    if (since >= end_) widen(since);
    const std::size_t index =
        since <= Duration::zero() ? 0 : static_cast<std::size_t>(since / bin_);
    bytes_[index] += bytes;
    if (index >= used_) used_ = index + 1;
  }

  /// Begins anew at `origin`, with the bin width that the constructor was given. What was counted
  /// before is not lost: it stands in the first bin (a peer may have started a little earlier).
  void restart(Instant origin) noexcept;

  Instant origin() const noexcept { return origin_; }
  Duration bin() const noexcept { return bin_; }
  bool widened() const noexcept { return bin_ != bin_at_start_; }
  std::span<const std::uint64_t> bytes() const noexcept { return {bytes_.data(), used_}; }

  /// A copy of what was counted. Allocates; not for the data path.
  ByteSeries series() const;

 private:
  void widen(Duration since) noexcept;

  Instant origin_;
  Duration bin_at_start_;
  Duration bin_;
  Duration end_;  // bin_ × capacity
  std::size_t used_ = 0;
  std::vector<std::uint64_t> bytes_;
};

/// The same series with bins `factor` times as wide.
ByteSeries widened(const ByteSeries& series, std::size_t factor);

/// A series and what must be added to its host's clock to get the common one.
struct AlignedSeries {
  const ByteSeries* series = nullptr;
  Duration offset{0};
};

/// The sum of several series on one time axis (of the common clock): the arrival curve of an
/// aggregate. Bins are as wide as the widest; each series is shifted to the nearest bin edge (an
/// error of at most half a bin, beside that of the clocks). Never add envelopes instead: that is
/// only an upper bound. Empty input gives an empty series; an aggregate that would need more than
/// kBinsMax bins gets wider ones.
ByteSeries sum_of(std::span<const AlignedSeries> parts);

/// Runs of silence cost a few bytes.
void encode(const ByteSeries& series, Encoder& encoder);
/// Reads what encode() wrote, of at most `bins_max` bins: silence is short when encoded, so the
/// caller must say how much of it may become memory.
Result<ByteSeries> decode_byte_series(Decoder& decoder, std::size_t bins_max = kBinsMax);

/// A series as (count, bytes) runs of equal bins: how series.jsonl holds it.
struct BinRun {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< in each of the bins
  bool operator==(const BinRun&) const = default;
};
std::vector<BinRun> runs_of(std::span<const std::uint64_t> bins);
/// The bins again; fails if they are more than kBinsMax.
Result<std::vector<std::uint64_t>> bins_of(std::span<const BinRun> runs);

}  // namespace rehearsal::measure

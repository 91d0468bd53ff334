#include "core/measure/burst.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "core/base/random.hpp"

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;

using Bins = std::vector<std::uint64_t>;

// The slots of acceptance test A1: bursts of 8 and 4 in a period of ten.
Bins on_off(std::size_t shift = 0) {
  Bins bins(100);
  for (std::size_t period = 0; period < 10; ++period) {
    bins[(period * 10 + shift) % 100] += 8;
    bins[(period * 10 + shift + 1) % 100] += 4;
  }
  return bins;
}

Bins sum(const std::vector<Bins>& parts) {
  Bins total(parts.front().size());
  for (const Bins& part : parts) {
    for (std::size_t i = 0; i < part.size(); ++i) total[i] += part[i];
  }
  return total;
}

// Bmax(r) = max over windows of E(k) − r k, the other way to it.
double conjugate_backlog(const Bins& bins, double rate) {
  double most = 0;
  for (std::size_t window = 1; window <= bins.size(); ++window) {
    most = std::max(
        most, static_cast<double>(envelope(bins, window)) - rate * static_cast<double>(window));
  }
  return most;
}

TEST(Burst, OnOffSlotsHaveTheirEnvelope) {
  const Bins bins = on_off();
  const std::vector<std::pair<std::size_t, std::uint64_t>> expected = {
      {1, 8}, {2, 12}, {3, 12}, {10, 12}, {11, 20}, {12, 24}};
  for (const auto& [window, bytes] : expected) {
    EXPECT_EQ(envelope(bins, window), bytes) << "window " << window;
  }
}

TEST(Burst, OnOffSlotsHaveTheirPeakToMean) {
  const Bins bins = on_off();
  const std::vector<std::pair<std::size_t, double>> expected = {
      {1, 20.0 / 3}, {2, 5}, {5, 2}, {10, 1}, {12, 5.0 / 3}, {100, 1}};
  for (const auto& [window, ratio] : expected) {
    EXPECT_DOUBLE_EQ(peak_to_mean(bins, window).value(), ratio) << "window " << window;
  }
}

TEST(Burst, OnOffSlotsHaveTheirBacklog) {
  const Bins bins = on_off();
  const std::vector<std::pair<double, double>> expected = {
      {8, 0}, {4, 4}, {2, 8}, {1.2, 9.6}, {1, 28}};
  for (const auto& [rate, backlog] : expected) {
    EXPECT_NEAR(backlog_max(bins, rate), backlog, 1e-9) << "rate " << rate;
    EXPECT_NEAR(conjugate_backlog(bins, rate), backlog, 1e-9) << "rate " << rate;
  }
}

TEST(Burst, FiveAlignedCopiesAddUp) {
  const Bins bins = sum({on_off(), on_off(), on_off(), on_off(), on_off()});
  EXPECT_EQ(envelope(bins, 1), 40U);
  EXPECT_DOUBLE_EQ(peak_to_mean(bins, 1).value(), 20.0 / 3);
  EXPECT_DOUBLE_EQ(backlog_max(bins, 10), 40);
}

TEST(Burst, FiveStaggeredCopiesAreNearlySmooth) {
  const Bins bins = sum({on_off(0), on_off(2), on_off(4), on_off(6), on_off(8)});
  EXPECT_EQ(envelope(bins, 1), 8U);
  EXPECT_NEAR(peak_to_mean(bins, 1).value(), 1.333, 0.001);
  EXPECT_DOUBLE_EQ(peak_to_mean(bins, 2).value(), 1);
  EXPECT_DOUBLE_EQ(backlog_max(bins, 10), 0);
  EXPECT_DOUBLE_EQ(backlog_max(bins, 6), 2);
}

TEST(Burst, PacketsHaveHalfOpenWindows) {
  std::vector<Arrival> packets;
  for (const auto at : {0us, 1us, 2us, 10us, 11us, 30us}) packets.push_back({at, 1500});
  const std::vector<std::pair<Duration, std::uint64_t>> expected = {
      {1us, 1500},  {2us, 3000},  {3us, 4500}, {10us, 4500},
      {11us, 6000}, {12us, 7500}, {31us, 9000}};
  for (const auto& [window, bytes] : expected) {
    EXPECT_EQ(envelope(packets, window), bytes) << window.count() << " ns";
  }
  EXPECT_EQ(envelope(packets, 1ns), 1500U) << "E(0+) is the largest packet";
  EXPECT_NEAR(backlog_max(packets, 1000e6), 2500, 1e-6);
  EXPECT_NEAR(backlog_max(packets, 500e6), 3500, 1e-6);
  EXPECT_NEAR(backlog_max(packets, 200e6), 5300, 1e-6);
}

// Acceptance test A4: 100 Gbit/s for 5 ms once in 300 ms, ten times, seen in bins of `bin`,
// beginning `shift` into the first bin.
ByteSeries live_on_off(Duration bin, Duration shift) {
  constexpr double kBytesPerNanosecond = 12.5;
  ByteSeries series{.origin = Instant{1s}, .bin = bin, .bytes = {}};
  series.bytes.resize(static_cast<std::size_t>(3s / bin));
  for (int period = 0; period < 10; ++period) {
    const Duration begin = period * 300ms + shift;
    const Duration end = begin + 5ms;
    for (std::size_t i = 0; i < series.bytes.size(); ++i) {
      const Duration bin_begin = bin * static_cast<std::int64_t>(i);
      const Duration inside = std::min(end, bin_begin + bin) - std::max(begin, bin_begin);
      if (inside <= Duration::zero()) continue;
      series.bytes[i] +=
          static_cast<std::uint64_t>(kBytesPerNanosecond * static_cast<double>(inside.count()));
    }
  }
  return series;
}

TEST(BurstStatistics, LiveOnOffHasItsExactFigures) {
  const ByteSeries series = live_on_off(100us, 0us);
  const BurstStatistics statistics =
      burst_statistics(series, series.origin, series.origin + 3s, BitRate{100'000'000'000});
  EXPECT_EQ(statistics.length, 3s);
  EXPECT_EQ(statistics.total, Bytes{625'000'000});
  ASSERT_EQ(statistics.peak_to_mean.size(), 4U);
  EXPECT_NEAR(*statistics.peak_to_mean[0].value, 60, 1e-9);  // 1 ms
  EXPECT_NEAR(*statistics.peak_to_mean[1].value, 60, 1e-9);  // 5 ms
  EXPECT_NEAR(*statistics.peak_to_mean[2].value, 30, 1e-9);  // 10 ms
  EXPECT_NEAR(*statistics.peak_to_mean[3].value, 3, 1e-9);   // 100 ms
  EXPECT_NEAR(*peak_to_mean(series.bytes, 3000), 1, 1e-9);
  for (const PeakToMean& figure : statistics.peak_to_mean) EXPECT_TRUE(figure.resolution_ok);

  EXPECT_EQ(statistics.drain_rate_source, DrainRateSource::line_rate);
  ASSERT_EQ(statistics.backlog.size(), 3U);
  EXPECT_EQ(statistics.backlog[0].rate, BitRate{100'000'000'000});
  EXPECT_EQ(statistics.backlog[0].bytes, Bytes{0});
  EXPECT_EQ(statistics.backlog[1].rate, BitRate{50'000'000'000});
  EXPECT_EQ(statistics.backlog[1].bytes, Bytes{31'250'000});
  EXPECT_EQ(statistics.backlog[2].bytes, Bytes{46'875'000});
}

TEST(BurstStatistics, MisalignedBinsStayWithinTheSamplingRule) {
  for (const auto& [bin, low] :
       std::vector<std::pair<Duration, double>>{{1ms, 48}, {100us, 58.8}}) {
    for (int tenth = 0; tenth < 10; ++tenth) {
      const ByteSeries series = live_on_off(bin, bin * tenth / 10);
      const BurstStatistics statistics =
          burst_statistics(series, series.origin, series.origin + 3s, BitRate{0});
      const double five_ms = *statistics.peak_to_mean[1].value;
      EXPECT_GE(five_ms, low);
      EXPECT_LE(five_ms, 60 + 1e-9);
      EXPECT_EQ(statistics.peak_to_mean[1].resolution_ok, bin == 100us);
    }
  }
}

TEST(BurstStatistics, WithoutALineRateTheBusiestBinStandsForIt) {
  const ByteSeries series{.origin = Instant{1s}, .bin = 100us, .bytes = {1000, 500, 0, 0}};
  const BurstStatistics statistics =
      burst_statistics(series, series.origin, series.origin + 400us, BitRate{0});
  EXPECT_EQ(statistics.drain_rate_source, DrainRateSource::peak_bin);
  ASSERT_EQ(statistics.backlog.size(), 3U);
  EXPECT_EQ(statistics.backlog[0].rate, BitRate{80'000'000});
  EXPECT_EQ(statistics.backlog[0].bytes, Bytes{0});
  EXPECT_EQ(statistics.backlog[1].bytes, Bytes{500});
  EXPECT_EQ(statistics.backlog[2].bytes, Bytes{1000});
}

TEST(BurstStatistics, OnlyWhatLiesInTheRunCounts) {
  const ByteSeries series{.origin = Instant{1s}, .bin = 100us, .bytes = {100, 1, 2, 3, 100}};
  const BurstStatistics inside =
      burst_statistics(series, series.origin + 100us, series.origin + 400us, BitRate{0});
  EXPECT_EQ(inside.total, Bytes{6});
  EXPECT_EQ(inside.length, 300us);
  const BurstStatistics around =
      burst_statistics(series, series.origin - 150us, series.origin + 1ms, BitRate{0});
  EXPECT_EQ(around.total, Bytes{206});
  EXPECT_EQ(around.length, 1200us) << "silence before and behind counts";
}

TEST(BurstStatistics, NothingSeenHasNoRatioAndNoBacklog) {
  const ByteSeries series{.origin = Instant{1s}, .bin = 100us, .bytes = {}};
  const BurstStatistics statistics =
      burst_statistics(series, series.origin, series.origin + 1s, BitRate{1'000'000});
  EXPECT_FALSE(statistics.peak_to_mean[0].value);
  EXPECT_TRUE(statistics.backlog.empty());
}

TEST(BurstStatistics, AWindowLongerThanTheRunHasNoRatio) {
  const ByteSeries series{.origin = Instant{1s}, .bin = 100us, .bytes = {5}};
  const BurstStatistics statistics =
      burst_statistics(series, series.origin, series.origin + 2ms, BitRate{0});
  EXPECT_TRUE(statistics.peak_to_mean[0].value);
  EXPECT_FALSE(statistics.peak_to_mean[1].value);
}

class RandomTraces : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override { std::cout << "seed " << GetParam() << "\n"; }

  // Packets in bursts and pauses, with equal instants now and then.
  std::vector<Arrival> packets() {
    std::vector<Arrival> result;
    Duration at{0};
    const std::uint64_t count = random_.between(1, 200);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t gap = random_.chance(0.1) ? random_.below(5000) : random_.below(40);
      at += Duration{static_cast<std::int64_t>(gap)};
      result.push_back({at, random_.between(1, 9000)});
    }
    return result;
  }

  static Bins binned(const std::vector<Arrival>& packets, Duration bin) {
    Bins bins(static_cast<std::size_t>(packets.back().at / bin) + 1);
    for (const Arrival& packet : packets) {
      bins[static_cast<std::size_t>(packet.at / bin)] += packet.bytes;
    }
    return bins;
  }

  Random random_{GetParam()};
};

TEST_P(RandomTraces, KeepTheIdentitiesOfTheEnvelope) {
  for (int round = 0; round < 20; ++round) {
    const Bins bins = binned(packets(), 37ns);
    const std::size_t size = bins.size();
    std::vector<std::uint64_t> e(size + 1);
    for (std::size_t k = 1; k <= size; ++k) e[k] = envelope(bins, k);
    for (std::size_t k = 1; k <= size; ++k) ASSERT_LE(e[k - 1], e[k]) << "not monotone at " << k;
    for (int i = 0; i < 50; ++i) {
      const std::size_t a = random_.below(size + 1);
      const std::size_t b = random_.below(size + 1 - a);
      ASSERT_LE(e[a + b], e[a] + e[b]) << "not subadditive at " << a << " + " << b;
    }
    const double peak = *peak_to_mean(bins, 1);
    for (std::size_t window = 1; window <= size; ++window) {
      ASSERT_LE(*peak_to_mean(bins, window), peak * (1 + 1e-12));
      for (std::size_t factor = 2; factor * window <= size; ++factor) {
        ASSERT_LE(*peak_to_mean(bins, factor * window), *peak_to_mean(bins, window) * (1 + 1e-12));
      }
    }
    ASSERT_NEAR(*peak_to_mean(bins, size), 1, 1e-12);
  }
}

TEST_P(RandomTraces, LindleyIsTheConjugateForm) {
  for (int round = 0; round < 20; ++round) {
    const Bins bins = binned(packets(), 113ns);
    const double mean =
        static_cast<double>(envelope(bins, bins.size())) / static_cast<double>(bins.size());
    for (const double factor : {0.5, 1.0, 1.5, 4.0}) {
      const double expected = conjugate_backlog(bins, mean * factor);
      ASSERT_NEAR(backlog_max(bins, mean * factor), expected, 1e-6 * (1 + expected));
    }
  }
}

TEST_P(RandomTraces, LeakyBucketBoundsThePacketEnvelope) {
  for (int round = 0; round < 20; ++round) {
    const std::vector<Arrival> trace = packets();
    const double rate = 1e9 * static_cast<double>(random_.between(1, 200));
    const double bucket = backlog_max(trace, rate);
    for (int i = 0; i < 20; ++i) {
      const Duration window{static_cast<std::int64_t>(random_.between(1, 4000))};
      ASSERT_LE(static_cast<double>(envelope(trace, window)),
                bucket + rate * to_seconds(window) + 1e-3);
    }
  }
}

TEST_P(RandomTraces, BinsBracketThePackets) {
  for (int round = 0; round < 50; ++round) {
    const std::vector<Arrival> trace = packets();
    const Duration bin{static_cast<std::int64_t>(random_.between(1, 300))};
    const Bins bins = binned(trace, bin);
    for (std::size_t k = 1; k <= std::min<std::size_t>(bins.size(), 30); ++k) {
      const auto windows = static_cast<std::int64_t>(k);
      const std::uint64_t binned_envelope = envelope(bins, k);
      ASSERT_LE(binned_envelope, envelope(trace, bin * windows));
      if (k > 1) {
        ASSERT_LE(envelope(trace, bin * (windows - 1)), binned_envelope);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraces, testing::Values(1, 2, 3, 20240101, 0xB1A5));

}  // namespace
}  // namespace rehearsal::measure

#include "core/measure/arrival_curve.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "core/base/random.hpp"

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;

const Instant kOrigin{Duration{1'000'000'000}};

Result<ByteSeries> read_back(const ByteSeries& series) {
  Encoder encoder;
  encode(series, encoder);
  Decoder decoder(encoder.bytes());
  return decode_byte_series(decoder);
}

TEST(ByteBins, CountsIntoHalfOpenBins) {
  ByteBins bins(kOrigin, 8, 100us);
  bins.add(kOrigin, 1);
  bins.add(kOrigin + 99'999ns, 2);
  bins.add(kOrigin + 100us, 4);
  bins.add(kOrigin + 799'999ns, 8);
  EXPECT_EQ(bins.series().bytes, (std::vector<std::uint64_t>{3, 4, 0, 0, 0, 0, 0, 8}));
  EXPECT_EQ(bins.bin(), 100us);
  EXPECT_FALSE(bins.widened());
}

TEST(ByteBins, AnInstantBeforeTheOriginCountsInTheFirstBin) {
  ByteBins bins(kOrigin, 2, 100us);
  bins.add(kOrigin - 1s, 5);
  EXPECT_EQ(bins.series().bytes, std::vector<std::uint64_t>{5});
}

TEST(ByteBins, DoublesTheWidthWhenFullAndLosesNothing) {
  ByteBins bins(kOrigin, 4, 100us);
  for (int i = 0; i < 4; ++i) bins.add(kOrigin + i * 100us, 1ULL << i);
  bins.add(kOrigin + 400us, 100);
  EXPECT_EQ(bins.bin(), 200us);
  EXPECT_TRUE(bins.widened());
  EXPECT_EQ(bins.series().bytes, (std::vector<std::uint64_t>{3, 12, 100}));
  bins.add(kOrigin + 100s, 7);  // many doublings at once
  EXPECT_EQ(bins.series().total(), 122U);
  EXPECT_EQ(bins.series().bytes.front(), 115U);
  EXPECT_LE(bins.series().bytes.size(), 4U);
}

TEST(ByteBins, RestartIsFineAgainAndLosesNothing) {
  ByteBins bins(kOrigin, 2, 100us);
  bins.add(kOrigin + 1s, 7);
  bins.restart(kOrigin + 2s);
  EXPECT_EQ(bins.bin(), 100us);
  bins.add(kOrigin + 2s + 150us, 3);
  EXPECT_EQ(bins.series().bytes, (std::vector<std::uint64_t>{7, 3}))
      << "what a punctual peer sent before a late start counts, in the first bin";
}

TEST(ByteBins, AnyOrderOfWideningKeepsTheTotalAndThePlaces) {
  const std::uint64_t seed = 20261129;
  RecordProperty("seed", std::to_string(seed));
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    ByteBins coarse(kOrigin, 16, 10us);
    ByteBins fine(kOrigin, kBinsMax / 16, 10us);
    for (int i = 0; i < 100; ++i) {
      const Instant at = kOrigin + Duration{static_cast<std::int64_t>(random.below(20'000'000))};
      const std::uint64_t bytes = random.below(1000);
      coarse.add(at, bytes);
      fine.add(at, bytes);
    }
    const auto factor = static_cast<std::size_t>(coarse.bin() / fine.bin());
    ByteSeries expected = widened(fine.series(), factor);
    while (!expected.bytes.empty() && expected.bytes.back() == 0) expected.bytes.pop_back();
    ByteSeries actual = coarse.series();
    while (!actual.bytes.empty() && actual.bytes.back() == 0) actual.bytes.pop_back();
    ASSERT_EQ(actual, expected);
  }
}

TEST(ByteSeries, ComesBackFromItsBytes) {
  const ByteSeries series{
      .origin = kOrigin, .bin = 100us, .bytes = {0, 0, 5, 6, 0, 0, 0, 1'000'000'000, 0, 1}};
  const auto back = read_back(series);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, series);
}

TEST(ByteSeries, EmptyAndSilentComeBackEmpty) {
  EXPECT_EQ(read_back({.origin = kOrigin, .bin = 1us, .bytes = {}})->bytes.size(), 0U);
  EXPECT_EQ(read_back({.origin = kOrigin, .bin = 1us, .bytes = {0, 0, 0}})->bytes.size(), 0U);
}

TEST(ByteSeries, SilenceCostsAFewBytes) {
  ByteSeries series{.origin = kOrigin, .bin = 100us, .bytes = {}};
  series.bytes.resize(kBinsMax);
  series.bytes.back() = 1;
  Encoder encoder;
  encode(series, encoder);
  EXPECT_LT(encoder.bytes().size(), 24U);
}

TEST(ByteSeries, RefusesMoreBinsThanAllowedBeforeAllocating) {
  Encoder encoder;
  encoder.number(1);
  encoder.number(100'000);
  encoder.number(kBinsMax + 1);
  Decoder decoder(encoder.bytes());
  const auto series = decode_byte_series(decoder);
  ASSERT_FALSE(series);
  EXPECT_NE(series.error().text().find("count of bins"), std::string::npos);
}

TEST(ByteSeries, RefusesEveryTruncation) {
  const ByteSeries series{.origin = kOrigin, .bin = 100us, .bytes = {0, 7, 0, 0, 300, 1}};
  Encoder encoder;
  encode(series, encoder);
  const std::string whole = encoder.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Decoder decoder(std::string_view(whole).substr(0, size));
    EXPECT_FALSE(decode_byte_series(decoder)) << size;
  }
}

TEST(SumOf, AddsOnTheCommonClock) {
  const ByteSeries one{.origin = kOrigin, .bin = 100us, .bytes = {1, 2, 3}};
  // Its clock is 10 s ahead; on the common clock it begins 200 µs after the other.
  const ByteSeries two{.origin = kOrigin + 10s + 200us, .bin = 100us, .bytes = {10, 20}};
  const std::vector<AlignedSeries> parts = {{&one, 0ns}, {&two, -10s}};
  const ByteSeries sum = sum_of(parts);
  EXPECT_EQ(sum.origin, kOrigin);
  EXPECT_EQ(sum.bytes, (std::vector<std::uint64_t>{1, 2, 13, 20}));
}

TEST(SumOf, ShiftsToTheNearestEdge) {
  const ByteSeries one{.origin = kOrigin, .bin = 100us, .bytes = {1, 1, 1}};
  const ByteSeries near{.origin = kOrigin + 49us, .bin = 100us, .bytes = {10}};
  const ByteSeries next{.origin = kOrigin + 51us, .bin = 100us, .bytes = {100}};
  const std::vector<AlignedSeries> parts = {{&one, 0ns}, {&near, 0ns}, {&next, 0ns}};
  EXPECT_EQ(sum_of(parts).bytes, (std::vector<std::uint64_t>{11, 101, 1}));
}

TEST(SumOf, TakesTheWidestBin) {
  const ByteSeries fine{.origin = kOrigin, .bin = 100us, .bytes = {1, 2, 3, 4, 5}};
  const ByteSeries coarse{.origin = kOrigin, .bin = 200us, .bytes = {10, 20}};
  const std::vector<AlignedSeries> parts = {{&fine, 0ns}, {&coarse, 0ns}};
  const ByteSeries sum = sum_of(parts);
  EXPECT_EQ(sum.bin, 200us);
  EXPECT_EQ(sum.bytes, (std::vector<std::uint64_t>{13, 27, 5}));
}

TEST(SumOf, NothingIsAnEmptySeries) { EXPECT_TRUE(sum_of({}).bytes.empty()); }

TEST(Runs, HoldEqualNeighboursAndComeBack) {
  const std::vector<std::uint64_t> bins = {0, 0, 0, 7, 7, 0, 9};
  const std::vector<BinRun> runs = runs_of(bins);
  EXPECT_EQ(runs, (std::vector<BinRun>{{3, 0}, {2, 7}, {1, 0}, {1, 9}}));
  EXPECT_EQ(bins_of(runs), bins);
}

TEST(Runs, RefusesMoreThanASeriesHolds) {
  const std::vector<BinRun> runs = {{kBinsMax, 0}, {1, 1}};
  EXPECT_FALSE(bins_of(runs));
}

}  // namespace
}  // namespace rehearsal::measure

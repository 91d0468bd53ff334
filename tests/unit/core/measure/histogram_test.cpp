#include "core/measure/histogram.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "core/base/random.hpp"

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;

std::vector<Duration> one_to(int count) {
  std::vector<Duration> values;
  for (int i = count; i >= 1; --i) values.push_back(i * 1us);
  return values;
}

Result<DurationHistogram> read_back(const DurationHistogram& histogram) {
  Encoder encoder;
  histogram.encode(encoder);
  Decoder decoder(encoder.bytes());
  return DurationHistogram::decode(decoder);
}

TEST(Summarise, IsExactByNearestRank) {
  const DurationSummary summary = summarise(one_to(100));
  EXPECT_EQ(summary.count, 100U);
  EXPECT_EQ(summary.mean, Duration{50'500});
  EXPECT_EQ(summary.p50, Duration{50us});
  EXPECT_EQ(summary.p95, Duration{95us});
  EXPECT_EQ(summary.p99, Duration{99us});
  EXPECT_EQ(summary.max, Duration{100us});
}

TEST(Summarise, SaysNoMoreThanTheCountCarries) {
  EXPECT_EQ(summarise({}), DurationSummary{});
  const DurationSummary one = summarise({7us});
  EXPECT_EQ(one.p50, Duration{7us});
  EXPECT_EQ(one.max, Duration{7us});
  EXPECT_FALSE(one.p95);
  EXPECT_FALSE(summarise(one_to(19)).p95);
  EXPECT_EQ(summarise(one_to(20)).p95, Duration{19us});
  EXPECT_FALSE(summarise(one_to(99)).p99);
  EXPECT_TRUE(summarise(one_to(100)).p99);
}

TEST(DurationHistogram, EmptyHasNoFigures) {
  const DurationHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.summary(), DurationSummary{});
}

TEST(DurationHistogram, IsWithinAThousandthOfTheExactFigures) {
  const std::uint64_t seed = 42;
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  DurationHistogram histogram;
  std::vector<Duration> values;
  for (int i = 0; i < 5000; ++i) {
    const Duration value{static_cast<std::int64_t>(random.between(1, 10)) *
                         static_cast<std::int64_t>(random.between(1, 100'000'000))};
    values.push_back(value);
    histogram.record(value);
  }
  const DurationSummary exact = summarise(values);
  const DurationSummary measured = histogram.summary();
  EXPECT_EQ(measured.mean, exact.mean);
  EXPECT_EQ(measured.max, exact.max);
  const auto near = [](Duration a, Duration b) {
    return std::abs(to_seconds(a) / to_seconds(b) - 1) < 0.001;
  };
  EXPECT_TRUE(near(*measured.p50, *exact.p50));
  EXPECT_TRUE(near(*measured.p95, *exact.p95));
  EXPECT_TRUE(near(*measured.p99, *exact.p99));
}

TEST(DurationHistogram, ClampsWhatItCannotHold) {
  DurationHistogram histogram;
  histogram.record(-5us);
  histogram.record(100h);
  EXPECT_EQ(histogram.count(), 2U);
  EXPECT_EQ(histogram.max(), 1h);
}

TEST(DurationHistogram, MergesLikeOneThatSawAll) {
  DurationHistogram first;
  DurationHistogram second;
  DurationHistogram both;
  for (int i = 1; i <= 300; ++i) {
    (i % 3 == 0 ? first : second).record(i * 7us);
    both.record(i * 7us);
  }
  first.merge(second);
  EXPECT_EQ(first.summary(), both.summary());
}

TEST(DurationHistogram, ComesBackFromItsBytes) {
  DurationHistogram histogram;
  for (int i = 0; i < 1000; ++i) histogram.record(i * i * 13ns);
  const auto back = read_back(histogram);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->summary(), histogram.summary());
  EXPECT_EQ(read_back(DurationHistogram{})->count(), 0U);
}

TEST(DurationHistogram, CopiesAreIndependent) {
  DurationHistogram histogram;
  histogram.record(1us);
  DurationHistogram copy = histogram;
  copy.record(2us);
  EXPECT_EQ(histogram.count(), 1U);
  EXPECT_EQ(copy.count(), 2U);
  copy = histogram;
  EXPECT_EQ(copy.summary(), histogram.summary());
}

TEST(DurationHistogram, RefusesEveryTruncationAndSlotsThatAreNotThere) {
  DurationHistogram histogram;
  histogram.record(1ms);
  histogram.record(2ms);
  Encoder encoder;
  histogram.encode(encoder);
  for (std::size_t size = 0; size < encoder.bytes().size(); ++size) {
    Decoder decoder(std::string_view(encoder.bytes()).substr(0, size));
    EXPECT_FALSE(DurationHistogram::decode(decoder)) << size;
  }
  Encoder wrong;
  for (const std::uint64_t value : {1ULL, 1ULL, 1ULL, 1'000'000ULL, 1ULL}) wrong.number(value);
  Decoder decoder(wrong.bytes());
  EXPECT_FALSE(DurationHistogram::decode(decoder));
}

}  // namespace
}  // namespace rehearsal::measure

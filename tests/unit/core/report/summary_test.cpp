#include "core/report/summary.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "core/base/random.hpp"
#include "core/report/results.hpp"
#include "tests/support/golden.hpp"
#include "tests/unit/core/report/small_run.hpp"

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;

Report good_report() {
  return make_report(test::small_plan(), test::small_load(), test::good_run());
}

TEST(Summary, HoldsTheFiguresOfTheRun) {
  const Summary summary = good_report().summary;
  EXPECT_EQ(summary.verdict, Verdict::pass);
  ASSERT_EQ(summary.jobs.size(), 1U);
  const JobSummary& job = summary.jobs[0];
  EXPECT_EQ(job.iterations_completed, 4U);
  EXPECT_EQ(job.ops_completed, 40U);
  EXPECT_EQ(job.ops_planned, 40U);
  EXPECT_EQ(job.bytes_planned, Bytes{12'800'000});
  EXPECT_EQ(job.bytes_received, job.bytes_planned);
  EXPECT_EQ(job.bytes_local, Bytes{7'200'000});
  EXPECT_EQ(job.iteration_time.max, Duration{6300us});
  EXPECT_FALSE(job.iteration_time.p95) << "four values carry no p95";

  ASSERT_EQ(job.collectives.size(), 3U);
  const CollectiveSummary& reduce = job.collectives[1];
  EXPECT_EQ(reduce.kind, "all_reduce");
  EXPECT_EQ(reduce.communicator, "world");
  EXPECT_EQ(reduce.count, 4U);
  // Rank 3 is ready last: 1.7 ms and 20 µs more each iteration; the median of four is the second.
  EXPECT_EQ(reduce.time.p50, Duration{1720us});
  EXPECT_DOUBLE_EQ(*reduce.algbw_bytes_per_second, 1048576 / 1.72e-3);
  EXPECT_DOUBLE_EQ(*reduce.busbw_bytes_per_second, 1.5 * 1048576 / 1.72e-3);
  EXPECT_EQ(reduce.rank_time.count, 16U);
  const CollectiveSummary& uneven = job.collectives[0];
  EXPECT_EQ(uneven.kind, "all_to_all");
  EXPECT_EQ(uneven.bytes, Bytes{54'000}) << "the largest send buffer: 12 to 15 thousand";
  EXPECT_EQ(job.collectives[2].kind, "send");

  EXPECT_EQ(summary.sync.start_skew.max, Duration{35us});
  EXPECT_EQ(summary.sync.clock_error_bound, Duration{6us});
  ASSERT_EQ(summary.bursts.size(), 4U);
  EXPECT_EQ(summary.bursts[0].statistics.drain_rate_source, measure::DrainRateSource::line_rate);
  EXPECT_EQ(summary.bursts[2].statistics.drain_rate_source, measure::DrainRateSource::peak_bin);
}

TEST(Summary, TextIsGolden) {
  rehearsal::test::expect_golden("report/summary.json", good_report().summary_json);
}

TEST(Summary, ResultsAreGolden) {
  rehearsal::test::expect_golden("report/results.jsonl", good_report().results_jsonl);
}

TEST(Summary, SeriesAreGolden) {
  rehearsal::test::expect_golden("report/series.jsonl", good_report().series_jsonl);
}

TEST(Summary, ComesBackFromItsText) {
  const Report report = good_report();
  const auto back = read_summary(report.summary_json);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, report.summary);
  EXPECT_EQ(summary_json(*back), report.summary_json);
}

TEST(Summary, APartialRunComesBackToo) {
  RunMeasurements run = test::good_run();
  run.agents[1].measurements.reset();
  run.agents[1].lost = "connection closed";
  run.stop = StopReason::agent_lost;
  const Report report = make_report(test::small_plan(), test::small_load(), run);
  const auto back = read_summary(report.summary_json);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, report.summary);
  EXPECT_EQ(back->jobs[0].iterations_completed, 0U);
  EXPECT_FALSE(back->jobs[0].collectives[0].busbw_bytes_per_second);
}

TEST(ReadSummary, NamesTheFieldThatIsWrong) {
  const std::string good = good_report().summary_json;
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const auto summary = read_summary(text);
    return summary ? std::string("none") : summary.error().text();
  };
  EXPECT_EQ(error_with("\"schema_version\": 1", "\"schema_version\": 2"),
            "a summary of schema version 2; version 1 is understood");
  EXPECT_EQ(error_with("\"pass\"", "\"good\""),
            "summary.verdict must be pass, warn, fail or unknown");
  EXPECT_EQ(error_with("\"planned\": 40", "\"planned\": -40"),
            "summary.jobs[0].ops.planned must be a whole number");
  EXPECT_EQ(error_with("\"resolution_ok\": true", "\"resolution_ok\": 1"),
            "summary.bursts[0].peak_to_mean[0].resolution_ok must be true or false");
  EXPECT_EQ(error_with("\"mode\": \"iteration\"", "\"mode\": null"),
            "summary.sync.mode must be a text");
}

TEST(ReadSummary, EveryTruncationIsAnError) {
  const std::string good = good_report().summary_json;
  for (std::size_t size = 0; size + 2 < good.size(); size += 7) {
    EXPECT_FALSE(read_summary(std::string_view(good).substr(0, size))) << size;
  }
}

TEST(ReadSummary, DamagedTextNeverCrashes) {
  const std::uint64_t seed = 5;
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  const std::string good = good_report().summary_json;
  int read = 0;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = good;
    for (int i = 0; i < 3; ++i) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.between(32, 126));
    }
    if (read_summary(damaged)) ++read;
  }
  EXPECT_LT(read, 300);
}

}  // namespace
}  // namespace rehearsal::report

#include "core/import/kineto.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::importer {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& json, const std::string& file = "rank0.json") {
  const auto iteration = read_kineto(file, json);
  return iteration ? "(read)" : iteration.error().text();
}

std::string trace(const std::string& events) { return "{\"traceEvents\": [" + events + "]}"; }

std::string step(int number, int begin, int duration) {
  return R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" +
         std::to_string(number) + R"(", "tid": 1, "ts": )" + std::to_string(begin) +
         R"(, "dur": )" + std::to_string(duration) + "}";
}

TEST(Kineto, TakesTheIterationOfMedianDuration) {
  const auto iteration = read_kineto(
      "rank0.json", trace(step(1, 0, 500) + "," + step(2, 500, 100) + "," + step(3, 600, 200)));
  ASSERT_TRUE(iteration) << iteration.error().text();
  EXPECT_EQ(iteration->name, "ProfilerStep#3");
  EXPECT_EQ(iteration->span.begin, 600'000) << "nanoseconds";
  EXPECT_EQ(iteration->span.end, 800'000);
}

TEST(Kineto, TimesMayHaveFractions) {
  const auto iteration = read_kineto(
      "rank0.json",
      trace(
          R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "ts": 1.5, "dur": 2.25})"));
  ASSERT_TRUE(iteration) << iteration.error().text();
  EXPECT_EQ(iteration->span.begin, 1500);
  EXPECT_EQ(iteration->span.end, 3750);
}

TEST(Kineto, RankFromDistributedInfoElseFromTheName) {
  EXPECT_EQ(read_kineto("worker3_step_12.json", trace(step(1, 0, 1)))->rank, Rank{3});
  EXPECT_EQ(read_kineto("worker3.json", "{\"distributedInfo\": {\"rank\": 5}, \"traceEvents\": [" +
                                            step(1, 0, 1) + "]}")
                ->rank,
            Rank{5});
  EXPECT_THAT(error_of(trace(step(1, 0, 1)), "trace.json"),
              HasSubstr("trace.json: the rank is missing"));
  EXPECT_THAT(
      error_of("{\"distributedInfo\": {\"rank\": 18446744073709551615}, \"traceEvents\": []}"),
      HasSubstr("rank 18446744073709551615"));
}

TEST(Kineto, ErrorsNameTheEvent) {
  EXPECT_THAT(error_of("[]"), HasSubstr("rank0.json: it is no JSON object"));
  EXPECT_THAT(error_of("{\"traceEvents\": 7}"), HasSubstr("'traceEvents' is missing or no list"));
  EXPECT_THAT(error_of(trace("{}, 1")), HasSubstr("event 1: is no JSON object"));
  EXPECT_THAT(error_of(trace("{}")), HasSubstr("no 'ProfilerStep#N' annotation"));
  EXPECT_THAT(
      error_of(trace(R"({}, {"ph": "X", "cat": "user_annotation", "name": "a", "ts": "x"})")),
      HasSubstr("event 1: 'ts' is missing or no number"));
  EXPECT_THAT(
      error_of(trace(R"({"ph": "X", "cat": "user_annotation", "name": "a", "ts": 1, "dur": -1})")),
      HasSubstr("event 0: 'dur'"));
  EXPECT_THAT(error_of(trace(R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1})")),
              HasSubstr("'correlation' is missing"));
}

TEST(Kineto, HugeIntegersAreNoTimes) {
  EXPECT_THAT(error_of(trace(R"({"ph": "X", "cat": "user_annotation", "name": "a",
                                "ts": 9223372036854775808, "dur": 1})")),
              HasSubstr("event 0: 'ts'"));
  EXPECT_THAT(error_of(trace(R"({"ph": "X", "cat": "user_annotation", "name": "a",
                                "ts": 99999999999999999999999, "dur": 1})")),
              HasSubstr("rank0.json: "));
  EXPECT_THAT(error_of(trace(step(1, 0, 9) + R"(, {"ph": "X", "cat": "user_annotation",
      "name": "nccl:all_reduce", "ts": 1, "dur": 1,
      "args": {"Input Dims": [[18446744073709551615]], "Input type": ["float"]}})")),
              HasSubstr("event 1: 'Input Dims' is over 2^46 elements"));
}

TEST(Kineto, ACollectiveNeedsSizeTypeAndKernel) {
  const auto collective = [](const std::string& name, const std::string& args) {
    return trace(step(1, 0, 9) + R"(, {"ph": "X", "cat": "user_annotation", "name": ")" + name +
                 R"(", "ts": 1, "dur": 1, "args": {)" + args + "}}");
  };
  EXPECT_THAT(error_of(collective("nccl:all_reduce", "")),
              HasSubstr("event 1: 'nccl:all_reduce' has no 'Input Dims'"));
  EXPECT_THAT(error_of(collective("nccl:coalesced", "")),
              HasSubstr("no operation this importer knows"));
  EXPECT_THAT(
      error_of(collective("nccl:all_reduce", R"("Input Dims": [[1]], "Input type": ["odd"])")),
      HasSubstr("'odd' has no known width"));
  EXPECT_THAT(
      error_of(collective("nccl:all_reduce", R"("Input Dims": [[1]], "Input type": ["float"])")),
      HasSubstr("has no kernel"));
}

}  // namespace
}  // namespace rehearsal::importer

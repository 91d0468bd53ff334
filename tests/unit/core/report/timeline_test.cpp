#include "core/report/timeline.hpp"

#include <gmock/gmock.h>

namespace rehearsal::report {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

constexpr Instant kStart{100s};

/// Iterations of 1 s; a fault of two levels from the second on, noticed at once.
struct Sample {
  Sample() {
    plan.faults = {{.name = "cut",
                    .what = {.kind = fault::Kind::rate,
                             .levels = {{.rate = {500'000}}, {.rate = {250'000}}}}}};
    summary.faults = {{.name = "cut",
                       .spells = {{.host = "h2", .level = 0, .began = 1s, .ended = 2s},
                                  {.host = "h2", .level = 1, .began = 2s, .ended = 3s}}}};
    summary.jobs = {{.name = "dlrm"}};
    summary.jobs[0].stages =
        StageComparison{.noticed = Reached{.iteration = 1, .iterations = 1, .time = 1s},
                        .recovered = Reached{.iteration = 3, .iterations = 0, .time = 0s}};
    spans.resize(1);
    for (std::uint32_t i = 0; i < 5; ++i)
      spans[0].push_back(
          {.iteration = i, .begin = kStart + i * 1s, .end = kStart + i * 1s + 900ms});
  }
  std::vector<TimelineEvent> events() const { return timeline_of(plan, spans, kStart, summary); }

  plan::Plan plan;
  Summary summary;
  IterationSpans spans;
};

TEST(Timeline, IsInOrderOfTime) {
  EXPECT_THAT(
      Sample().events(),
      ElementsAre(
          TimelineEvent{0s, "started", "the first iteration begins"},
          TimelineEvent{1s, "fault_began", "cut on h2: rate 50%"},
          TimelineEvent{1900ms, "noticed",
                        "iteration 1 of job dlrm ends, longer than all before the faults"},
          TimelineEvent{2s, "fault_began", "cut on h2: rate 25%"},
          TimelineEvent{3s, "fault_ended", "cut on h2 ends"},
          TimelineEvent{3s, "recovered",
                        "iteration 3 of job dlrm begins, as fast again as before the faults"},
          TimelineEvent{4900ms, "ended", "the last iteration ends"}));
}

TEST(Timeline, NamesTheRankThatWasHit) {
  Sample sample;
  sample.summary.faults[0].spells = {
      {.host = "h2", .job = "dlrm", .rank = 3, .level = 0, .began = 1s, .ended = 2s}};
  EXPECT_EQ(sample.events()[1].text, "cut on h2, rank 3 of job dlrm: rate 50%");
}

TEST(Timeline, ARunThatGoesUnnoticedHasItsFaultsAlone) {
  Sample sample;
  sample.summary.jobs[0].stages.reset();
  EXPECT_THAT(sample.events(),
              testing::Not(testing::Contains(Field(&TimelineEvent::event, "noticed"))));
}

TEST(Timeline, OfManyEventsTheTableShowsTheFirst) {
  Sample sample;
  for (int i = 0; i < 100; ++i)
    sample.summary.faults[0].spells.push_back(
        {.host = "h2", .began = 10s + i * 1s, .ended = 10s + i * 1s + 1ms});
  const std::string table = timeline_lines(sample.events());
  EXPECT_THAT(table, HasSubstr("cut on h2: rate 50%"));
  EXPECT_THAT(table, HasSubstr("events more, in summary.json"));
  EXPECT_EQ(timeline_lines({}), "");
}

}  // namespace
}  // namespace rehearsal::report

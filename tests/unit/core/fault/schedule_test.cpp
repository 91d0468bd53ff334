#include "core/fault/schedule.hpp"

#include <gmock/gmock.h>

namespace rehearsal::fault {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr Instant kStart{1000s};
constexpr JobIndex kJob{0};

Schedule::Entry entry(When when, std::uint32_t levels = 1, std::uint32_t phase = 0) {
  return {.fault = 7, .when = std::move(when), .phase = phase, .levels = levels};
}

Schedule started(Schedule::Entry one) {
  Schedule schedule({std::move(one)});
  schedule.start(kStart);
  return schedule;
}

TEST(Schedule, BeginsAndEndsAtTimesFromTheFirstStart) {
  Schedule schedule = started(entry({.after = 5s, .length = 3s}));
  EXPECT_FALSE(schedule.at(kStart));
  EXPECT_EQ(schedule.next_change(), kStart + 5s);
  EXPECT_FALSE(schedule.at(kStart + 4999ms));
  EXPECT_TRUE(schedule.at(kStart + 5s));
  EXPECT_EQ(schedule.level(0), 0u);
  EXPECT_EQ(schedule.next_change(), kStart + 8s);
  EXPECT_TRUE(schedule.at(kStart + 8s));
  EXPECT_EQ(schedule.level(0), Schedule::kOff);
  EXPECT_EQ(schedule.next_change(), kNever);
}

TEST(Schedule, RecordsWhenItTrulyBeganAndEnded) {
  Schedule schedule = started(entry({.after = 5s, .length = 3s}));
  schedule.at(kStart + 5100ms);
  schedule.at(kStart + 8300ms);
  EXPECT_THAT(schedule.spells(),
              ElementsAre(Spell{
                  .fault = 7, .level = 0, .began = kStart + 5100ms, .ended = kStart + 8300ms}));
}

TEST(Schedule, NothingBeginsBeforeTheRunStarts) {
  Schedule schedule({entry({.after = 0s, .length = 3s})});
  EXPECT_FALSE(schedule.at(kStart));
  EXPECT_EQ(schedule.level(0), Schedule::kOff);
}

TEST(Schedule, BeginsAtAnIterationAndEndsSoManyLater) {
  Schedule schedule = started(entry({.iteration = 2, .length = 1h, .iterations = 3}));
  std::vector<bool> on;
  for (std::uint32_t iteration = 0; iteration < 7; ++iteration) {
    schedule.edge(kJob, iteration, 0);
    schedule.at(kStart + iteration * 1s);
    on.push_back(schedule.level(0) != Schedule::kOff);
  }
  EXPECT_THAT(on, ElementsAre(false, false, true, true, true, false, false));
}

TEST(Schedule, TheDeadlineEndsWhatCountsIterations) {
  Schedule schedule = started(entry({.iteration = 0, .length = 10s, .iterations = 3}));
  schedule.edge(kJob, 0, 0);
  schedule.at(kStart + 1s);
  EXPECT_EQ(schedule.next_change(), kStart + 11s);
  schedule.at(kStart + 11s);
  EXPECT_EQ(schedule.level(0), Schedule::kOff);
}

TEST(Schedule, BeginsAtAPhase) {
  Schedule schedule = started(entry({.iteration = 1, .phase = "backward", .length = 1h}, 1, 2));
  for (const auto& [iteration, phase] : {std::pair{0, 2}, {1, 0}, {1, 1}}) {
    schedule.edge(kJob, static_cast<std::uint32_t>(iteration), static_cast<std::uint32_t>(phase));
    EXPECT_FALSE(schedule.at(kStart)) << iteration << " " << phase;
  }
  schedule.edge(kJob, 1, 2);
  EXPECT_TRUE(schedule.at(kStart));
}

TEST(Schedule, APhaseThatHadNoEdgeOfItsOwnIsSeenAtTheNext) {
  Schedule schedule = started(entry({.iteration = 1, .phase = "backward", .length = 1h}, 1, 2));
  schedule.edge(kJob, 2, 0);
  EXPECT_TRUE(schedule.at(kStart));
}

TEST(Schedule, OnlyTheIterationsOfItsJobCount) {
  auto one = entry({.iteration = 1, .length = 1h});
  one.job = JobIndex{1};
  Schedule schedule = started(one);
  schedule.edge(JobIndex{0}, 1, 0);
  EXPECT_FALSE(schedule.at(kStart));
  schedule.edge(JobIndex{1}, 1, 0);
  EXPECT_TRUE(schedule.at(kStart));
}

TEST(Schedule, AnEarlierEdgeOfASlowerRankChangesNothing) {
  Schedule schedule = started(entry({.iteration = 2, .length = 1h, .iterations = 1}));
  schedule.edge(kJob, 3, 0);
  schedule.at(kStart);
  schedule.edge(kJob, 2, 0);
  schedule.at(kStart);
  EXPECT_EQ(schedule.level(0), 0u);
  schedule.edge(kJob, 4, 0);
  schedule.at(kStart);
  EXPECT_EQ(schedule.level(0), Schedule::kOff);
}

TEST(Schedule, LevelsFollowOneAnotherInEqualParts) {
  Schedule schedule = started(entry({.after = 0s, .length = 10s}, 3));
  schedule.at(kStart);
  std::vector<std::pair<Instant, std::uint32_t>> changes;
  for (int i = 0; i < 10 && schedule.next_change() != kNever; ++i) {
    const Instant now = schedule.next_change();
    ASSERT_TRUE(schedule.at(now));
    changes.emplace_back(now, schedule.level(0));
  }
  EXPECT_THAT(changes, ElementsAre(std::pair{kStart + 3'333'333'334ns, 1u},
                                   std::pair{kStart + 6'666'666'667ns, 2u},
                                   std::pair{kStart + 10s, Schedule::kOff}));
}

TEST(Schedule, LevelsFollowIterations) {
  Schedule schedule = started(entry({.iteration = 0, .length = 1h, .iterations = 6}, 3));
  std::vector<std::uint32_t> levels;
  for (std::uint32_t iteration = 0; iteration < 7; ++iteration) {
    schedule.edge(kJob, iteration, 0);
    schedule.at(kStart);
    levels.push_back(schedule.level(0));
  }
  EXPECT_THAT(levels, ElementsAre(0, 0, 1, 1, 2, 2, Schedule::kOff));
}

TEST(Schedule, FlapsWithoutDriftThoughItIsSeenLate) {
  Schedule schedule = started(entry({.after = 1s, .length = 7s, .on = 1s, .off = 2s}));
  schedule.at(kStart + 1100ms);
  EXPECT_EQ(schedule.next_change(), kStart + 2s);
  schedule.at(kStart + 2200ms);
  EXPECT_EQ(schedule.level(0), Schedule::kOff);
  EXPECT_EQ(schedule.next_change(), kStart + 4s);
  schedule.at(kStart + 4s);
  EXPECT_EQ(schedule.ends_at(0), kStart + 5s);
  schedule.at(kStart + 5s);
  schedule.at(kStart + 7s);
  EXPECT_EQ(schedule.ends_at(0), kStart + 8s);
  schedule.at(kStart + 8s);
  EXPECT_EQ(schedule.next_change(), kNever);
  EXPECT_EQ(schedule.spells().size(), 3u);
}

TEST(Schedule, FlapsByIterations) {
  Schedule schedule = started(entry(
      {.iteration = 0, .length = 1h, .iterations = 5, .on_iterations = 1, .off_iterations = 1}));
  std::vector<bool> on;
  for (std::uint32_t iteration = 0; iteration < 6; ++iteration) {
    schedule.edge(kJob, iteration, 0);
    schedule.at(kStart);
    on.push_back(schedule.level(0) == 0);
  }
  EXPECT_THAT(on, ElementsAre(true, false, true, false, true, false));
}

TEST(Schedule, TheEndOfTheRunEndsWhatIsOn) {
  Schedule schedule = started(entry({.after = 0s, .length = 1h}));
  schedule.at(kStart);
  schedule.close(kStart + 9s);
  EXPECT_EQ(schedule.spells()[0].ended, kStart + 9s);
  EXPECT_FALSE(schedule.at(kStart + 10s));
}

TEST(Schedule, MoreSpellsThanItHasRoomForAreCounted) {
  Schedule schedule = started(entry({.after = 0s, .length = 10h, .on = 1s, .off = 1s}));
  for (Instant now = kStart; now < kStart + 9000s; now += 1s) schedule.at(now);
  EXPECT_EQ(schedule.spells().size(), kSpellsMax);
  EXPECT_EQ(schedule.spells_dropped(), 4500 - kSpellsMax);
}

}  // namespace
}  // namespace rehearsal::fault

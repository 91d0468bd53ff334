// Plans and reports are made elsewhere; what happens meanwhile.
#include <gmock/gmock.h>

#include "tests/unit/core/coordination/story.hpp"

namespace rehearsal::coordination {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void request_plan(RunStory& story) {
  Envelope message;
  message.mutable_plan_request()->set_drill_text(RunStory::drill());
  message.mutable_plan_request()->set_drill_file("two.yaml");
  story.say(story.person, message);
}

TEST(Computing, OthersAreAnsweredWhileAPlanIsMade) {
  RunStory story;
  story.hold_computations = true;
  request_plan(story);
  EXPECT_THAT(story.told(story.person), IsEmpty());

  const SessionId other = story.join_operator();
  Envelope status;
  status.mutable_status_request();
  story.say(other, status);
  EXPECT_THAT(story.told_names(other), Contains("status_reply"));
  story.pass(10s, {story.agents[0], story.agents[1], story.person});
  EXPECT_FALSE(story.closed(story.agents[0]));

  story.compute_held();
  EXPECT_THAT(story.told_names(story.person), Contains("plan_reply"));
}

TEST(Computing, OneSessionHasOnePlanMadeAtATime) {
  RunStory story;
  story.hold_computations = true;
  request_plan(story);
  request_plan(story);
  EXPECT_THAT(story.last_told(story.person, Envelope::kFailure).failure().message(),
              HasSubstr("a plan is being made"));
  story.compute_held();
  EXPECT_THAT(story.told_names(story.person), Contains("plan_reply"));
  request_plan(story);
  story.compute_held();
  EXPECT_THAT(story.told_names(story.person), Contains("plan_reply"));
}

TEST(Computing, APlanForSomebodyWhoHasLeftIsForgotten) {
  RunStory story;
  story.hold_computations = true;
  story.request_run(story.person, RunStory::drill());
  story.hang_up(story.person);
  story.compute_held();
  EXPECT_EQ(story.coordinator.view().state, RunState::idle);
}

TEST(Computing, ARunWhoseAgentLeftMeanwhileIsRefusedByName) {
  RunStory story;
  story.hold_computations = true;
  story.request_run(story.person, RunStory::drill());
  story.hang_up(story.agents[1]);
  story.compute_held();
  EXPECT_THAT(story.last_told(story.person, Envelope::kFailure).failure().message(),
              HasSubstr("host 'host1' left"));
  EXPECT_EQ(story.coordinator.view().state, RunState::idle);
}

TEST(Computing, OfTwoRunsPlannedAtOnceTheSecondIsRefused) {
  RunStory story;
  story.hold_computations = true;
  const SessionId other = story.join_operator();
  story.request_run(story.person, RunStory::drill());
  story.request_run(other, RunStory::drill());
  story.compute_held();
  EXPECT_THAT(story.told_names(story.person), Contains("run_started"));
  // The other uploaded no profile: it is refused for that, or for the run that is on.
  EXPECT_THAT(story.told_names(other), Contains("failure"));
}

TEST(Computing, AnAgentLostWhileTheReportIsMadeDoesNotEndTheRunTwice) {
  RunStory story;
  story.begin();
  story.both([&](std::size_t agent) { story.reserved(agent); });
  story.hold_computations = true;
  story.failed(0, "no memory");
  story.both([&](std::size_t agent) { story.stopped(agent); });
  EXPECT_THAT(story.stored, IsEmpty()) << "the report is being made";
  story.hang_up(story.agents[1]);
  EXPECT_FALSE(story.told_names(story.agents[0]).empty());
  story.pass(30s, {story.agents[0], story.person});
  EXPECT_THAT(story.stored, IsEmpty()) << "no deadline ends it without its report";

  story.compute_held();
  EXPECT_THAT(story.stored, SizeIs(1));
  story.released(0);
  EXPECT_THAT(story.told_names(story.person), Contains("run_finished"));
  EXPECT_EQ(story.coordinator.view().state, RunState::idle);
}

}  // namespace
}  // namespace rehearsal::coordination

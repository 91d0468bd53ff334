#include "core/coordination/coordinator.hpp"

#include <gmock/gmock.h>

#include "tests/unit/core/coordination/story.hpp"

namespace rehearsal::coordination {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Sessions.

TEST(Sessions, AnAgentThatSaysHelloIsWelcome) {
  Story story({.software = "rehearsald 1", .epoch = 7});
  const SessionId agent = story.join("host0");
  const Envelope welcome = story.last_told(agent, Envelope::kWelcome);
  EXPECT_EQ(welcome.welcome().version(), protocol::kVersionMax);
  EXPECT_EQ(welcome.welcome().epoch(), 7u);
  EXPECT_EQ(story.coordinator.view().agents, 1u);
}

TEST(Sessions, ASecondAgentOfTheSameNameIsRefusedAndToldWhy) {
  Story story;
  const SessionId first = story.join("host0");
  const SessionId second = story.join("host0");
  EXPECT_THAT(story.last_told(second, Envelope::kRefused).refused().reason(),
              HasSubstr("'host0' is here already, from 10.0.0.1:4000"));
  EXPECT_TRUE(story.closed(second));
  EXPECT_FALSE(story.closed(first));
}

TEST(Sessions, ANewerAgentIsRefusedAndToldWhatToUpgrade) {
  Story story;
  const SessionId session = story.connect();
  Envelope hello;
  hello.mutable_hello()->set_version_min(protocol::kVersionMax + 1);
  hello.mutable_hello()->set_version_max(protocol::kVersionMax + 3);
  hello.mutable_hello()->set_role(protocol::ROLE_AGENT);
  story.say(session, hello);
  EXPECT_THAT(story.last_told(session, Envelope::kRefused).refused().reason(),
              HasSubstr("upgrade the coordinator first"));
  EXPECT_TRUE(story.closed(session));
}

TEST(Sessions, AHostNameThatIsNoneIsRefused) {
  Story story;
  EXPECT_TRUE(story.closed(story.join("../etc")));
  EXPECT_TRUE(story.closed(story.join("")));
}

TEST(Sessions, WhatARoleMayNotSayEndsTheSession) {
  Story story;
  const SessionId agent = story.join("host0");
  Envelope request;
  request.mutable_stop_request();
  story.say(agent, request);
  EXPECT_THAT(story.why_closed(agent), HasSubstr("stop_request"));
  EXPECT_EQ(story.coordinator.view().agents, 0u);

  const SessionId stranger = story.connect();
  story.say(stranger, request);
  EXPECT_THAT(story.why_closed(stranger), HasSubstr("begins with hello"));
}

TEST(Sessions, WhoSaysNothingIsLostAfterTheLimitAndNotBefore) {
  Story story({.silence_limit = 3s});
  const SessionId agent = story.join("host0");
  const SessionId stranger = story.connect();
  story.pass(2900ms);
  EXPECT_FALSE(story.closed(agent));
  story.pass(700ms);
  EXPECT_THAT(story.why_closed(agent), HasSubstr("silent for"));
  EXPECT_THAT(story.why_closed(stranger), HasSubstr("no hello"));
}

TEST(Sessions, ACoordinatorThatWasAwayItselfBlamesNobody) {
  Story story({.silence_limit = 3s});
  const SessionId agent = story.join("host0");
  story.now += 60s;
  story.pass(0s);
  EXPECT_FALSE(story.closed(agent));
  story.pass(4s);
  EXPECT_TRUE(story.closed(agent));
}

TEST(Sessions, AClockProbeIsAnsweredWithItsStamps) {
  Story story;
  const SessionId agent = story.join("host0");
  Envelope probe;
  probe.mutable_clock_probe()->set_id(3);
  probe.mutable_clock_probe()->set_agent_sent_ns(17);
  story.say(agent, probe);
  const Envelope reply = story.last_told(agent, Envelope::kClockReply);
  EXPECT_EQ(reply.clock_reply().id(), 3u);
  EXPECT_EQ(reply.clock_reply().agent_sent_ns(), 17);
  EXPECT_EQ(reply.clock_reply().coordinator_sent_ns(), nanoseconds(story.now));
}

// Operators.

TEST(Operators, APlanHasATableAndAHashAndSendsNothing) {
  RunStory story;
  Envelope request;
  request.mutable_plan_request()->set_drill_text(RunStory::drill());
  request.mutable_plan_request()->set_drill_file("two.yaml");
  story.say(story.person, request);
  const Envelope reply = story.last_told(story.person, Envelope::kPlanReply);
  EXPECT_THAT(reply.plan_reply().plan_hash(), SizeIs(64));
  EXPECT_THAT(reply.plan_reply().plan_json(), HasSubstr(reply.plan_reply().plan_hash()));
  EXPECT_THAT(reply.plan_reply().table(), HasSubstr("host1"));
  EXPECT_THAT(story.told(story.agents[0]), IsEmpty());
}

TEST(Operators, ADrillThatIsWrongIsAFailureWithFileAndLine) {
  RunStory story;
  story.request_run(story.person, RunStory::drill("seed: many\n"));
  const Envelope failure = story.last_told(story.person, Envelope::kFailure);
  EXPECT_THAT(failure.failure().message(), HasSubstr("two.yaml:7"));
  EXPECT_EQ(failure.failure().code(), to_string(ErrorCode::invalid_input));
  EXPECT_EQ(story.coordinator.view().state, RunState::idle);
}

TEST(Operators, ARunOfAPlanThatHasChangedIsRefused) {
  RunStory story;
  story.request_run(story.person, RunStory::drill(), std::string(64, '0'));
  EXPECT_THAT(story.last_told(story.person, Envelope::kFailure).failure().message(),
              HasSubstr("plan again"));
  EXPECT_THAT(story.told(story.agents[0]), IsEmpty());
}

TEST(Operators, ARunWithMoreConnectionsThanAHostCanHoldIsRefusedWithTheReason) {
  RunStory story;
  story.upload("large", test::sample_profile(512));
  story.request_run(story.person,
                    "drill: large\njobs:\n  - {name: large, profile: large, hosts: [host0, "
                    "host1]}\n");
  const Envelope failure = story.last_told(story.person, Envelope::kFailure);
  EXPECT_EQ(failure.failure().code(), to_string(ErrorCode::refused));
  EXPECT_THAT(failure.failure().message(),
              AllOf(HasSubstr("host 'host0' would hold up to"), HasSubstr("at most 32768"),
                    HasSubstr("use fewer channels")));
  EXPECT_THAT(story.told(story.agents[0]), IsEmpty());
  EXPECT_EQ(story.coordinator.view().state, RunState::idle);
}

TEST(Operators, ASecondRunIsRefusedWithTheIdOfTheFirst) {
  RunStory story;
  story.get_to(RunState::running);
  const SessionId other = story.join_operator();
  story.request_run(other, RunStory::drill());
  const Envelope failure = story.last_told(other, Envelope::kFailure);
  EXPECT_EQ(failure.failure().code(), to_string(ErrorCode::refused));
  EXPECT_THAT(failure.failure().message(), HasSubstr("run " + story.run + " is on"));
}

TEST(Operators, StatusNamesTheAgentsAndTheRunTheyAreIn) {
  RunStory story;
  story.get_to(RunState::running);
  Envelope request;
  request.mutable_status_request();
  story.say(story.person, request);
  const Envelope status = story.last_told(story.person, Envelope::kStatusReply);
  EXPECT_EQ(status.status_reply().state(), "running");
  ASSERT_EQ(status.status_reply().agents_size(), 2);
  EXPECT_EQ(status.status_reply().agents(1).host(), "host1");
  EXPECT_EQ(status.status_reply().agents(1).run(), story.run);
  EXPECT_TRUE(status.status_reply().agents(1).clock().known());
}

TEST(Operators, StoppingWhenNoRunIsOnIsAFailure) {
  RunStory story;
  Envelope request;
  request.mutable_stop_request();
  story.say(story.person, request);
  EXPECT_EQ(story.last_told(story.person, Envelope::kFailure).failure().code(),
            to_string(ErrorCode::not_found));
}

// Runs.

TEST(Runs, FromReserveToRelease) {
  RunStory story;
  story.begin();
  EXPECT_THAT(story.told_names(story.agents[0]), ElementsAre("reserve"));
  story.both([&](std::size_t agent) { story.reserved(agent); });

  const Envelope prepare = story.last_told(story.agents[1], Envelope::kPrepare);
  EXPECT_EQ(prepare.prepare().host(), 1u);
  EXPECT_THAT(prepare.prepare().token(), SizeIs(32));
  EXPECT_EQ(prepare.prepare().size(), prepare.prepare().part().size());
  story.both([&](std::size_t agent) { story.prepared(agent); });

  const Envelope connect = story.last_told(story.agents[1], Envelope::kConnect);
  ASSERT_EQ(connect.connect().addresses_size(), 1) << "those that host1 sends on";
  EXPECT_EQ(connect.connect().addresses(0).address(), "door of host0");
  EXPECT_TRUE(connect.connect().last());
  story.both([&](std::size_t agent) { story.connected(agent); });

  for (const std::uint32_t iteration : {0U, 1U}) {
    const Envelope start = story.last_told(story.agents[0], Envelope::kStartAt);
    EXPECT_EQ(start.start_at().iteration(), iteration);
    EXPECT_EQ(instant_of(start.start_at().instant_ns()), story.now + 5ms);
    story.pass(20ms);
    EXPECT_EQ(story.coordinator.view().state, RunState::running);
    story.both([&](std::size_t agent) { story.step_done(agent, iteration); });
  }
  EXPECT_EQ(story.coordinator.view().iterations_done, 2u);

  EXPECT_THAT(story.told_names(story.agents[0]), ElementsAre("finish"));
  story.both([&](std::size_t agent) { story.results(agent); });
  EXPECT_THAT(story.told_names(story.agents[0]), ElementsAre("release"));
  ASSERT_THAT(story.stored, SizeIs(1));
  EXPECT_EQ(story.stored[0].run, story.run);
  EXPECT_THAT(story.stored[0].files, SizeIs(4));
  EXPECT_EQ(story.coordinator.view().state, RunState::finished);
  story.both([&](std::size_t agent) { story.released(agent); });

  EXPECT_EQ(story.coordinator.view().state, RunState::idle);
  const std::vector<std::string> told = story.told_names(story.person);
  EXPECT_THAT(told, Contains("file_part").Times(4));
  EXPECT_EQ(told.back(), "run_finished");
}

TEST(Runs, AppointmentsAreFurtherAheadWhenClocksAreKnownBadly) {
  RunStory story;
  story.get_to(RunState::connecting);
  story.connected(0, 0s, 10us);
  story.connected(1, 0s, 30ms);
  const Envelope start = story.last_told(story.agents[0], Envelope::kStartAt);
  EXPECT_EQ(instant_of(start.start_at().instant_ns()), story.now + 61ms);
}

TEST(Runs, InModePhaseEachPhaseIsAnAppointment) {
  RunStory story;
  story.get_to(RunState::running, "synchronisation: phase\n");
  story.both([&](std::size_t agent) { story.step_done(agent, 0, 0); });
  const Envelope start = story.last_told(story.agents[0], Envelope::kStartAt);
  EXPECT_EQ(start.start_at().iteration(), 0u);
  EXPECT_EQ(start.start_at().phase(), 1u);
}

TEST(Runs, InModeFreeThereIsOneAppointment) {
  RunStory story;
  story.get_to(RunState::running, "synchronisation: free\n");
  story.told(story.agents[0]);
  story.both([&](std::size_t agent) { story.step_done(agent, 1, 0); });
  EXPECT_THAT(story.told_names(story.agents[0]), ElementsAre("finish"));
}

TEST(Runs, RepeatedAnswersChangeNothing) {
  RunStory story;
  story.begin();
  story.reserved(0);
  story.reserved(0);
  EXPECT_EQ(story.coordinator.view().state, RunState::reserving);
  story.reserved(1);
  story.prepared(0);
  story.prepared(0);
  story.reserved(1);
  EXPECT_EQ(story.coordinator.view().state, RunState::preparing);
  story.prepared(1);
  story.both([&](std::size_t agent) { story.connected(agent); });
  story.pass(10ms);
  story.step_done(0, 0);
  story.step_done(0, 0);
  EXPECT_EQ(story.coordinator.view().iterations_done, 0u);
}

TEST(Runs, MessagesOfAnotherRunAreIgnored) {
  RunStory story;
  story.begin();
  Envelope message;
  message.mutable_reserved()->set_run("e0-r9");
  story.say(story.agents[0], message);
  story.reserved(1);
  EXPECT_EQ(story.coordinator.view().state, RunState::reserving);
}

TEST(Runs, AnAgentThatRefusesEndsTheRunAndIsNamed) {
  RunStory story;
  story.begin();
  story.reserved(1, "busy with run e0-r4");
  const protocol::RunFinished finished = story.wind_down({0});
  EXPECT_EQ(finished.exit_code(), 3u);
  EXPECT_THAT(finished.reason(), HasSubstr("host1 refuses to be reserved: busy with run e0-r4"));
  EXPECT_THAT(story.told_names(story.agents[1]), ElementsAre("reserve"));
}

class EveryState : public testing::TestWithParam<RunState> {};

TEST_P(EveryState, AnAgentThatIsLostEndsTheRunAtOnceAndIsNamed) {
  RunStory story;
  story.get_to(GetParam());
  story.told(story.agents[1]);
  story.hang_up(story.agents[0]);
  EXPECT_THAT(story.told_names(story.agents[1]), Contains("stop"));
  const protocol::RunFinished finished = story.wind_down({1});
  EXPECT_EQ(finished.verdict(), "unknown");
  EXPECT_EQ(finished.exit_code(), 3u);
  EXPECT_THAT(finished.reason(), HasSubstr("host0 is lost"));
  EXPECT_THAT(finished.table(), HasSubstr("host0"));
  ASSERT_THAT(story.stored, SizeIs(1)) << "a partial report stays";
  EXPECT_EQ(story.coordinator.view().state, RunState::idle);

  // The other one is ready for the next run, with the lost one when it is back.
  story.agents[0] = story.join("host0");
  story.get_to(RunState::running);
  EXPECT_EQ(story.coordinator.view().state, RunState::running);
}

TEST_P(EveryState, AnAgentThatGoesSilentIsLostWithinFiveSeconds) {
  RunStory story({.silence_limit = 3s});
  story.get_to(GetParam());
  story.pass(3600ms, {story.agents[1], story.person});
  EXPECT_TRUE(story.closed(story.agents[0]));
  const protocol::RunFinished finished = story.wind_down({1});
  EXPECT_EQ(finished.exit_code(), 3u);
  EXPECT_THAT(finished.reason(), HasSubstr("host0"));
}

TEST_P(EveryState, StopEndsTheRunWithAPartialReport) {
  RunStory story;
  story.get_to(GetParam());
  const SessionId other = story.join_operator();
  story.told(other);
  Envelope request;
  request.mutable_stop_request();
  story.say(other, request);
  EXPECT_THAT(story.told_names(story.agents[0]), Contains("stop"));
  const protocol::RunFinished finished = story.wind_down({0, 1});
  EXPECT_EQ(finished.exit_code(), 3u);
  EXPECT_THAT(story.told_names(other), ElementsAre("stop_reply"));
  EXPECT_THAT(story.stored, SizeIs(1));
}

TEST_P(EveryState, AnOperatorThatGoesStopsItsRun) {
  RunStory story;
  story.get_to(GetParam());
  story.hang_up(story.person);
  EXPECT_THAT(story.told_names(story.agents[1]), Contains("stop"));
  story.wind_down({0, 1});
  EXPECT_THAT(story.stored, SizeIs(1));
  EXPECT_EQ(story.coordinator.view().state, RunState::idle);
}

TEST_P(EveryState, ADeadlineEndsTheRunAndNamesAllItWaitedFor) {
  if (GetParam() == RunState::ready) GTEST_SKIP() << "nobody is waited for until an instant";
  RunStory story;
  story.get_to(GetParam(), "limits: {progress: 20s}\n");
  story.pass(26s, {story.agents[0], story.agents[1], story.person});
  const protocol::RunFinished finished =
      story.last_told(story.person, Envelope::kRunFinished).run_finished();
  EXPECT_EQ(finished.exit_code(), 3u);
  EXPECT_THAT(finished.reason(), HasSubstr("waited for host0, host1"));
  EXPECT_TRUE(story.closed(story.agents[0])) << "it was not released in time";
  EXPECT_EQ(story.coordinator.view().state, RunState::idle);
}

INSTANTIATE_TEST_SUITE_P(Runs, EveryState,
                         testing::Values(RunState::reserving, RunState::preparing,
                                         RunState::connecting, RunState::ready, RunState::running,
                                         RunState::draining),
                         [](const auto& state) { return std::string(to_string(state.param)); });

TEST(Runs, AStragglerIsNamedBeforeItTimesOut) {
  RunStory story;
  story.get_to(RunState::running, "limits: {progress: 3s}\n");
  story.told(story.person);
  const std::vector<SessionId> alive = {story.agents[0], story.agents[1], story.person};
  story.progress(0, 1, {1});
  story.pass(1500ms, alive);
  EXPECT_THAT(story.last_told(story.person, Envelope::kRunProgress).run_progress().note(),
              HasSubstr("waiting for host1 (host0 waits for it)"));
  EXPECT_THAT(story.log, Contains(HasSubstr("run waits for a straggler")).Times(1));
  story.pass(2s, alive);
  const protocol::RunFinished finished = story.wind_down({0, 1});
  EXPECT_THAT(finished.reason(), HasSubstr("nothing moved for 3.00 s; waited for host1"));
  EXPECT_EQ(finished.exit_code(), 3u);
}

TEST(Runs, ProgressKeepsARunGoingUntilItsLimit) {
  RunStory story;
  story.get_to(RunState::running, "limits: {progress: 1s, duration: 5s}\n");
  const std::vector<SessionId> alive = {story.agents[0], story.agents[1], story.person};
  for (std::uint64_t ops = 1; ops <= 9; ++ops) {
    story.progress(0, ops);
    story.pass(500ms, alive);
    ASSERT_EQ(story.coordinator.view().state, RunState::running);
  }
  story.progress(0, 10);
  story.pass(600ms, alive);
  EXPECT_THAT(story.wind_down({0, 1}).reason(), HasSubstr("the run's limit of 5.00 s passed"));
}

TEST(Runs, AFailureIsPutDownToTheAgentThatIsFoundLostMeanwhile) {
  RunStory story;
  story.get_to(RunState::running);
  story.failed(1, "connection reset by peer", {0});
  story.hang_up(story.agents[0]);
  const protocol::RunFinished finished = story.wind_down({1});
  EXPECT_THAT(finished.reason(), HasSubstr("host0 is lost"));
}

TEST(Runs, AFailureNamesWhoFailedAndWhomItWaitedFor) {
  RunStory story;
  story.get_to(RunState::running);
  story.failed(1, "connection reset by peer", {0});
  EXPECT_THAT(story.wind_down({0, 1}).reason(),
              HasSubstr("host1 failed: connection reset by peer (it waited for host0)"));
}

TEST(Runs, AnAddressOfSomebodyElsesConnectionEndsTheAgentsSession) {
  RunStory story;
  story.get_to(RunState::preparing);
  Envelope message;
  message.mutable_prepared()->set_run(story.run);
  message.mutable_prepared()->add_addresses()->set_destination(3);  // is on host1
  story.say(story.agents[0], message);
  EXPECT_TRUE(story.closed(story.agents[0]));
  EXPECT_THAT(story.wind_down({1}).reason(), HasSubstr("host0"));
}

constexpr const char* kIncast =
    "faults:\n"
    "  - name: jam\n"
    "    what: {kind: incast}\n"
    "    where: {hosts: host0}\n"
    "    when: {iteration: 0, for: 1s}\n";

/// Of background traffic from host1 to host0, as host0 tells it.
protocol::ConnectionAddress address_beside(std::uint32_t source) {
  protocol::ConnectionAddress address;
  address.set_source(source);
  address.set_destination(0);
  address.set_use(static_cast<std::uint32_t>(plan::ConnectionUse::background));
  address.set_address("side door");
  return address;
}

TEST(Runs, AddressesOfBackgroundTrafficReachTheHostThatSends) {
  RunStory story;
  story.get_to(RunState::preparing, kIncast);
  Envelope message;
  message.mutable_prepared()->set_run(story.run);
  *message.mutable_prepared()->add_addresses() = address_beside(1);
  story.say(story.agents[0], message);
  story.both([&](std::size_t agent) { story.prepared(agent); });
  const Envelope connect = story.last_told(story.agents[1], Envelope::kConnect);
  ASSERT_EQ(connect.connect().addresses_size(), 2);
  EXPECT_EQ(connect.connect().addresses(0).address(), "side door");
  EXPECT_EQ(connect.connect().addresses(0).use(),
            static_cast<std::uint32_t>(plan::ConnectionUse::background));
}

TEST(Runs, AnAddressOfBackgroundTrafficThatNoFaultMakesEndsTheAgentsSession) {
  for (const auto& [more, source] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"", 1}, {kIncast, 2}}) {
    RunStory story;
    story.get_to(RunState::preparing, more);
    Envelope message;
    message.mutable_prepared()->set_run(story.run);
    *message.mutable_prepared()->add_addresses() = address_beside(source);
    story.say(story.agents[0], message);
    EXPECT_TRUE(story.closed(story.agents[0])) << source;
  }
}

TEST(Runs, ResultsOverTheCapEndTheAgentsSession) {
  RunStory story({.results_bytes_max = 100});
  story.get_to(RunState::draining);
  Envelope message;
  message.mutable_results()->set_run(story.run);
  message.mutable_results()->set_size(101);
  story.say(story.agents[0], message);
  EXPECT_TRUE(story.closed(story.agents[0]));
}

TEST(Runs, EachHasAnIdAndATokenOfItsOwn) {
  RunStory story;
  story.get_to(RunState::preparing);
  const std::string run = story.run;
  const std::string token = story.last_told(story.agents[0], Envelope::kPrepare).prepare().token();
  story.hang_up(story.agents[1]);
  story.wind_down({0});
  story.agents[1] = story.join("host1");
  story.get_to(RunState::preparing);
  EXPECT_NE(story.run, run);
  EXPECT_NE(story.last_told(story.agents[0], Envelope::kPrepare).prepare().token(), token);
}

}  // namespace
}  // namespace rehearsal::coordination

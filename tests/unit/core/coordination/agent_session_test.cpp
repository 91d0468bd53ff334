#include "core/coordination/agent_session.hpp"

#include <gmock/gmock.h>

#include "core/protocol/frame.hpp"
#include "tests/unit/core/coordination/agent_story.hpp"

namespace rehearsal::coordination {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The plan's host0 has two NICs.
AgentOptions two_nics() {
  AgentOptions options;
  options.inventory = test::sample_inventories(2).front();
  return options;
}

// The link.

TEST(AgentLink, SaysHelloAndIsJoinedWhenWelcome) {
  AgentStory story;
  story.happen(LinkUp{});
  ASSERT_EQ(story.told.size(), 1u);
  EXPECT_EQ(story.told[0].hello().inventory().host(), "host0");
  EXPECT_FALSE(story.session.view(story.now).joined);
  story.join();
  EXPECT_TRUE(story.session.view(story.now).joined);
}

TEST(AgentLink, TriesAgainAfterLongerAndLongerWaitsWithJitter) {
  AgentStory story;
  for (int attempt = 0; attempt < 12; ++attempt) story.happen(LinkDown{"connection refused"});
  EXPECT_GE(story.reconnects[0], 50ms);
  EXPECT_LE(story.reconnects[0], 100ms);
  EXPECT_GE(story.reconnects[11], 1s);
  EXPECT_LE(story.reconnects[11], 2s);
}

TEST(AgentLink, HearsNothingForTheLimitAndCloses) {
  AgentStory story;
  story.join();
  story.pass(2900ms);
  EXPECT_EQ(story.closed, "");
  story.pass(200ms);
  EXPECT_THAT(story.closed, HasSubstr("silent"));
  EXPECT_EQ(story.reconnects.size(), 1u);
}

TEST(AgentLink, AnOlderEpochIsNotFollowed) {
  AgentStory story;
  story.join(5);
  story.happen(LinkDown{"reset"});
  story.join(4);
  EXPECT_THAT(story.closed, HasSubstr("epoch 4 is older than 5"));
}

TEST(AgentLink, RefusedItTellsWhyAndTriesLater) {
  AgentStory story;
  story.happen(LinkUp{});
  Envelope refused;
  refused.mutable_refused()->set_reason("an agent named 'host0' is here already");
  story.hear(refused);
  EXPECT_THAT(story.closed, HasSubstr("here already"));
  EXPECT_EQ(story.reconnects.size(), 1u);
}

TEST(AgentLink, MeasuresItsClock) {
  AgentStory story;
  story.join();
  story.answer_probe(7ms);
  const AgentView view = story.session.view(story.now);
  EXPECT_TRUE(view.clock_known);
  EXPECT_EQ(view.clock_offset, 7ms);
  EXPECT_LE(view.clock_error_bound, 51us);
}

TEST(AgentLink, ProbesOftenAtFirstAndRarelyOnceTheEstimateIsGood) {
  AgentStory story;
  story.join();
  for (int i = 0; i < 16; ++i) {
    story.answer_probe();
    story.pass(50ms);
  }
  story.told.clear();
  Envelope heartbeat;
  heartbeat.mutable_heartbeat();
  story.hear(heartbeat);
  story.pass(2s);
  const auto probes = std::count_if(story.told.begin(), story.told.end(),
                                    [](const Envelope& e) { return e.has_clock_probe(); });
  EXPECT_GE(probes, 3);
  EXPECT_LE(probes, 5);
}

// A run.

TEST(AgentRuns, FromReserveToRelease) {
  AgentStory story(two_nics());
  story.join();
  story.answer_probe(7ms);
  story.forget();
  story.reserve("e1-r1");
  EXPECT_THAT(story.told_names(), ElementsAre("reserved"));
  EXPECT_EQ(story.session.view(story.now).run, "e1-r1");

  story.prepare("e1-r1", story.plan, plan::plan_hash(story.plan));
  EXPECT_THAT(story.worked(), ElementsAre("open"));
  EXPECT_EQ(story.opened.token, "token");
  story.happen(WorkerOpened{{{.key = {}, .address = "mine"}}});
  EXPECT_EQ(story.told.back().prepared().addresses(0).address(), "mine");
  EXPECT_THAT(story.told_names(), ElementsAre("prepared"));

  story.connect("e1-r1");
  EXPECT_THAT(story.worked(), ElementsAre("connect"));
  story.happen(WorkerConnected{});
  EXPECT_EQ(story.told.back().connected().clock().offset_ns(), 7'000'000);
  EXPECT_THAT(story.told_names(), ElementsAre("connected"));

  const Instant appointment = story.now + 20ms;
  story.start_at("e1-r1", 0, appointment);
  EXPECT_EQ(story.started.instant, appointment - 7ms) << "on this agent's clock";
  story.happen(WorkerStepDone{});
  EXPECT_THAT(story.told_names(), ElementsAre("step_done"));

  story.finish("e1-r1");
  EXPECT_THAT(story.worked(), ElementsAre("start", "finish"));
  story.happen(WorkerStopped{"measurements"});
  EXPECT_EQ(story.told.back().results().part(), "measurements");
  EXPECT_THAT(story.told_names(), ElementsAre("results"));

  story.release("e1-r1");
  EXPECT_THAT(story.worked(), ElementsAre("release"));
  EXPECT_THAT(story.told_names(), ElementsAre("released"));
  EXPECT_EQ(story.session.view(story.now).run, "");
}

TEST(AgentRuns, ConnectedWaitsForAClockThatIsKnown) {
  AgentStory story(two_nics());
  story.join();
  story.reserve("e1-r1");
  story.prepare("e1-r1", story.plan, plan::plan_hash(story.plan));
  story.happen(WorkerOpened{});
  story.connect("e1-r1");
  story.happen(WorkerConnected{});
  EXPECT_THAT(story.told, Not(Contains(testing::Property(&Envelope::has_connected, true))));
  story.answer_probe();
  EXPECT_THAT(story.told_names(), Contains("connected"));
}

TEST(AgentRuns, ACommandThatComesTwiceGetsTheSameAnswerAndIsDoneOnce) {
  AgentStory story(two_nics());
  story.join();
  story.answer_probe();
  story.forget();
  story.reserve("e1-r1");
  story.reserve("e1-r1");
  EXPECT_THAT(story.told_names(), ElementsAre("reserved", "reserved"));
  story.prepare("e1-r1", story.plan, plan::plan_hash(story.plan));
  story.happen(WorkerOpened{});
  story.prepare("e1-r1", story.plan, plan::plan_hash(story.plan));
  EXPECT_THAT(story.told_names(), ElementsAre("prepared", "prepared"));
  story.connect("e1-r1");
  story.happen(WorkerConnected{});
  story.connect("e1-r1");
  EXPECT_THAT(story.told_names(), ElementsAre("connected", "connected"));
  story.start_at("e1-r1", 0, story.now);
  story.start_at("e1-r1", 0, story.now);
  EXPECT_THAT(story.told_names(), IsEmpty());
  story.happen(WorkerStepDone{});
  story.start_at("e1-r1", 0, story.now);
  EXPECT_THAT(story.told_names(), ElementsAre("step_done", "step_done"));
  story.stop("e1-r1");
  story.stop("e1-r1");
  story.happen(WorkerStopped{"partial"});
  story.stop("e1-r1");
  EXPECT_THAT(story.told_names(), ElementsAre("results", "stopped", "stopped"))
      << "results are offered once";
  EXPECT_THAT(story.worked(), ElementsAre("open", "connect", "start", "stop"));
  story.release("e1-r1");
  story.release("e1-r1");
  EXPECT_THAT(story.told_names(), ElementsAre("released", "released"));
}

TEST(AgentRuns, CommandsOfAnotherRunMoveNothing) {
  AgentStory story(two_nics());
  story.get_connected("e1-r2");
  story.start_at("e1-r1", 0, story.now);
  story.finish("e1-r1");
  EXPECT_THAT(story.worked(), IsEmpty());
  story.stop("e1-r1");
  EXPECT_THAT(story.told_names(), ElementsAre("stopped")) << "nothing of that run is on here";
  EXPECT_THAT(story.worked(), IsEmpty());
}

TEST(AgentRuns, BusyItRefusesAnotherRun) {
  AgentStory story(two_nics());
  story.get_connected("e1-r1");
  story.reserve("e1-r2");
  ASSERT_EQ(story.told.size(), 1u);
  EXPECT_EQ(story.told[0].reserved().refusal(), "busy with run e1-r1");
  story.reserve("e0-r9", 0);
  EXPECT_THAT(story.told.back().reserved().refusal(), HasSubstr("epoch 0 is older"));
}

TEST(AgentRuns, APlanThatIsNotTheAnnouncedOneNeverReachesAWorker) {
  AgentStory story(two_nics());
  story.join();
  story.reserve("e1-r1");
  story.prepare("e1-r1", story.plan, std::string(64, '0'));
  EXPECT_THAT(story.told.back().failed().reason(), HasSubstr("has hash"));
  EXPECT_THAT(story.worked(), IsEmpty());
}

TEST(AgentRuns, APlanForAnotherHostNeverReachesAWorker) {
  AgentStory story;  // one NIC too few
  story.join();
  story.reserve("e1-r1");
  story.plan.hosts[0].nics[0].address = "10.99.0.1";
  story.prepare("e1-r1", story.plan, plan::plan_hash(story.plan));
  EXPECT_THAT(story.told.back().failed().reason(), HasSubstr("not this agent"));
  EXPECT_THAT(story.worked(), IsEmpty());
}

TEST(AgentRuns, AWorkerThatCannotStartIsAFailureAndIsForgotten) {
  AgentStory story(two_nics());
  story.join();
  story.reserve("e1-r1");
  story.prepare("e1-r1", story.plan, plan::plan_hash(story.plan));
  story.forget();
  story.happen(WorkerFailed{.reason = "cannot bind 10.79.0.1", .waiting_for = {}});
  EXPECT_THAT(story.told_names(), ElementsAre("failed"));
  EXPECT_THAT(story.worked(), ElementsAre("release"));
  story.stop("e1-r1");
  EXPECT_THAT(story.told_names(), ElementsAre("stopped"));
}

TEST(AgentRuns, StopIsPassedOnAtOnceAndAnsweredWhenTheWorkerIsStill) {
  AgentStory story(two_nics());
  story.get_running("e1-r1");
  story.stop("e1-r1");
  EXPECT_THAT(story.worked(), ElementsAre("stop"));
  EXPECT_THAT(story.told_names(), IsEmpty());
  story.happen(WorkerStopped{"partial"});
  EXPECT_THAT(story.told_names(), ElementsAre("results", "stopped"));
}

TEST(AgentRuns, AWorkerThatDoesNotStopIsGivenUp) {
  AgentStory story(two_nics());
  story.get_running("e1-r1");
  story.stop("e1-r1");
  story.release("e1-r1");
  story.forget();
  story.pass(2100ms);
  EXPECT_THAT(story.worked(), ElementsAre("release"));
  EXPECT_THAT(story.told_names(), ElementsAre("released"));
}

// Without a coordinator.

TEST(Orphaned, BetweenStepsItFallsSilentAtOnce) {
  AgentStory story(two_nics());
  story.get_running("e1-r1");
  story.happen(WorkerStepDone{});
  story.happen(LinkDown{"reset"});
  EXPECT_THAT(story.worked(), ElementsAre("stop"));
  story.happen(WorkerStopped{"lost"});
  EXPECT_THAT(story.worked(), ElementsAre("release"));
  EXPECT_EQ(story.session.view(story.now).run, "");
}

TEST(Orphaned, BeforeAnAppointmentItFallsSilentAtOnce) {
  AgentStory story(two_nics());
  story.get_connected("e1-r1");
  story.start_at("e1-r1", 0, story.now + 5ms);
  story.happen(LinkDown{"reset"});
  EXPECT_THAT(story.worked(), ElementsAre("start", "stop"));
}

TEST(Orphaned, WithinAStepItGoesOnToTheEdge) {
  AgentStory story(two_nics());
  story.get_running("e1-r1");
  story.happen(LinkDown{"reset"});
  EXPECT_THAT(story.worked(), IsEmpty());
  story.pass(1s);
  story.happen(WorkerStepDone{});
  EXPECT_THAT(story.worked(), ElementsAre("stop"));
}

TEST(Orphaned, RunningFreeItStopsAtTheEdgeOfAnIteration) {
  AgentStory story(two_nics());
  story.get_running("e1-r1");
  story.happen(WorkerProgress{.iterations_done = 4, .moved = 8, .waiting_for = {}});
  story.happen(LinkDown{"reset"});
  story.happen(WorkerProgress{.iterations_done = 4, .moved = 9, .waiting_for = {}});
  EXPECT_THAT(story.worked(), IsEmpty());
  story.happen(WorkerProgress{.iterations_done = 5, .moved = 10, .waiting_for = {}});
  EXPECT_THAT(story.worked(), ElementsAre("stop"));
}

TEST(Orphaned, AnEdgeThatDoesNotComeIsNotWaitedForBeyondTheLimit) {
  AgentStory story(two_nics());
  story.get_running("e1-r1");
  story.happen(LinkDown{"reset"});
  story.pass(3900ms);
  EXPECT_THAT(story.worked(), IsEmpty());
  story.pass(200ms);
  EXPECT_THAT(story.worked(), ElementsAre("stop"));
}

TEST(Orphaned, ByACoordinatorThatOnlyWentSilentItIsStillWithinFiveSeconds) {
  AgentStory story(two_nics());
  story.get_running("e1-r1");
  story.pass(4500ms);
  EXPECT_THAT(story.closed, HasSubstr("silent"));
  EXPECT_THAT(story.worked(), ElementsAre("stop"));
}

TEST(Orphaned, ANewCoordinatorFindsItStoppedAndReady) {
  AgentStory story(two_nics());
  story.get_running("e1-r1");
  story.happen(LinkDown{"reset"});
  story.join(2);
  EXPECT_THAT(story.worked(), ElementsAre("stop"));
  story.forget();
  story.reserve("e2-r1", 2);
  EXPECT_THAT(story.told_names(), IsEmpty()) << "first the run before must be over";
  story.happen(WorkerStopped{"lost"});
  EXPECT_THAT(story.worked(), ElementsAre("release"));
  ASSERT_EQ(story.told.size(), 1u);
  EXPECT_EQ(story.told[0].reserved().run(), "e2-r1");
  EXPECT_EQ(story.told[0].reserved().refusal(), "");
}

}  // namespace
}  // namespace rehearsal::coordination

// Faults of the kernel on an agent: what it asks of its helper, when, and what it tells.

#include "core/fault/kernel_runner.hpp"
#include "core/measure/agent_measurements.hpp"
#include "tests/unit/core/coordination/agent_story.hpp"

namespace rehearsal::coordination {
namespace {

using fault::AppliedReply;
using fault::ApplyRequest;
using fault::RenewRequest;
using fault::UndoRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

fault::WelcomeReply welcome_reply() {
  return {.version = fault::kHelperVersion,
          .faults = {fault::FaultKind::rate},
          .interfaces = {"data0", "data1"},
          .duration_max = 1min,
          .protected_interfaces = {"lo"},
          .commands = {},
          .blocked = {}};
}

/// An agent whose helper allows rates, and a plan with one on its first NIC.
struct FaultStory : AgentStory {
  FaultStory() {
    plan.faults = {
        {.name = "cut",
         .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
         .when = {.iteration = 1, .length = 10s},
         .places = {{.host = HostIndex{0}, .side = fault::Side::sent, .nic = NicIndex{0}}},
         .mechanism = fault::Mechanism::kernel}};
    happen(HelperUp{welcome_reply()});
    answer_looks();
  }

  /// Answers hello and list, which an agent asks by itself; the others are left.
  void answer_looks() {
    std::vector<AskHelper> left;
    for (AskHelper& ask : std::exchange(asks, {})) {
      if (std::holds_alternative<fault::HelloRequest>(ask.request)) {
        happen(HelperAnswered{ask.ticket, welcome_reply()});
      } else if (std::holds_alternative<fault::ListRequest>(ask.request)) {
        happen(HelperAnswered{ask.ticket, list});
      } else {
        left.push_back(std::move(ask));
      }
    }
    asks.insert(asks.end(), left.begin(), left.end());
  }
  template <typename Request>
  Request asked() {
    answer_looks();
    if (asks.size() != 1 || !std::holds_alternative<Request>(asks[0].request)) {
      ADD_FAILURE() << asks.size() << " requests, or another one";
      return {};
    }
    ticket = asks[0].ticket;
    const Request request = std::get<Request>(asks[0].request);
    asks.clear();
    return request;
  }
  void answer(fault::HelperReply reply) { happen(HelperAnswered{ticket, std::move(reply)}); }
  void answer_undone(fault::UndoOutcome outcome = fault::UndoOutcome::clean) {
    answer(fault::UndoneReply{.faults = {{.id = 5, .outcome = outcome, .text = "as it is"}},
                              .blocked = {}});
  }
  /// Running, with the fault on.
  void get_on() {
    get_running("e1-r1");
    happen(WorkerFault{.fault = 0, .level = 0, .until = now + 10s});
    asked<ApplyRequest>();
    answer(AppliedReply{5});
    forget();
  }
  void stopped(const std::string& results) { happen(WorkerStopped{results}); }
  std::vector<const protocol::HostFaults*> host_faults() {
    std::vector<const protocol::HostFaults*> all;
    for (const Envelope& message : told)
      if (message.has_host_faults()) all.push_back(&message.host_faults());
    return all;
  }

  fault::ListReply list;
  std::uint64_t ticket = 0;
};

std::string empty_results() { return measure::encode(measure::AgentMeasurements{}); }

TEST(AgentFaults, ThePlanIsRefusedIfTheHelperWouldNotDoIt) {
  FaultStory story;
  story.happen(HelperDown{"it is gone"});
  story.join();
  story.answer_probe();
  story.reserve("e1-r1");
  story.prepare("e1-r1", story.plan, plan::plan_hash(story.plan));
  EXPECT_THAT(story.told.back().failed().reason(),
              testing::AllOf(HasSubstr("fault 'cut'"), HasSubstr("no rehearsal-helper")));
}

TEST(AgentFaults, BeginAndEndWithTheWorkersEdges) {
  FaultStory story;
  story.get_running("e1-r1");
  story.happen(WorkerFault{.fault = 0, .level = 0, .until = story.now + 10s});
  const auto apply = story.asked<ApplyRequest>();
  EXPECT_EQ(apply.request.fault.interface, "data0");
  EXPECT_LE(apply.request.lease, fault::kRunLease);
  story.answer(AppliedReply{5});
  EXPECT_EQ(story.session.view(story.now).faults_applied, 1U);
  story.happen(WorkerFault{.fault = 0, .level = fault::Schedule::kOff});
  EXPECT_EQ(story.asked<UndoRequest>().id, 5U);
  story.answer_undone();
  EXPECT_EQ(story.session.view(story.now).faults_applied, 0U);
}

TEST(AgentFaults, ResultsGoWhenAllIsUndoneAndHaveTheTrueTimes) {
  FaultStory story;
  story.get_on();
  const Instant began = story.now;
  story.finish("e1-r1");
  EXPECT_EQ(story.asked<UndoRequest>().id, 5U);
  story.stopped(empty_results());
  EXPECT_THAT(story.told_names(), IsEmpty()) << "first it is undone";
  story.now += 7ms;
  story.answer_undone();
  ASSERT_FALSE(story.told.empty());
  const auto results = measure::decode_agent_measurements(story.told.back().results().part());
  ASSERT_TRUE(results) << results.error().text();
  ASSERT_EQ(results->faults.spells.size(), 1U);
  EXPECT_EQ(results->faults.spells[0].began, began);
  EXPECT_EQ(results->faults.spells[0].ended, began + 7ms);
  EXPECT_THAT(results->faults.problems, IsEmpty());
  story.release("e1-r1");
  EXPECT_THAT(story.told_names(), ElementsAre("results", "released"));
}

TEST(AgentFaults, AreUndoneOnStop) {
  FaultStory story;
  story.get_on();
  story.stop("e1-r1");
  story.asked<UndoRequest>();
  story.stopped(empty_results());
  EXPECT_THAT(story.told_names(), IsEmpty());
  story.answer_undone();
  EXPECT_THAT(story.told_names(), ElementsAre("results", "stopped"));
}

TEST(AgentFaults, AreUndoneAtOnceWhenTheCoordinatorIsLost) {
  FaultStory story;
  story.get_on();
  story.happen(LinkDown{"connection reset by peer"});
  EXPECT_EQ(story.asked<UndoRequest>().id, 5U);
}

TEST(AgentFaults, ARefusalEndsTheRunAndIsNamed) {
  FaultStory story;
  story.get_running("e1-r1");
  story.happen(WorkerFault{.fault = 0, .level = 0, .until = story.now + 10s});
  story.asked<ApplyRequest>();
  story.answer(fault::RefusedReply{ErrorCode::refused, "data0 has htb 5:"});
  ASSERT_TRUE(story.told.back().has_failed());
  EXPECT_EQ(story.told.back().failed().reason(), "fault 'cut': data0 has htb 5:");
}

TEST(AgentFaults, WhatIsStuckStandsInTheResultsAndBlocksTheHost) {
  FaultStory story;
  story.get_on();
  story.finish("e1-r1");
  story.asked<UndoRequest>();
  story.stopped(empty_results());
  story.answer_undone(fault::UndoOutcome::stuck);
  const auto told = story.host_faults();
  ASSERT_FALSE(told.empty());
  EXPECT_THAT(told.back()->blocked(), HasSubstr("STUCK"));
  for (const Envelope& message : story.told) {
    if (!message.has_results()) continue;
    const auto results = measure::decode_agent_measurements(message.results().part());
    ASSERT_EQ(results->faults.problems.size(), 1U);
    EXPECT_THAT(results->faults.problems[0].text, HasSubstr("STUCK"));
  }
  story.release("e1-r1");
  story.forget();
  story.reserve("e1-r2");
  EXPECT_THAT(story.told.back().reserved().refusal(), HasSubstr("STUCK"));
  // An operator mended it: the next look says so.
  story.pass(3s);
  story.answer_looks();
  story.forget();
  story.join();
  story.reserve("e1-r3");
  EXPECT_EQ(story.told.back().reserved().refusal(), "");
}

TEST(AgentFaults, AHelperThatDoesNotUndoIsLetGoOf) {
  FaultStory story;
  story.get_on();
  story.stop("e1-r1");
  story.asked<UndoRequest>();
  story.stopped(empty_results());
  story.pass(2s);
  EXPECT_THAT(story.dropped, HasSubstr("not undone within 2"));
  EXPECT_THAT(story.told_names(), testing::Contains("stopped"));
}

TEST(AgentFaults, AreClearedByTheCoordinatorsOrderWhichEndsTheRun) {
  FaultStory story;
  story.get_on();
  Envelope order;
  order.mutable_faults_order()->set_order(3);
  order.mutable_faults_order()->set_clear(true);
  story.hear(order);
  EXPECT_THAT(story.told.front().failed().reason(), HasSubstr("an operator had it undone"));
  // First the run's own, so that its end is known; then all, what is in conflict, and a list.
  const auto asks = std::exchange(story.asks, {});
  ASSERT_EQ(asks.size(), 4U);
  EXPECT_EQ(std::get<UndoRequest>(asks[0].request).id, 5U);
  EXPECT_EQ(std::get<UndoRequest>(asks[1].request).id, std::nullopt);
  EXPECT_TRUE(std::holds_alternative<fault::ClearRequest>(asks[2].request));
  story.ticket = asks[0].ticket;
  story.answer_undone();
  for (std::size_t i = 1; i < 3; ++i)
    story.happen(HelperAnswered{asks[i].ticket, fault::UndoneReply{}});
  story.happen(HelperAnswered{asks[3].ticket, fault::ListReply{}});
  ASSERT_FALSE(story.host_faults().empty());
  EXPECT_EQ(story.host_faults().back()->order(), 3U);
}

TEST(AgentFaults, AListNamesRunAndFault) {
  FaultStory story;
  story.get_on();
  story.list.faults = {
      {.id = 5,
       .fault = {"data0", fault::Direction::sent, fault::RateCap{BitRate{5'000'000'000}}},
       .state = fault::FaultState::applied,
       .age = 3s,
       .lease_left = 4s,
       .duration_left = 9s,
       .problem = {}}};
  Envelope order;
  order.mutable_faults_order()->set_order(9);
  story.hear(order);
  story.answer_looks();
  const protocol::HostFaults& told = *story.host_faults().back();
  EXPECT_EQ(told.order(), 9U);
  ASSERT_EQ(told.faults_size(), 1);
  EXPECT_EQ(told.faults(0).what(), "rate 5Gbit/s on data0, sent");
  EXPECT_EQ(told.faults(0).run(), "e1-r1");
  EXPECT_EQ(told.faults(0).fault(), "cut");
  EXPECT_EQ(told.faults(0).lease_left_ns(), 4'000'000'000U);
  EXPECT_TRUE(told.kernel().helper());
  EXPECT_THAT(told.control_interfaces(), ElementsAre("lo"));
}

TEST(AgentFaults, WithoutAHelperAnOrderIsAnsweredWithWhy) {
  AgentStory story;
  story.happen(HelperDown{"no helper listens on /run/x"});
  story.join();
  story.forget();
  Envelope order;
  order.mutable_faults_order()->set_order(2);
  order.mutable_faults_order()->set_clear(true);
  story.hear(order);
  ASSERT_EQ(story.told.size(), 1U);
  EXPECT_EQ(story.told[0].host_faults().order(), 2U);
  EXPECT_THAT(story.told[0].host_faults().no_helper(), HasSubstr("no helper listens"));
}

TEST(AgentFaults, TheCoordinatorHearsOfAHelperThatComesAndGoes) {
  FaultStory story;
  story.join();
  ASSERT_EQ(story.host_faults().size(), 1U);
  EXPECT_TRUE(story.host_faults()[0]->kernel().helper());
  story.answer_looks();
  EXPECT_EQ(story.host_faults().size(), 1U) << "nothing has changed";
  story.happen(HelperDown{"it closed the connection"});
  ASSERT_EQ(story.host_faults().size(), 2U);
  EXPECT_FALSE(story.host_faults()[1]->kernel().helper());
}

TEST(AgentFaults, LeasesAreRenewedWhileTheCoordinatorSpeaks) {
  FaultStory story;
  story.get_on();
  Envelope heartbeat;
  heartbeat.mutable_heartbeat();
  for (int i = 0; i < 20; ++i) {
    story.pass(500ms);
    story.hear(heartbeat);
    story.answer_looks();
    for (const AskHelper& ask : std::exchange(story.asks, {})) {
      ASSERT_TRUE(std::holds_alternative<RenewRequest>(ask.request));
      EXPECT_GE(std::get<RenewRequest>(ask.request).lease, fault::kRunLease - 600ms);
      story.happen(HelperAnswered{ask.ticket, fault::RenewedReply{1}});
    }
  }
  EXPECT_EQ(story.session.view(story.now).faults_applied, 1U);
}

}  // namespace
}  // namespace rehearsal::coordination

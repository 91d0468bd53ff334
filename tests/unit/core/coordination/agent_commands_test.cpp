// Operators' commands on an agent: asked of rehearsal-external, beside the helper of the kernel.

#include "core/fault/kernel_runner.hpp"
#include "core/measure/agent_measurements.hpp"
#include "tests/unit/core/coordination/agent_story.hpp"

namespace rehearsal::coordination {
namespace {

using fault::ApplyRequest;
using fault::UndoRequest;
using testing::AllOf;
using testing::HasSubstr;

fault::WelcomeReply external_welcome() {
  return {.version = fault::kHelperVersion,
          .faults = {},
          .interfaces = {},
          .protected_interfaces = {},
          .commands = {{.name = "port-down",
                        .arguments = {{"port", fault::IntegerArgument{1, 48}}},
                        .duration_max = 1min,
                        .time_max = 12s,
                        .problem = {}}},
          .blocked = {}};
}

/// An agent with both programs beside it, and a plan with a command and a rate on its host.
struct CommandStory : AgentStory {
  CommandStory() {
    plan.faults = {
        {.name = "cut",
         .what = {.kind = fault::Kind::external,
                  .levels = {{}},
                  .call = {"port-down", {{"port", "7"}}},
                  .command_time = 12s},
         .when = {.iteration = 1, .length = 10s},
         .places = {{.host = HostIndex{0}}},
         .mechanism = fault::Mechanism::external},
        {.name = "slow",
         .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
         .when = {.iteration = 1, .length = 10s},
         .places = {{.host = HostIndex{0}, .side = fault::Side::sent, .nic = NicIndex{0}}},
         .mechanism = fault::Mechanism::kernel}};
    happen(HelperUp{{.version = fault::kHelperVersion,
                     .faults = {fault::FaultKind::rate},
                     .interfaces = {"data0", "data1"},
                     .duration_max = 1min,
                     .protected_interfaces = {"lo"},
                     .commands = {},
                     .blocked = {}}});
    happen(HelperUp{external_welcome(), Helper::external});
    answer_looks();
  }

  void answer_looks() {
    std::vector<AskHelper> left;
    for (AskHelper& ask : std::exchange(asks, {})) {
      if (std::holds_alternative<fault::HelloRequest>(ask.request)) {
        fault::WelcomeReply welcome = external_welcome();
        if (ask.helper == Helper::kernel) {
          welcome.commands.clear();
          welcome.faults = {fault::FaultKind::rate};
          welcome.interfaces = {"data0", "data1"};
          welcome.duration_max = 1min;
        }
        happen(HelperAnswered{ask.ticket, welcome});
      } else if (std::holds_alternative<fault::ListRequest>(ask.request)) {
        happen(HelperAnswered{ask.ticket,
                              ask.helper == Helper::external ? listed : fault::ListReply{}});
      } else {
        left.push_back(std::move(ask));
      }
    }
    asks.insert(asks.end(), left.begin(), left.end());
  }
  /// The one request that is open at this helper; it is taken.
  AskHelper asked(Helper helper) {
    answer_looks();
    const auto found = std::ranges::find(asks, helper, &AskHelper::helper);
    if (found == asks.end()) {
      ADD_FAILURE() << "nothing was asked of it";
      return {};
    }
    AskHelper ask = std::move(*found);
    asks.erase(found);
    return ask;
  }
  void both_on() {
    get_running("e1-r1");
    for (const std::uint32_t fault : {0U, 1U})
      happen(WorkerFault{.fault = fault, .level = 0, .until = now + 10s});
    happen(HelperAnswered{asked(Helper::external).ticket, fault::AppliedReply{5}});
    happen(HelperAnswered{asked(Helper::kernel).ticket, fault::AppliedReply{5}});
    forget();
  }
  std::vector<const protocol::HostFaults*> host_faults() {
    std::vector<const protocol::HostFaults*> all;
    for (const Envelope& message : told)
      if (message.has_host_faults()) all.push_back(&message.host_faults());
    return all;
  }

  fault::ListReply listed;
};

TEST(AgentCommands, EachFaultIsAskedOfWhoDoesIt) {
  CommandStory story;
  story.get_running("e1-r1");
  story.happen(WorkerFault{.fault = 0, .level = 0, .until = story.now + 10s});
  const AskHelper ask = story.asked(Helper::external);
  const auto* apply = std::get_if<ApplyRequest>(&ask.request);
  ASSERT_NE(apply, nullptr);
  EXPECT_EQ(describe(apply->request.fault), "external port-down --port=7");
  EXPECT_LE(apply->request.lease, fault::kRunLease);
  EXPECT_TRUE(story.asks.empty());
  story.happen(HelperAnswered{ask.ticket, fault::AppliedReply{5}});
  EXPECT_EQ(story.session.view(story.now).faults_applied, 1U);
  EXPECT_TRUE(story.session.view(story.now).external);
}

TEST(AgentCommands, ResultsWaitForBothAndHaveBoth) {
  CommandStory story;
  story.both_on();
  story.finish("e1-r1");
  story.happen(WorkerStopped{measure::encode(measure::AgentMeasurements{})});
  const AskHelper command = story.asked(Helper::external);
  const AskHelper kernel = story.asked(Helper::kernel);
  const fault::UndoneReply clean{
      .faults = {{.id = 5, .outcome = fault::UndoOutcome::clean, .text = {}}}, .blocked = {}};
  story.happen(HelperAnswered{kernel.ticket, clean});
  EXPECT_THAT(story.told_names(), testing::Not(testing::Contains("results")));
  story.pass(3s);  // a command may take that long
  EXPECT_EQ(story.dropped, "");
  story.happen(HelperAnswered{command.ticket, clean});
  ASSERT_THAT(story.told_names(), testing::Contains("results"));
  for (const Envelope& message : story.told) {
    if (!message.has_results()) continue;
    const auto results = measure::decode_agent_measurements(message.results().part());
    ASSERT_TRUE(results);
    EXPECT_EQ(results->faults.spells.size(), 2U);
    EXPECT_TRUE(results->faults.problems.empty());
  }
}

TEST(AgentCommands, AHelperThatGoesTakesOnlyItsOwnAlong) {
  CommandStory story;
  story.both_on();
  story.happen(HelperDown{"it was killed", Helper::external});
  ASSERT_FALSE(story.told.empty());
  bool is_named = false;
  for (const Envelope& message : story.told)
    is_named = is_named || message.failed().reason().find("fault 'cut'") != std::string::npos;
  EXPECT_TRUE(is_named);
  EXPECT_EQ(story.session.view(story.now).faults_applied, 1U) << "until the coordinator says stop";
  EXPECT_FALSE(story.session.view(story.now).external);
  EXPECT_TRUE(story.session.view(story.now).helper);
  EXPECT_TRUE(story.session.view(story.now).blocked) << "nobody has undone it";
  story.stop("e1-r1");
  EXPECT_TRUE(std::holds_alternative<UndoRequest>(story.asked(Helper::kernel).request));
}

TEST(AgentCommands, AnOrderIsAnsweredWhenBothHave) {
  CommandStory story;
  story.join();
  story.answer_looks();
  story.forget();
  story.listed.faults = {{.id = 5,
                          .fault = {.interface = {},
                                    .direction = fault::Direction::both,
                                    .effect = fault::ExternalCall{"port-down", {{"port", "7"}}}},
                          .state = fault::FaultState::applied,
                          .problem = {}}};
  Envelope order;
  order.mutable_faults_order()->set_order(9);
  order.mutable_faults_order()->set_clear(true);
  story.hear(order);
  for (const AskHelper& ask : std::exchange(story.asks, {})) {
    if (std::holds_alternative<fault::ListRequest>(ask.request)) {
      const bool commands = ask.helper == Helper::external;
      story.happen(HelperAnswered{ask.ticket, commands ? story.listed : fault::ListReply{}});
    } else {
      story.happen(HelperAnswered{ask.ticket, fault::UndoneReply{}});
    }
  }
  int answers = 0;
  for (const protocol::HostFaults* faults : story.host_faults()) {
    if (faults->order() != 9) continue;
    ++answers;
    ASSERT_EQ(faults->faults_size(), 1);
    EXPECT_TRUE(faults->faults(0).external());
    EXPECT_EQ(faults->faults(0).what(), "external port-down --port=7");
    EXPECT_EQ(faults->external().commands(0).name(), "port-down");
  }
  EXPECT_EQ(answers, 1);
}

TEST(AgentCommands, WhatACommandPrintedMayBeNoText) {
  CommandStory story;
  story.get_running("e1-r1");
  story.happen(WorkerFault{.fault = 0, .level = 0, .until = story.now + 10s});
  const AskHelper ask = story.asked(Helper::external);
  story.forget();
  story.happen(HelperAnswered{
      ask.ticket, fault::RefusedReply{ErrorCode::system, "apply ended with 1: 'gesch\xC3'"}});
  const auto failed = std::ranges::find_if(story.told, &Envelope::has_failed);
  ASSERT_NE(failed, story.told.end());
  EXPECT_THAT(failed->failed().reason(), HasSubstr("'gesch?'")) << "messages carry UTF-8";
}

TEST(AgentCommands, ThePlanIsRefusedIfTheHostWouldNotRunIt) {
  CommandStory story;
  story.happen(HelperDown{"it is gone", Helper::external});
  story.join();
  story.answer_probe();
  story.reserve("e1-r1");
  story.prepare("e1-r1", story.plan, plan::plan_hash(story.plan));
  EXPECT_THAT(story.told.back().failed().reason(),
              AllOf(HasSubstr("fault 'cut'"), HasSubstr("no rehearsal-external")));
}

}  // namespace
}  // namespace rehearsal::coordination

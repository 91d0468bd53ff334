// What operators ask about faults of hosts' kernels, and runs that such faults stand in the way of.

#include "core/coordination/fault_desk.hpp"

#include "tests/unit/core/coordination/story.hpp"

namespace rehearsal::coordination {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

struct FaultsStory : RunStory {
  /// What an agent says of its host; `order`: in answer to that.
  void says(std::size_t agent, protocol::HostFaults state, std::uint64_t order = 0) {
    Envelope message;
    *message.mutable_host_faults() = std::move(state);
    message.mutable_host_faults()->set_order(order);
    say(agents[agent], message);
  }
  static protocol::HostFaults with_helper() {
    protocol::HostFaults state;
    state.mutable_kernel()->set_helper(true);
    state.mutable_kernel()->add_faults("rate");
    for (const char* nic : {"data0", "data1"}) state.mutable_kernel()->add_interfaces(nic);
    state.mutable_kernel()->set_duration_max_ns(60'000'000'000);
    return state;
  }
  static protocol::HostFaults with_fault(const std::string& state_of_it) {
    protocol::HostFaults state = with_helper();
    protocol::HostFault& fault = *state.add_faults();
    fault.set_id(4);
    fault.set_what("rate 5Gbit/s on data0, sent");
    fault.set_interface("data0");
    fault.set_state(state_of_it);
    return state;
  }
  void ask(bool clear, const std::string& host = "") {
    Envelope message;
    message.mutable_faults_request()->set_clear(clear);
    message.mutable_faults_request()->set_host(host);
    say(person, message);
  }
  std::uint64_t ordered(std::size_t agent) {
    const Envelope order = last_told(agents[agent], Envelope::kFaultsOrder);
    EXPECT_TRUE(order.has_faults_order());
    return order.faults_order().order();
  }
  protocol::FaultsReply reply() { return last_told(person, Envelope::kFaultsReply).faults_reply(); }
  std::string refusal(const std::string& more) {
    request_run(person, drill(more));
    return last_told(person, Envelope::kFailure).failure().message();
  }
  static std::string kernel_fault() {
    return "faults:\n  - name: cut\n    what: {kind: rate, to: 50%}\n"
           "    where: {hosts: host0, nics: data0, direction: sent}\n"
           "    when: {iteration: 1, for: 5s}\n    mechanism: kernel\n";
  }
};

TEST(FaultDesk, AsksAllAndAnswersWhenAllHave) {
  FaultsStory story;
  story.ask(false);
  const std::uint64_t order = story.ordered(0);
  EXPECT_EQ(story.ordered(1), order);
  story.says(0, FaultsStory::with_fault("applied"), order);
  EXPECT_EQ(story.reply().hosts_size(), 0);
  story.says(1, FaultsStory::with_helper(), order);
  const auto reply = story.reply();
  ASSERT_EQ(reply.hosts_size(), 2);
  EXPECT_EQ(reply.hosts(0).host(), "host0");
  EXPECT_EQ(reply.hosts(0).faults(0).what(), "rate 5Gbit/s on data0, sent");
  EXPECT_EQ(reply.hosts(1).faults_size(), 0);
}

TEST(FaultDesk, ClearsOneHost) {
  FaultsStory story;
  story.ask(true, "host1");
  EXPECT_TRUE(story.told(story.agents[0]).empty());
  const Envelope order = story.last_told(story.agents[1], Envelope::kFaultsOrder);
  EXPECT_TRUE(order.faults_order().clear());
  protocol::HostFaults state = FaultsStory::with_helper();
  state.add_undone("clean: fault 4 undone");
  story.says(1, state, order.faults_order().order());
  const auto reply = story.reply();
  ASSERT_EQ(reply.hosts_size(), 1);
  EXPECT_EQ(reply.hosts(0).undone(0), "clean: fault 4 undone");
}

TEST(FaultDesk, AHostThatIsNotHereIsNotAsked) {
  FaultsStory story;
  story.ask(false, "host9");
  EXPECT_THAT(story.last_told(story.person, Envelope::kFailure).failure().message(),
              HasSubstr("no agent of host 'host9'"));
}

TEST(FaultDesk, WhoLeavesOrDoesNotAnswerIsNamed) {
  FaultsStory story;
  story.ask(false);
  story.hang_up(story.agents[0]);
  story.pass(FaultDesk::kPatience, {story.agents[1], story.person});
  const auto reply = story.reply();
  ASSERT_EQ(reply.hosts_size(), 2);
  EXPECT_EQ(reply.hosts(0).no_answer(), "its agent left");
  EXPECT_THAT(reply.hosts(1).no_answer(), HasSubstr("no answer within 5"));
}

TEST(FaultDesk, AnAnswerThatNobodyWaitsForIsDropped) {
  FaultsStory story;
  story.ask(false);
  const std::uint64_t order = story.ordered(0);
  story.hang_up(story.person);
  story.says(0, FaultsStory::with_helper(), order);
  story.says(1, FaultsStory::with_helper(), order + 7);
  EXPECT_EQ(story.coordinator.view().agents, 2U);
}

TEST(FaultDesk, AnAnswerOfAnySizeFitsAFrame) {
  FaultsStory story;
  story.ask(false);
  const std::uint64_t order = story.ordered(0);
  protocol::HostFaults state = FaultsStory::with_helper();
  for (int i = 0; i < 3000; ++i) {
    state.add_faults()->set_what(std::string(300, 'x'));
    state.add_undone(std::string(300, 'y'));
  }
  story.says(0, state, order);
  story.says(1, state, order);
  const auto reply = story.reply();
  // Two programs of a host may keep as many each.
  EXPECT_EQ(reply.hosts(0).faults_size(), 2 * static_cast<int>(fault::kFaultsMax));
}

TEST(FaultDesk, AHostThatIsStuckTakesNoRuns) {
  FaultsStory story;
  protocol::HostFaults state = FaultsStory::with_helper();
  state.set_blocked("STUCK: fault 4 could not be undone");
  story.says(0, state);
  EXPECT_THAT(story.refusal(""),
              AllOf(HasSubstr("'host0' takes no runs"), HasSubstr("STUCK"),
                    HasSubstr("rehearse faults clear --host host0"), HasSubstr("--accept-stuck")));
  story.says(0, FaultsStory::with_helper());
  EXPECT_EQ(story.refusal(""), "");
}

TEST(FaultDesk, AFaultOnAnInterfaceThatIsTakenIsRefusedBeforeAnythingStarts) {
  FaultsStory story;
  story.says(0, FaultsStory::with_fault("conflict"));
  EXPECT_THAT(story.refusal(FaultsStory::kernel_fault()),
              AllOf(HasSubstr("has a fault on data0 already"), HasSubstr("conflict")));
  EXPECT_TRUE(story.told(story.agents[0]).empty()) << "nothing has started";
}

/// What a host with rehearsal-external says; its command is on, if `on`.
protocol::HostFaults with_command(bool on) {
  protocol::HostFaults state = FaultsStory::with_helper();
  state.mutable_external()->set_runner(true);
  protocol::ExternalCommand& command = *state.mutable_external()->add_commands();
  command.set_name("port-down");
  command.set_duration_max_ns(60'000'000'000);
  command.set_time_max_ns(12'000'000'000);
  if (!on) return state;
  protocol::HostFault& fault = *state.add_faults();
  fault.set_what("external port-down");
  fault.set_external(true);
  fault.set_state("applied");
  return state;
}

TEST(FaultDesk, ACommandThatIsOnIsInTheWayOfCommandsOnly) {
  const std::string command =
      "faults:\n  - name: cut\n    what: {kind: external, command: port-down}\n"
      "    where: {hosts: host0}\n    when: {iteration: 1, for: 5s}\n";
  FaultsStory story;
  EXPECT_THAT(story.refusal(command), HasSubstr("has no rehearsal-external"));
  story.says(0, with_command(true));
  EXPECT_THAT(story.refusal(command), AllOf(HasSubstr("has a fault by a command already"),
                                            HasSubstr("external port-down")));
  EXPECT_EQ(story.refusal(FaultsStory::kernel_fault()), "");
}

TEST(FaultDesk, CommandsThatAreClearedMayTakeTheirTime) {
  FaultsStory story;
  story.says(0, with_command(true));
  story.ask(true, "host0");
  const std::uint64_t order = story.ordered(0);
  story.pass(16s, {story.agents[0], story.agents[1], story.person});
  EXPECT_EQ(story.reply().hosts_size(), 0) << "it is still waited for";
  story.says(0, with_command(false), order);
  const auto reply = story.reply();
  ASSERT_EQ(reply.hosts_size(), 1);
  EXPECT_EQ(reply.hosts(0).no_answer(), "");
}

TEST(FaultDesk, WhatAHelperAllowsIsPlannedWith) {
  FaultsStory story;
  EXPECT_THAT(story.refusal(FaultsStory::kernel_fault()), HasSubstr("has no rehearsal-helper"));
  story.says(0, FaultsStory::with_helper());
  EXPECT_EQ(story.refusal(FaultsStory::kernel_fault()), "");
  EXPECT_EQ(story.coordinator.view().state, RunState::reserving);
}

TEST(FaultDesk, StatusSaysWhetherThereIsAHelper) {
  FaultsStory story;
  story.says(0, FaultsStory::with_fault("applied"));
  protocol::HostFaults none;
  none.set_no_helper("no helper listens");
  story.says(1, none);
  Envelope request;
  request.mutable_status_request();
  story.say(story.person, request);
  const auto status = story.last_told(story.person, Envelope::kStatusReply).status_reply();
  EXPECT_TRUE(status.agents(0).kernel().helper());
  EXPECT_EQ(status.agents(0).faults(), 1U);
  EXPECT_EQ(status.agents(1).no_helper(), "no helper listens");
}

}  // namespace
}  // namespace rehearsal::coordination

// The keeper with operators' commands: as certain to be undone as what is done to the kernel.
#include <gtest/gtest.h>

#include "core/base/random.hpp"
#include "core/fault/keeper.hpp"
#include "tests/unit/core/fault/fake_ports.hpp"

namespace rehearsal::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr OwnerId kAgent{1};
constexpr Instant kStart{seconds{1000}};

ExternalPolicy policy() {
  ExternalPolicy result;
  result.commands.push_back({.told = {.name = "port-down",
                                      .arguments = {{"switch", WordArgument{{"leaf1", "leaf2"}}},
                                                    {"port", IntegerArgument{1, 48}}},
                                      .duration_max = minutes{5},
                                      .problem = {}},
                             .executable = "/bin/port-down",
                             .limits = {}});
  return result;
}

FaultRequest port_down(const std::string& port) {
  return {.fault = {.interface = {},
                    .direction = Direction::both,
                    .effect = ExternalCall{"port-down", {{"port", port}, {"switch", "leaf1"}}}},
          .lease = seconds{5},
          .duration = seconds{60}};
}

class CommandKeeper : public testing::Test {
 protected:
  CommandKeeper() { start(); }

  /// A keeper that is started, also after another one died.
  void start(const std::string& boot_id = "boot 1") {
    const Journal left = read_journal(journal_.bytes);
    keeper_.emplace(kernel_, journal_,
                    KeeperSetup{.boot_id = boot_id,
                                .wall_ns = [] { return std::uint64_t{7}; },
                                .on_step = [this](Step step) { reach(step); },
                                .commands = &commands_});
    journal_.on_step = [this](Step step) { reach(step); };
    keeper_->replay(left, kStart);
  }
  void reach(Step step) {
    if (crash_at_ == step && --crash_count_ <= 0) throw Crash{};
  }
  bool apply(const std::string& port = "7") {
    const auto id = keeper_->apply(kAgent, port_down(port), policy(), kStart);
    problem_ = id ? "" : id.error().text();
    return id.has_value();
  }
  bool said(const std::string& text) {
    for (const KeeperEvent& event : keeper_->take_events()) {
      if (event.text.find(text) != std::string::npos) return true;
    }
    return false;
  }

  NoKernel kernel_;
  FakeCommands commands_;
  FakeJournal journal_;
  std::optional<Step> crash_at_;
  int crash_count_ = 1;
  std::string problem_;
  std::optional<FaultKeeper> keeper_;
};

TEST_F(CommandKeeper, ACommandIsAppliedAndUndoneWithItsArgumentsInTheirOrder) {
  ASSERT_TRUE(apply()) << problem_;
  EXPECT_EQ(commands_.done, std::set<std::string>{"port-down --switch=leaf1 --port=7"});
  const auto undone = keeper_->undo(std::nullopt, kStart);
  ASSERT_EQ(undone.size(), 1U);
  EXPECT_EQ(undone[0].outcome, UndoOutcome::clean);
  EXPECT_TRUE(commands_.done.empty());
  EXPECT_EQ(commands_.count(Verb::apply), 1);
  EXPECT_EQ(commands_.count(Verb::undo), 1);
}

TEST_F(CommandKeeper, TheIntentIsOnDiskBeforeTheCommandRuns) {
  crash_at_ = Step::before_apply;
  EXPECT_THROW(apply(), Crash);
  EXPECT_TRUE(commands_.runs.empty());
  const Journal journal = read_journal(journal_.bytes);
  ASSERT_EQ(journal.records.size(), 1U);
  const auto& intent = std::get<Intent>(journal.records[0]);
  const ExternalCall call{"port-down", {{"switch", "leaf1"}, {"port", "7"}}};
  EXPECT_EQ(intent.fault.effect, Effect{call});
  EXPECT_EQ(intent.change.undo, (Act{RunCommand{Verb::undo, call}}));
}

TEST_F(CommandKeeper, ANewOneUndoesWhatOneLeftThatDiedAtAnyStep) {
  for (const Step step : kSteps) {
    crash_at_ = step;
    crash_count_ = 1;
    try {
      if (apply()) keeper_->undo(std::nullopt, kStart);
      ADD_FAILURE() << to_string(step) << " was not reached";
    } catch (const Crash&) {
    }
    crash_at_.reset();
    start();
    EXPECT_TRUE(commands_.done.empty()) << to_string(step);
    EXPECT_TRUE(keeper_->faults().empty()) << to_string(step);
    EXPECT_EQ(keeper_->blocked(), "");
  }
}

TEST_F(CommandKeeper, NothingStaysOfManyCommandsHoweverItDies) {
  constexpr std::uint64_t kSeed = 20;
  RecordProperty("seed", std::to_string(kSeed));
  Random random(kSeed);
  for (int round = 0; round < 300; ++round) {
    crash_at_ = kSteps[random.below(kSteps.size())];
    crash_count_ = static_cast<int>(random.between(1, 4));
    try {
      for (int i = 0; i < 6; ++i) {
        if (random.below(3) != 0) apply(std::to_string(random.between(1, 4)));
        if (random.below(3) == 0) keeper_->disconnected(kAgent, kStart);
        if (random.below(4) == 0) keeper_->on_time(kStart + seconds{6});
        if (random.below(6) == 0) commands_.verbs_killed_half_way = 1;
        commands_.partial_fails_check = random.below(2) == 0;
      }
    } catch (const Crash&) {
    }
    crash_at_.reset();
    commands_.verbs_killed_half_way = 0;
    start(random.below(5) == 0 ? "boot " + std::to_string(round) : "boot 1");
    ASSERT_TRUE(commands_.done.empty()) << "seed " << kSeed << ", round " << round;
    ASSERT_TRUE(commands_.partial.empty()) << "seed " << kSeed << ", round " << round;
    ASSERT_TRUE(keeper_->faults().empty());
  }
}

TEST_F(CommandKeeper, WhatIsAppliedAlreadyIsSomebodyElses) {
  commands_.done.insert("port-down --switch=leaf1 --port=7");
  EXPECT_FALSE(apply());
  EXPECT_NE(problem_.find("somebody else's"), std::string::npos) << problem_;
  EXPECT_TRUE(commands_.runs.empty());
  EXPECT_TRUE(apply("8")) << problem_;
}

TEST_F(CommandKeeper, WhatThePolicyDoesNotAllowIsNotRun) {
  EXPECT_FALSE(apply("49"));
  EXPECT_NE(problem_.find("an integer from 1 to 48"), std::string::npos) << problem_;
  FaultRequest request = port_down("7");
  request.duration = minutes{6};
  EXPECT_FALSE(keeper_->apply(kAgent, request, policy(), kStart));
  std::get<ExternalCall>(request.fault.effect).command = "reload";
  EXPECT_FALSE(keeper_->apply(kAgent, request, policy(), kStart));
  EXPECT_FALSE(keeper_->apply(kAgent,
                              {.fault = {"eth1", Direction::sent, Blackhole{}},
                               .lease = seconds{5},
                               .duration = seconds{5}},
                              policy(), kStart));
  EXPECT_TRUE(commands_.runs.empty());
}

TEST_F(CommandKeeper, TheSameCallTwiceIsRefusedAnotherPortIsNot) {
  ASSERT_TRUE(apply()) << problem_;
  EXPECT_FALSE(apply());
  EXPECT_NE(problem_.find("same target"), std::string::npos) << problem_;
  EXPECT_TRUE(apply("8")) << problem_;
}

TEST_F(CommandKeeper, AKilledApplyIsUndoneWhateverItDid) {
  commands_.apply_is_killed = true;
  EXPECT_FALSE(apply());
  EXPECT_NE(problem_.find("killed at its limit"), std::string::npos) << problem_;
  EXPECT_EQ(commands_.count(Verb::undo), 1);
  EXPECT_TRUE(commands_.done.empty());
  EXPECT_TRUE(keeper_->faults().empty());
  EXPECT_EQ(keeper_->blocked(), "");
}

TEST_F(CommandKeeper, AnUndoThatFailsIsStuckLoudAndTriedAgain) {
  ASSERT_TRUE(apply()) << problem_;
  commands_.undo_fails = true;
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::stuck);
  EXPECT_TRUE(said("STUCK"));
  EXPECT_FALSE(apply("8"));
  EXPECT_NE(problem_.find("undo ended with 1"), std::string::npos) << problem_;
  commands_.undo_fails = false;
  keeper_->on_time(kStart + kRetryInterval);
  EXPECT_TRUE(commands_.done.empty());
  EXPECT_TRUE(apply("8")) << problem_;
}

/// How the check of what is half done looks.
class HalfDoneCommand : public CommandKeeper, public testing::WithParamInterface<bool> {
 protected:
  HalfDoneCommand() { commands_.partial_fails_check = GetParam(); }
  bool is_clean() const {
    return commands_.partial.empty() && commands_.done.empty() && keeper_->faults().empty();
  }
};

INSTANTIATE_TEST_SUITE_P(Its, HalfDoneCommand, testing::Bool(), [](const auto& fails) {
  return fails.param ? "CheckFails" : "CheckSaysChanged";
});

TEST_P(HalfDoneCommand, AnApplyThatWasKilledHalfWayIsUndone) {
  commands_.verbs_killed_half_way = 1;
  EXPECT_FALSE(apply());
  EXPECT_EQ(commands_.count(Verb::undo), 1);
  EXPECT_TRUE(is_clean()) << keeper_->blocked();
}

TEST_P(HalfDoneCommand, AnUndoThatWasKilledHalfWayIsTriedAgain) {
  ASSERT_TRUE(apply()) << problem_;
  commands_.verbs_killed_half_way = 2;
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::stuck);
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::stuck);
  keeper_->on_time(kStart + kRetryInterval);
  EXPECT_EQ(commands_.count(Verb::undo), 3);
  EXPECT_TRUE(is_clean()) << keeper_->blocked();
}

TEST_P(HalfDoneCommand, AnUndoThatDiedHalfWayWithItsRunnerIsTriedAgainByTheNext) {
  ASSERT_TRUE(apply()) << problem_;
  commands_.verbs_killed_half_way = 1;
  crash_at_ = Step::after_undo;
  EXPECT_THROW(keeper_->undo(std::nullopt, kStart), Crash);
  crash_at_.reset();
  ASSERT_FALSE(commands_.partial.empty());
  commands_.verbs_killed_half_way = 1;
  start();  // and once more
  EXPECT_NE(keeper_->blocked(), "");
  start();
  EXPECT_TRUE(is_clean()) << keeper_->blocked();
}

TEST_F(CommandKeeper, AnUndoneOneThatIsNotClearIsStuckNotAConflict) {
  ASSERT_TRUE(apply()) << problem_;
  crash_at_ = Step::before_undo;
  EXPECT_THROW(keeper_->undo(std::nullopt, kStart), Crash);
  crash_at_.reset();
  commands_.changed.insert("port-down --switch=leaf1 --port=7");
  start();
  EXPECT_EQ(commands_.count(Verb::undo), 1) << "its undoing had begun";
  EXPECT_NE(keeper_->blocked().find("not so when read back"), std::string::npos)
      << keeper_->blocked();
}

TEST_F(CommandKeeper, NoMoreAreOnThanCanSurelyBeUndone) {
  for (int port = 1; port <= 8; ++port) ASSERT_TRUE(apply(std::to_string(port))) << problem_;
  EXPECT_FALSE(apply("9"));
  EXPECT_NE(problem_.find("8 faults by commands"), std::string::npos) << problem_;
  keeper_->undo(std::nullopt, kStart);
  EXPECT_TRUE(apply("9")) << problem_;
}

TEST_F(CommandKeeper, RequestsGetTheirTurnBetweenTriesThatTakeLong) {
  ASSERT_TRUE(apply()) << problem_;
  commands_.undo_fails = true;
  keeper_->undo(std::nullopt, kStart);
  keeper_->busy(seconds{9});
  EXPECT_EQ(keeper_->next_due(), kStart + seconds{9} + kRetryInterval);
}

TEST_F(CommandKeeper, ASwitchThatDoesNotAnswerIsStuckNotForgotten) {
  ASSERT_TRUE(apply()) << problem_;
  commands_.check_fails = true;
  start("boot 2");  // also not by a reboot of this host: the switch did not start again
  EXPECT_NE(keeper_->blocked().find("the switch is silent"), std::string::npos);
  commands_.check_fails = false;
  keeper_->on_time(kStart + kRetryInterval);
  EXPECT_TRUE(commands_.done.empty());
  EXPECT_EQ(keeper_->blocked(), "");
}

TEST_F(CommandKeeper, WhatSomebodyElseChangedIsLeftAlone) {
  ASSERT_TRUE(apply()) << problem_;
  commands_.changed.insert("port-down --switch=leaf1 --port=7");
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::conflict);
  EXPECT_EQ(commands_.count(Verb::undo), 0);
  EXPECT_TRUE(said("CONFLICT"));
  EXPECT_FALSE(apply());
  EXPECT_TRUE(apply("8")) << problem_;
  EXPECT_EQ(keeper_->clear(false, kStart).size(), 1U);
  EXPECT_EQ(keeper_->faults().size(), 1U);
}

TEST_F(CommandKeeper, ALeaseLastsLongerByTheTimeThatCommandsTook) {
  ASSERT_TRUE(apply()) << problem_;
  keeper_->busy(seconds{9});
  keeper_->on_time(kStart + seconds{14} - milliseconds{1});
  EXPECT_FALSE(commands_.done.empty());
  keeper_->on_time(kStart + seconds{14});
  EXPECT_TRUE(commands_.done.empty());
  ASSERT_TRUE(apply()) << problem_;
  keeper_->busy(minutes{10});
  keeper_->on_time(kStart + seconds{60});
  EXPECT_TRUE(commands_.done.empty()) << "its longest duration does not grow";
}

TEST_F(CommandKeeper, ACommandWithoutOneToRunItIsStuck) {
  ASSERT_TRUE(apply()) << problem_;
  const Journal left = read_journal(journal_.bytes);
  FaultKeeper helper(kernel_, journal_,
                     {.boot_id = "boot 1", .wall_ns = [] { return std::uint64_t{7}; }});
  helper.replay(left, kStart);
  EXPECT_NE(helper.blocked().find("no commands are run here"), std::string::npos);
}

}  // namespace
}  // namespace rehearsal::fault

#include "core/fault/keeper.hpp"

#include <gtest/gtest.h>

#include "tests/unit/core/fault/fake_ports.hpp"

namespace rehearsal::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr OwnerId kAgent{1};
constexpr Instant kStart{seconds{1000}};

HostPolicy everything() {
  return {.agent = {},
          .faults = {kFaultKinds.begin(), kFaultKinds.end()},
          .interfaces = {"eth1", "eth2"},
          .control_interfaces = {"eth0"},
          .duration_max = std::chrono::minutes{10}};
}

FaultRequest request_of(KernelFault fault) {
  return {.fault = std::move(fault), .lease = seconds{5}, .duration = seconds{60}};
}
FaultRequest rate_on(const std::string& interface) {
  return request_of({interface, Direction::sent, RateCap{BitRate{1'000'000'000}}});
}

/// Every mechanism that changes something of its own.
std::vector<FaultRequest> every_target() {
  return {rate_on("eth1"), request_of({"eth1", Direction::both, LinkDown{}}),
          request_of({"eth1", Direction::both, SmallerMtu{1500}}),
          request_of({"eth1", Direction::sent, PauseFrames{false}})};
}

class Keeper : public testing::Test {
 protected:
  Keeper() {
    kernel_.add("eth0");
    kernel_.add("eth1");
    kernel_.add("eth2");
    clean_ = kernel_.states();
    start();
  }

  /// A helper that is started, also after another one died.
  void start(const std::string& boot_id = "boot 1") {
    const Journal left = read_journal(journal_.bytes);
    keeper_.emplace(kernel_, journal_,
                    KeeperSetup{.boot_id = boot_id,
                                .wall_ns = [] { return std::uint64_t{7}; },
                                .on_step = [this](Step step) { reach(step); }});
    journal_.on_step = [this](Step step) { reach(step); };
    keeper_->replay(left, kStart);
  }
  void reach(Step step) {
    if (crash_at_ == step) throw Crash{};
  }
  bool apply(const FaultRequest& request) {
    const auto id = keeper_->apply(kAgent, request, everything(), kStart);
    problem_ = id ? "" : id.error().text();
    return id.has_value();
  }
  bool said(const std::string& text) {
    for (const KeeperEvent& event : keeper_->take_events()) {
      if (event.text.find(text) != std::string::npos) return true;
    }
    return false;
  }

  FakeKernel kernel_;
  FakeJournal journal_;
  std::map<std::uint32_t, InterfaceState> clean_;
  std::optional<Step> crash_at_;
  std::string problem_;
  std::optional<FaultKeeper> keeper_;
};

TEST_F(Keeper, AFaultIsOnUntilItIsUndone) {
  for (const FaultRequest& request : every_target()) {
    ASSERT_TRUE(apply(request)) << problem_;
    EXPECT_NE(kernel_.states(), clean_) << describe(request.fault);
  }
  const auto undone = keeper_->undo(std::nullopt, kStart);
  ASSERT_EQ(undone.size(), 4U);
  for (const Undone& each : undone) EXPECT_EQ(each.outcome, UndoOutcome::clean);
  EXPECT_EQ(kernel_.states(), clean_);
  EXPECT_TRUE(keeper_->faults().empty());
}

TEST_F(Keeper, TheIntentIsOnDiskBeforeAnythingIsTouched) {
  crash_at_ = Step::before_apply;
  EXPECT_THROW(apply(rate_on("eth1")), Crash);
  EXPECT_EQ(kernel_.changes, 0);
  const Journal journal = read_journal(journal_.bytes);
  ASSERT_EQ(journal.records.size(), 1U);
  const auto& intent = std::get<Intent>(journal.records[0]);
  EXPECT_EQ(intent.fault, rate_on("eth1").fault);
  EXPECT_EQ(intent.before, clean_.at(intent.change.interface_index));
  EXPECT_EQ(intent.deadline, kStart + seconds{60});
  EXPECT_EQ(intent.boot_id, "boot 1");
  EXPECT_EQ(intent.change.undo, Act{RemoveRoot{handle_of(intent.id)}});
}

TEST_F(Keeper, ANewHelperUndoesWhatOneLeftThatDiedAtAnyStep) {
  for (const FaultRequest& request : every_target()) {
    for (const Step step : kSteps) {
      crash_at_ = step;
      try {
        if (apply(request)) keeper_->undo(std::nullopt, kStart);
        ADD_FAILURE() << to_string(step) << " was not reached";
      } catch (const Crash&) {
      }
      crash_at_.reset();
      start();
      EXPECT_EQ(kernel_.states(), clean_) << describe(request.fault) << " at " << to_string(step);
      EXPECT_TRUE(keeper_->faults().empty());
      EXPECT_EQ(keeper_->blocked(), "");
    }
  }
}

TEST_F(Keeper, ATornRecordLosesNothing) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  const std::string whole = journal_.bytes;
  const auto faulty = kernel_.at("eth1");
  // The record that says "applied" is torn; the intent before it is not.
  const std::size_t last = read_journal(whole).whole_bytes;
  for (std::size_t cut = 1; cut < 20; ++cut) {
    journal_.bytes = whole.substr(0, last - cut);
    kernel_.at("eth1") = faulty;
    start();
    EXPECT_EQ(kernel_.states(), clean_) << cut;
  }
}

TEST_F(Keeper, ALostJournalLosesNoQueueingDisciplineOfOurs) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  journal_.bytes.clear();
  start();
  EXPECT_TRUE(said("no journal knows"));
  EXPECT_EQ(kernel_.states(), clean_);
}

TEST_F(Keeper, ADamagedJournalIsStuckUntilRootAcceptsIt) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  ASSERT_TRUE(apply(rate_on("eth2")));
  journal_.bytes[journal_header().size() + 30] ^= 1;  // in the first record
  start();
  EXPECT_EQ(kernel_.states(), clean_);  // by their handles
  EXPECT_NE(keeper_->blocked(), "");
  EXPECT_FALSE(apply(rate_on("eth1")));
  keeper_->clear(false, kStart);
  EXPECT_FALSE(apply(rate_on("eth1")));
  keeper_->clear(true, kStart);
  EXPECT_TRUE(apply(rate_on("eth1"))) << problem_;
}

TEST_F(Keeper, AfterARebootLinkAndMtuAreTheirOwnersAgain) {
  for (const FaultRequest& request : every_target()) ASSERT_TRUE(apply(request)) << problem_;
  kernel_.remove("eth1");  // the kernel started again: a new interface of the same name
  kernel_.add("eth3").name = "eth1";
  kernel_.table.links.back().name = "eth1";
  kernel_.at("eth1").mtu_bytes = 1500;  // its configuration now
  kernel_.at("eth1").is_up = false;
  const auto booted = kernel_.states();
  start("boot 2");
  EXPECT_EQ(kernel_.states(), booted);
  EXPECT_TRUE(keeper_->faults().empty());
}

TEST_F(Keeper, AnInterfaceThatIsGoneTookItsFaultsWithIt) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  kernel_.remove("eth1");
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::clean);
  EXPECT_TRUE(keeper_->faults().empty());
}

TEST_F(Keeper, LeasesAndDeadlinesRunOut) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  EXPECT_EQ(keeper_->next_due(), kStart + seconds{5});
  keeper_->on_time(kStart + milliseconds{4999});
  EXPECT_NE(kernel_.states(), clean_);
  EXPECT_EQ(keeper_->renew(kAgent, std::nullopt, seconds{8}, kStart + seconds{4}), 1U);
  EXPECT_EQ(keeper_->next_due(), kStart + seconds{12});
  EXPECT_EQ(keeper_->renew(OwnerId{2}, std::nullopt, seconds{8}, kStart), 0U);
  keeper_->on_time(kStart + seconds{12});
  EXPECT_EQ(kernel_.states(), clean_);
  EXPECT_TRUE(said("lease"));

  ASSERT_TRUE(apply(rate_on("eth1")));
  for (int second = 4; second < 60; second += 4) {
    keeper_->renew(kAgent, std::nullopt, seconds{10}, kStart + seconds{second});
    keeper_->on_time(kStart + seconds{second});
  }
  EXPECT_NE(kernel_.states(), clean_);
  keeper_->on_time(kStart + seconds{60});
  EXPECT_EQ(kernel_.states(), clean_);
  EXPECT_TRUE(said("longest duration"));
}

TEST_F(Keeper, AConnectionTakesItsFaultsWithIt) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  ASSERT_TRUE(keeper_->apply(OwnerId{2}, rate_on("eth2"), everything(), kStart));
  keeper_->disconnected(kAgent, kStart);
  EXPECT_EQ(kernel_.at("eth1"), clean_.at(kernel_.at("eth1").index));
  EXPECT_EQ(keeper_->faults().size(), 1U);
}

TEST_F(Keeper, WhatSomebodyElseChangedIsLeftAlone) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  Qdisc& root = kernel_.at("eth1").qdiscs.at(0);
  root = {.kind = "htb", .handle = 0x10000, .parent = 0xFFFF'FFFF, .options = {}, .settings = {}};
  const auto theirs = kernel_.states();
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::conflict);
  EXPECT_EQ(kernel_.states(), theirs);
  EXPECT_TRUE(said("CONFLICT"));
  EXPECT_FALSE(apply(rate_on("eth1")));
  EXPECT_TRUE(apply(rate_on("eth2"))) << problem_;  // another interface is not concerned
  EXPECT_EQ(keeper_->clear(false, kStart).size(), 1U);
  EXPECT_EQ(kernel_.states().at(kernel_.at("eth1").index), theirs.at(kernel_.at("eth1").index));
  EXPECT_EQ(keeper_->faults().size(), 1U);
}

TEST_F(Keeper, OurQueueWithOtherOptionsOrAGuestIsAConflictToo) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  kernel_.at("eth1").qdiscs.at(0).options = "a larger burst";
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::conflict);
  kernel_.at("eth1").qdiscs.at(0).options = "as set";
  const std::uint32_t ours = kernel_.at("eth1").qdiscs.at(0).handle;
  kernel_.at("eth1").qdiscs.push_back(
      {.kind = "fq", .handle = 0x20000, .parent = ours + 1, .options = {}, .settings = {}});
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::conflict);
  kernel_.at("eth1").qdiscs.pop_back();  // they took it back
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::clean);
  EXPECT_EQ(kernel_.states(), clean_);
}

TEST_F(Keeper, StuckIsLoudBlocksEverythingAndIsTriedAgain) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  kernel_.is_deaf = true;
  EXPECT_EQ(keeper_->undo(std::nullopt, kStart).at(0).outcome, UndoOutcome::stuck);
  EXPECT_TRUE(said("STUCK"));
  EXPECT_FALSE(apply(rate_on("eth2")));
  EXPECT_NE(problem_.find("STUCK"), std::string::npos);
  EXPECT_EQ(keeper_->next_due(), kStart + kRetryInterval);
  keeper_->on_time(kStart + kRetryInterval);
  EXPECT_FALSE(said("STUCK"));  // once is enough
  kernel_.is_deaf = false;
  keeper_->on_time(kStart + 2 * kRetryInterval);
  EXPECT_EQ(kernel_.states(), clean_);
  EXPECT_TRUE(apply(rate_on("eth2"))) << problem_;
}

TEST_F(Keeper, WhatTheKernelRefusesIsNoFault) {
  kernel_.refusal = Error{ErrorCode::system, ErrorSource::host, "kind is unknown"};
  EXPECT_FALSE(apply(rate_on("eth1")));
  EXPECT_NE(problem_.find("kind is unknown"), std::string::npos);
  EXPECT_TRUE(keeper_->faults().empty());
  EXPECT_EQ(keeper_->blocked(), "");
  kernel_.refusal.reset();
  kernel_.is_deaf = true;
  EXPECT_FALSE(apply(rate_on("eth1")));
  EXPECT_NE(problem_.find("read back"), std::string::npos);
  EXPECT_EQ(kernel_.states(), clean_);
}

TEST_F(Keeper, WithoutAJournalNothingIsTouched) {
  journal_.is_full = true;
  EXPECT_FALSE(apply(rate_on("eth1")));
  EXPECT_EQ(kernel_.changes, 0);
  start();
  EXPECT_NE(keeper_->blocked().find("cannot be written"), std::string::npos);
}

TEST_F(Keeper, TwoFaultsOnTheSameTargetAreRefused) {
  ASSERT_TRUE(apply(rate_on("eth1")));
  EXPECT_FALSE(apply(request_of({"eth1", Direction::sent, Blackhole{}})));
  EXPECT_NE(problem_.find("same target"), std::string::npos);
}

TEST_F(Keeper, TheJournalDoesNotGrowForever) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(apply(rate_on("eth1"))) << problem_;
    keeper_->undo(std::nullopt, kStart);
  }
  EXPECT_LT(journal_.bytes.size(), 100'000U);
}

}  // namespace
}  // namespace rehearsal::fault

#include "core/fault/kernel_runner.hpp"

#include <gmock/gmock.h>

namespace rehearsal::fault {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

KernelFault cap(const std::string& interface, std::uint64_t megabits) {
  return {interface, Direction::sent, RateCap{BitRate{megabits * 1'000'000}}};
}

/// A runner with two faults: 0 on eth1 at two levels, 1 on eth2 and eth3; the helper is played by
/// hand.
class KernelRunnerTest : public testing::Test {
 protected:
  KernelRunner make() {
    return {{{.fault = 0, .levels = {cap("eth1", 50), cap("eth1", 25)}, .duration_max = 10min},
             {.fault = 1, .levels = {cap("eth2", 10)}, .duration_max = 10min},
             {.fault = 1, .levels = {cap("eth3", 10)}, .duration_max = 10min}},
            tickets_,
            now_};
  }

  /// What is asked now, one request; the test fails if it is not just one of that kind.
  template <typename Request>
  Request asked() {
    auto asks = runner_.take_asks();
    EXPECT_EQ(asks.size(), 1U);
    if (asks.size() != 1 || !std::holds_alternative<Request>(asks[0].request)) {
      ADD_FAILURE() << "something else was asked";
      return {};
    }
    ticket_ = asks[0].ticket;
    return std::get<Request>(asks[0].request);
  }
  void answer(const HelperReply& reply) { EXPECT_TRUE(runner_.answered(ticket_, reply, now_)); }
  void pass(Duration time) { now_ += time; }

  /// Puts fault 0 on at its first level.
  void put_on(std::uint64_t id = 7) {
    runner_.want(0, 0, now_ + 30s, now_);
    asked<ApplyRequest>();
    answer(AppliedReply{id});
  }
  UndoneReply undone(std::uint64_t id, UndoOutcome outcome, const std::string& text = "") {
    return {.faults = {{.id = id, .outcome = outcome, .text = text}}, .blocked = {}};
  }
  std::string trouble() {
    return runner_.troubles().empty() ? "" : runner_.troubles().front().text;
  }

  std::uint64_t tickets_ = 100;
  std::uint64_t ticket_ = 0;
  Instant now_{1000s};
  KernelRunner runner_ = make();
};

TEST_F(KernelRunnerTest, AFaultIsAskedForAndItsSpellIsFromReadBackToReadBack) {
  runner_.want(0, 0, now_ + 30s, now_);
  const auto apply = asked<ApplyRequest>();
  EXPECT_EQ(apply.request.fault, cap("eth1", 50));
  EXPECT_EQ(apply.request.lease, kRunLease);
  EXPECT_EQ(apply.request.duration, 31s);
  pass(3ms);
  answer(AppliedReply{7});
  EXPECT_EQ(runner_.applied(), 1U);
  EXPECT_EQ(runner_.fault_of(7), 0U);
  const Instant began = now_;
  pass(2s);
  runner_.want(0, Schedule::kOff, kNever, now_);
  EXPECT_EQ(asked<UndoRequest>().id, 7U);
  pass(4ms);
  answer(undone(7, UndoOutcome::clean));
  ASSERT_EQ(runner_.spells().size(), 1U);
  EXPECT_EQ(runner_.spells()[0], (Spell{.fault = 0, .level = 0, .began = began, .ended = now_}));
  EXPECT_TRUE(runner_.idle());
  EXPECT_EQ(trouble(), "");
}

TEST_F(KernelRunnerTest, AnotherLevelIsAskedForWhenTheOneBeforeIsUndone) {
  put_on();
  runner_.want(0, 1, now_ + 10s, now_);
  asked<UndoRequest>();
  answer(undone(7, UndoOutcome::clean));
  EXPECT_EQ(asked<ApplyRequest>().request.fault, cap("eth1", 25));
  answer(AppliedReply{8});
  EXPECT_EQ(runner_.spells().size(), 2U);
}

TEST_F(KernelRunnerTest, WhatEndsWhileItIsBeingAppliedIsUndoneAtOnce) {
  runner_.want(0, 0, now_ + 30s, now_);
  asked<ApplyRequest>();
  runner_.want(0, Schedule::kOff, kNever, now_);
  EXPECT_TRUE(runner_.take_asks().empty());
  answer(AppliedReply{7});
  EXPECT_EQ(asked<UndoRequest>().id, 7U);
}

TEST_F(KernelRunnerTest, AFaultOfTwoInterfacesIsOnWhenBothAre) {
  runner_.want(1, 0, now_ + 30s, now_);
  auto asks = runner_.take_asks();
  ASSERT_EQ(asks.size(), 2U);
  runner_.answered(asks[0].ticket, AppliedReply{1}, now_);
  EXPECT_TRUE(runner_.spells().empty());
  pass(5ms);
  runner_.answered(asks[1].ticket, AppliedReply{2}, now_);
  ASSERT_EQ(runner_.spells().size(), 1U);
  EXPECT_EQ(runner_.spells()[0].began, now_);
  runner_.end(now_);
  asks = runner_.take_asks();
  ASSERT_EQ(asks.size(), 2U);
  pass(1ms);
  runner_.answered(asks[0].ticket, undone(1, UndoOutcome::clean), now_);
  const Instant ended = now_;
  pass(1ms);
  runner_.answered(asks[1].ticket, undone(2, UndoOutcome::clean), now_);
  EXPECT_EQ(runner_.spells()[0].ended, ended);
  EXPECT_TRUE(runner_.idle());
}

TEST_F(KernelRunnerTest, LeasesAreExtendedByTheCoordinatorsWordAlone) {
  put_on();
  pass(900ms);
  runner_.heard(now_);
  pass(100ms);
  EXPECT_EQ(runner_.deadline(), now_);
  runner_.tick(now_);
  EXPECT_EQ(asked<RenewRequest>().lease, kRunLease - 100ms);
  answer(RenewedReply{1});
  // No word any more: each renewal is for what is left of it.
  pass(1s);
  runner_.tick(now_);
  EXPECT_EQ(asked<RenewRequest>().lease, kRunLease - 1100ms);
  answer(RenewedReply{1});
  pass(kRunLease - 1100ms);
  runner_.tick(now_);
  EXPECT_EQ(asked<UndoRequest>().id, 7U);
  EXPECT_THAT(trouble(), HasSubstr("the coordinator was silent for 5"));
  answer(undone(7, UndoOutcome::clean));
  EXPECT_TRUE(runner_.idle());
}

TEST_F(KernelRunnerTest, NothingIsRenewedWhenNothingIsOn) {
  EXPECT_EQ(runner_.deadline(), kNever);
  put_on();
  EXPECT_NE(runner_.deadline(), kNever);
  runner_.want(0, Schedule::kOff, kNever, now_);
  asked<UndoRequest>();
  answer(undone(7, UndoOutcome::clean));
  pass(1s);
  runner_.tick(now_);
  EXPECT_TRUE(runner_.take_asks().empty());
  EXPECT_EQ(runner_.deadline(), kNever);
}

TEST_F(KernelRunnerTest, ARefusalIsATroubleAndEndsAllOthers) {
  put_on();
  runner_.want(1, 0, now_ + 30s, now_);
  auto asks = runner_.take_asks();
  ASSERT_EQ(asks.size(), 2U);
  runner_.answered(asks[0].ticket, RefusedReply{ErrorCode::refused, "eth2 has htb 5:"}, now_);
  ASSERT_EQ(runner_.troubles().size(), 1U);
  EXPECT_EQ(runner_.troubles()[0].fault, 1U);
  EXPECT_EQ(trouble(), "eth2 has htb 5:");
  EXPECT_EQ(asked<UndoRequest>().id, 7U);  // of the other fault
  // What was still being applied is undone when it is there.
  runner_.answered(asks[1].ticket, AppliedReply{9}, now_);
  EXPECT_EQ(asked<UndoRequest>().id, 9U);
  runner_.want(0, 0, now_ + 30s, now_);
  EXPECT_TRUE(runner_.take_asks().empty()) << "nothing begins any more";
}

TEST_F(KernelRunnerTest, WhatCouldNotBeUndoneIsLoud) {
  put_on();
  runner_.end(now_);
  asked<UndoRequest>();
  answer(undone(7, UndoOutcome::stuck, "fault 7: the kernel says no"));
  EXPECT_EQ(trouble(), "STUCK: fault 7: the kernel says no");
  EXPECT_TRUE(runner_.idle());
}

TEST_F(KernelRunnerTest, WhatSomebodyElseChangedIsAConflict) {
  put_on();
  runner_.want(0, Schedule::kOff, kNever, now_);
  asked<UndoRequest>();
  answer(undone(7, UndoOutcome::conflict, "the root is now htb 5:"));
  EXPECT_EQ(trouble(), "CONFLICT: the root is now htb 5:");
}

TEST_F(KernelRunnerTest, AFaultThatIsGoneBeforeItsTimeIsNoticedByItsLease) {
  put_on();
  pass(1s);
  runner_.heard(now_);
  runner_.tick(now_);
  asked<RenewRequest>();
  answer(RenewedReply{0});
  asked<ListRequest>();
  answer(ListReply{});
  EXPECT_THAT(trouble(), HasSubstr("undone before its end"));
  EXPECT_EQ(runner_.spells()[0].ended, now_);
  EXPECT_TRUE(runner_.idle());
}

TEST_F(KernelRunnerTest, AConflictIsNoticedByItsLease) {
  put_on();
  pass(1s);
  runner_.tick(now_);
  asked<RenewRequest>();
  answer(RenewedReply{0});
  asked<ListRequest>();
  answer(ListReply{.faults = {{.id = 7,
                               .fault = cap("eth1", 50),
                               .state = FaultState::conflict,
                               .problem = "the root is now htb 5:"}},
                   .blocked = {}});
  EXPECT_EQ(trouble(), "CONFLICT: the root is now htb 5:");
}

TEST_F(KernelRunnerTest, WhatTheHelperEndedByItselfInTimeIsFine) {
  runner_.want(0, 0, now_ + 20min, now_);  // longer than the host allows one to be
  EXPECT_EQ(asked<ApplyRequest>().request.duration, 10min);
  answer(AppliedReply{7});
  pass(10min);
  runner_.heard(now_);
  runner_.want(0, Schedule::kOff, kNever, now_);
  asked<UndoRequest>();
  answer(UndoneReply{});
  EXPECT_EQ(trouble(), "");
  EXPECT_TRUE(runner_.idle());
}

TEST_F(KernelRunnerTest, AHelperThatGoesTakesItsFaultsAlong) {
  put_on();
  pass(1s);
  runner_.helper_gone("it closed the connection", now_);
  EXPECT_THAT(trouble(), HasSubstr("the helper is gone (it closed the connection)"));
  EXPECT_TRUE(runner_.troubles()[0].may_be_on);
  EXPECT_EQ(runner_.spells()[0].ended, now_);
  EXPECT_TRUE(runner_.idle());
  EXPECT_EQ(runner_.deadline(), kNever);
}

TEST_F(KernelRunnerTest, AHelperThatDoesNotAnswerIsGivenUp) {
  runner_.want(0, 0, now_ + 30s, now_);
  asked<ApplyRequest>();
  EXPECT_EQ(runner_.deadline(), now_ + kHelperPatience);
  pass(kHelperPatience);
  runner_.heard(now_);
  runner_.tick(now_);
  EXPECT_TRUE(runner_.is_helper_dead());
  EXPECT_THAT(trouble(), HasSubstr("no answer within 4"));
}

TEST_F(KernelRunnerTest, CommandsMayTakeTheTimeThatTheirHostGivesThem) {
  const KernelFault command{
      .interface = {}, .direction = Direction::both, .effect = ExternalCall{"cut", {}}};
  KernelRunner runner{{{.fault = 0, .levels = {command}, .duration_max = 10min, .time_max = 20s},
                       {.fault = 1, .levels = {command}, .duration_max = 10min}},
                      tickets_,
                      now_};
  runner.want(0, 0, kNever, now_);
  runner.want(1, 0, kNever, now_);
  const auto asks = runner.take_asks();
  ASSERT_EQ(asks.size(), 2U);
  for (int i = 0; i < 23; ++i) {
    pass(1s);
    runner.heard(now_);
    runner.tick(now_);
  }
  EXPECT_FALSE(runner.is_helper_dead());
  // The second one is carried out only now.
  EXPECT_TRUE(runner.answered(asks[0].ticket, AppliedReply{1}, now_));
  pass(20s);
  runner.heard(now_);
  runner.tick(now_);
  EXPECT_FALSE(runner.is_helper_dead());
  pass(5s);
  runner.heard(now_);
  runner.tick(now_);
  EXPECT_TRUE(runner.is_helper_dead());
}

TEST_F(KernelRunnerTest, AnOperatorsWordEndsItEarly) {
  put_on();
  runner_.end_early("an operator had it undone", now_);
  EXPECT_EQ(trouble(), "an operator had it undone");
  EXPECT_EQ(asked<UndoRequest>().id, 7U);
  answer(undone(7, UndoOutcome::clean));
  EXPECT_EQ(runner_.troubles().size(), 1U);
}

TEST_F(KernelRunnerTest, TicketsOfOthersAreNotTaken) {
  EXPECT_FALSE(runner_.answered(1, ListReply{}, now_));
}

}  // namespace
}  // namespace rehearsal::fault

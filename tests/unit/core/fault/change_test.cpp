#include "core/fault/change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::fault {
namespace {

using testing::HasSubstr;

InterfaceState state() {
  return {.index = 4,
          .name = "eth1",
          .is_up = true,
          .mtu_bytes = 9000,
          .qdiscs = {{"mq", 0, 0xFFFF'FFFF, {}, {}}}};
}

KernelFault cap() { return {"eth1", Direction::sent, RateCap{BitRate{1'000'000'000}}}; }

std::string refusal(const KernelFault& fault, const InterfaceState& before) {
  const auto change = plan_change(fault, before, handle_of(1));
  return change ? "" : change.error().text();
}

TEST(Change, ARateCapIsARootOfOurOwn) {
  const auto change = plan_change(cap(), state(), handle_of(258));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->act, Act(SetRoot{0x7E02'0000, RateCap{BitRate{1'000'000'000}}}));
  EXPECT_EQ(change->undo, Act(RemoveRoot{0x7E02'0000}));
  EXPECT_EQ(describe(*change, change->undo), "delete queueing discipline 7e02: of eth1");
}

TEST(Change, OnlyTheKernelsDefaultMakesRoomForOurs) {
  InterfaceState before = state();
  for (const char* kind : {"noqueue", "pfifo_fast", "fq_codel", "mq"}) {
    before.qdiscs[0].kind = kind;
    EXPECT_EQ(refusal(cap(), before), "") << kind;
  }
  before.qdiscs[0].handle = 0x8001'0000;  // a mq that somebody added
  EXPECT_THAT(refusal(cap(), before), HasSubstr("mq 8001:"));
  before.qdiscs[0] = {"htb", 0x1'0000, 0xFFFF'FFFF, {}, {}};
  EXPECT_THAT(refusal(cap(), before), HasSubstr("inside our own sender"));
  before.qdiscs.clear();  // an interface that is down has none
  EXPECT_EQ(refusal(cap(), before), "");
}

TEST(Change, ALinkThatWouldForgetSomethingStaysUp) {
  const KernelFault down{"eth1", Direction::both, LinkDown{}};
  InterfaceState before = state();
  const auto change = plan_change(down, before, handle_of(1));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->undo, Act(SetLink{true}));
  before.static_routes = 2;
  before.permanent_addresses = 1;
  EXPECT_THAT(refusal(down, before), HasSubstr("2 static routes, 1 permanent IPv6 addresses"));
  before = state();
  before.is_up = false;
  EXPECT_THAT(refusal(down, before), HasSubstr("down already"));
}

TEST(Change, AnMtuOnlyShrinks) {
  const auto change = plan_change({"eth1", Direction::both, SmallerMtu{1500}}, state(), 0);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->act, Act(SetMtu{1500}));
  EXPECT_EQ(change->undo, Act(SetMtu{9000}));
  EXPECT_THAT(refusal({"eth1", Direction::both, SmallerMtu{9000}}, state()),
              HasSubstr("not smaller"));
  EXPECT_THAT(refusal({"eth1", Direction::both, SmallerMtu{600}}, state()), HasSubstr("1280"));
}

TEST(Change, PauseFramesAreSetForOneDirectionOrBoth) {
  InterfaceState before = state();
  const KernelFault off{"eth1", Direction::both, PauseFrames{false}};
  EXPECT_THAT(refusal(off, before), HasSubstr("no setting for pause frames"));
  before.flow_control = FlowControl{.negotiated = true, .heeds = true, .sends = true};
  EXPECT_THAT(refusal(off, before), HasSubstr("ethtool -A eth1 autoneg off"));
  before.flow_control = FlowControl{.negotiated = false, .heeds = true, .sends = true};
  const auto set = [&](Direction direction) {
    const auto change = plan_change({"eth1", direction, PauseFrames{false}}, before, 0);
    return change ? std::get<SetFlowControl>(change->act).setting : FlowControl{.negotiated = true};
  };
  EXPECT_EQ(set(Direction::both), FlowControl{});
  EXPECT_EQ(set(Direction::sent), (FlowControl{.heeds = true}));
  EXPECT_EQ(set(Direction::received), (FlowControl{.sends = true}));
  EXPECT_EQ(plan_change(off, before, 0)->undo, Act(SetFlowControl{*before.flow_control}));
  EXPECT_THAT(refusal({"eth1", Direction::sent, PauseFrames{true}}, before),
              HasSubstr("so already"));
}

TEST(Change, FindsWhosePauseFramesTheyAre) {
  InterfaceState before = state();
  before.flow_control = FlowControl{.heeds = true, .sends = true};
  const auto change = plan_change({"eth1", Direction::sent, PauseFrames{false}}, before, 0).value();
  // What the journal keeps of the state before is without it.
  InterfaceState present = before;
  EXPECT_EQ(find(change, state(), present, {}).standing, Standing::untouched);
  apply_act(present, change.act, "any");
  EXPECT_EQ(find(change, state(), present, {}).standing, Standing::ours);
  present.flow_control->heeds = false;
  const Finding theirs = find(change, state(), present, {});
  EXPECT_EQ(theirs.standing, Standing::foreign);
  EXPECT_THAT(theirs.text, HasSubstr("heeding off, sending off"));
  present.flow_control.reset();
  EXPECT_EQ(find(change, state(), present, {}).standing, Standing::foreign);
}

TEST(Change, FindsWhoseStateItIs) {
  const auto change = plan_change({"eth1", Direction::both, SmallerMtu{1500}}, state(), 0).value();
  InterfaceState present = state();
  EXPECT_EQ(find(change, state(), present, {}).standing, Standing::untouched);
  present.mtu_bytes = 1500;
  EXPECT_EQ(find(change, state(), present, {}).standing, Standing::ours);
  present.mtu_bytes = 4000;
  EXPECT_EQ(find(change, state(), present, {}).standing, Standing::foreign);
}

TEST(KernelFault, SaysWhatItIsAndWhatItNeeds) {
  const KernelFault fault{"eth1", Direction::sent,
                          Impairment{.delay = std::chrono::milliseconds{20}, .loss = Share{1000}}};
  EXPECT_EQ(describe(fault), "delay 20ms, loss 0.1% on eth1, sent");
  EXPECT_EQ(kinds_of(fault.effect), (std::vector{FaultKind::delay, FaultKind::loss}));
}

TEST(KernelFault, WhatMakesNoSenseIsRefused) {
  const auto problem = [](const KernelFault& fault) {
    const auto checked = check(fault);
    return checked ? std::string() : checked.error().text();
  };
  EXPECT_THAT(problem({"eth1", Direction::sent, RateCap{}}), HasSubstr("100kbit/s"));
  EXPECT_THAT(problem({"eth1", Direction::sent, Impairment{}}), HasSubstr("zero"));
  EXPECT_THAT(problem({"eth1", Direction::sent, Impairment{.reorder = Share{10}}}),
              HasSubstr("needs a delay"));
  EXPECT_THAT(problem({"", Direction::sent, Blackhole{}}), HasSubstr("interface"));
  EXPECT_THAT(problem({"a/../b", Direction::sent, Blackhole{}}), HasSubstr("interface"));
  EXPECT_THAT(problem({"eth1", Direction::both, Blackhole{}}), HasSubstr("only what an interface"));
  EXPECT_THAT(problem({"eth1", Direction::sent, LinkDown{}}), HasSubstr("both directions"));
  EXPECT_EQ(problem(cap()), "");
}

}  // namespace
}  // namespace rehearsal::fault

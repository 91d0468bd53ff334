// The helper's program: what it does to interfaces, what it refuses, and that it is undone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/system/helper/helper_host.hpp"

namespace rehearsal::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class KernelFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string obstacle = HelperHost::obstacle(); !obstacle.empty()) {
      GTEST_SKIP() << obstacle;
    }
    host_ = std::make_unique<HelperHost>("faults");
    before_ = host_->state();
  }

  /// Asks for one fault and, without ending it, returns the answer.
  std::string answer_to(const std::string& fault) {
    agent_ = host_->agent("10s", "renew", {fault});
    EXPECT_TRUE(agent_->wait_for_output("holding")) << agent_->output();
    return agent_->output();
  }

  std::unique_ptr<HelperHost> host_;
  std::unique_ptr<Program> agent_;
  std::string before_;
};

TEST_F(KernelFaults, EachKindComesAndGoesAndEntriesOfOthersStay) {
  host_->start_helper();
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"rate=e1=10Mbit/s", "qdisc tbf 7e"},
      {"rate=e1=100Gbit/s", "rate 100Gbit"},
      {"blackhole=e1", "qdisc bfifo 7e"},
      {"link_down=e1", "<BROADCAST,MULTICAST> mtu 9000"},
      {"mtu=e1=1500", "mtu 1500"}};
  for (const auto& [fault, mark] : kinds) {
    EXPECT_THAT(answer_to(fault), HasSubstr("applied"));
    EXPECT_THAT(host_->state(), HasSubstr(mark)) << fault;
    EXPECT_THAT(host_->state(), HasSubstr("0a090909")) << "the filter of others";
    agent_->signal(SIGKILL);
    EXPECT_TRUE(host_->wait_for_state(before_)) << fault << "\n" << host_->state();
  }
  EXPECT_EQ(host_->stop_helper(), 0);
}

/// A fault as the agent asks for it, and what `tc` then says of the interface.
struct NetemKind {
  const char* fault;
  const char* mark;
};
constexpr NetemKind kNetemKinds[] = {
    {"delay=e1=20ms", "delay 20ms"},      {"jitter=e1=5ms", "delay 20ms  5ms"},
    {"loss=e1=10000", "loss 1%"},         {"duplicate=e1=20000", "duplicate 2%"},
    {"reorder=e1=250000", "reorder 25%"}, {"corrupt=e1=30000", "corrupt 3%"}};

class NetemFaults : public KernelFaults {
 protected:
  /// It is on, as asked for, and entries of others are there. Skips where there is no netem.
  void put_on(const NetemKind& kind) {
    const std::string answer = answer_to(kind.fault);
    if (answer.find("this kernel has no netem") != std::string::npos) {
      EXPECT_EQ(host_->state(), before_);
      // The virtual machine of tests/rdma has it, whatever this host has.
      ASSERT_EQ(std::getenv("REHEARSAL_TEST_HAS_NETEM"), nullptr) << answer;
      GTEST_SKIP() << answer;
    }
    ASSERT_THAT(answer, HasSubstr("applied")) << kind.fault;
    const std::string state = host_->state();
    EXPECT_THAT(state, HasSubstr("qdisc netem 7e"));
    EXPECT_THAT(state, HasSubstr(kind.mark));
    EXPECT_THAT(state, HasSubstr("0a090909")) << "the filter of others";
  }
};

TEST_F(NetemFaults, EachGoesWithItsAgent) {
  host_->start_helper();
  for (const NetemKind& kind : kNetemKinds) {
    put_on(kind);
    if (IsSkipped() || HasFatalFailure()) return;
    agent_->signal(SIGKILL);
    EXPECT_TRUE(host_->wait_for_state(before_)) << host_->state();
  }
  EXPECT_EQ(host_->stop_helper(), 0);
}

TEST_F(NetemFaults, EachGoesWithTheNextStartOfItsHelper) {
  host_->start_helper();
  for (const NetemKind& kind : kNetemKinds) {
    put_on(kind);
    if (IsSkipped() || HasFatalFailure()) return;
    host_->kill_helper();
    host_->start_helper();
    EXPECT_EQ(host_->state(), before_) << kind.fault;
  }
  EXPECT_EQ(host_->stop_helper(), 0);
}

TEST_F(NetemFaults, WhatSomebodyElseChangedStays) {
  host_->start_helper();
  put_on(kNetemKinds[0]);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(host_->tc("qdisc change dev e1 root netem delay 777ms"), "");
  const std::string theirs = host_->state();
  agent_->signal(SIGKILL);
  EXPECT_TRUE(host_->helper().wait_for_output("CONFLICT")) << host_->helper().output();
  EXPECT_EQ(host_->state(), theirs);
}

/// On a card that has pause frames: the one that the virtual machine of tests/rdma has for that.
class FlowControlFaults : public KernelFaults {
 protected:
  void SetUp() override {
    const char* card = std::getenv("REHEARSAL_TEST_CARD");
    if (card == nullptr) GTEST_SKIP() << "only in the virtual machine: takes a card of its own";
    KernelFaults::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    card_ = card;
    host_->take_card(card_);
    host_->write_policy("agent: 0\nfaults: [flow_control]\ninterfaces: [e1, " + card_ +
                        "]\nduration_max: 1min\n");
    host_->start_helper();
    host_->set_pause(card_, "autoneg on");
    EXPECT_THAT(answer_to(fault("off")), HasSubstr("negotiated with its link partner"));
    // It began the link anew, and the driver sets pause frames once more when that is up.
    ASSERT_TRUE(wait_for_link());
    host_->set_pause(card_, "autoneg off rx on tx on");
    pause_ = host_->pause(card_);
    ASSERT_TRUE(says(pause_, "off", "on", "on")) << pause_;
  }

  static bool says(const std::string& pause, const std::string& negotiated,
                   const std::string& heeds, const std::string& sends) {
    std::istringstream words{pause.substr(std::min(pause.size(), pause.find("Autonegotiate:")))};
    std::string name, values[3];
    for (std::string& value : values) words >> name >> value;
    return values[0] == negotiated && values[1] == heeds && values[2] == sends;
  }
  std::string fault(const std::string& amount) const {
    return "flow_control=" + card_ + "=" + amount;
  }
  bool wait_for_link() {
    for (const Instant deadline = now() + kPatience;
         host_->ip("link show " + card_).find("LOWER_UP") == std::string::npos;) {
      if (now() >= deadline) return false;
    }
    return true;
  }
  bool wait_until_undone() {
    for (const Instant deadline = now() + kPatience; host_->pause(card_) != pause_;) {
      if (now() >= deadline) return false;
    }
    return true;
  }

  std::string card_;
  std::string pause_;
};

TEST_F(FlowControlFaults, ComeAndGoWithAgentAndHelper) {
  EXPECT_THAT(answer_to(fault("on")), HasSubstr("are so already"));
  EXPECT_THAT(answer_to("flow_control=e1=off"), HasSubstr("has no setting for pause frames"));
  ASSERT_THAT(answer_to(fault("off")), HasSubstr("applied"));
  EXPECT_TRUE(says(host_->pause(card_), "off", "off", "off")) << host_->pause(card_);
  agent_->signal(SIGKILL);
  EXPECT_TRUE(wait_until_undone()) << host_->pause(card_);

  ASSERT_THAT(answer_to(fault("off-sent")), HasSubstr("applied"));
  EXPECT_TRUE(says(host_->pause(card_), "off", "on", "off")) << host_->pause(card_);
  host_->kill_helper();
  EXPECT_NE(host_->pause(card_), pause_);
  host_->start_helper();
  EXPECT_EQ(host_->pause(card_), pause_);
}

TEST_F(FlowControlFaults, WhatSomebodyElseChangedStays) {
  ASSERT_THAT(answer_to(fault("off")), HasSubstr("applied"));
  host_->set_pause(card_, "tx on");
  const std::string theirs = host_->pause(card_);
  agent_->signal(SIGKILL);
  EXPECT_TRUE(host_->helper().wait_for_output("CONFLICT")) << host_->helper().output();
  EXPECT_EQ(host_->pause(card_), theirs);
}

TEST_F(KernelFaults, WhatThePolicyDoesNotAllowIsRefusedWithoutATouch) {
  host_->write_policy(
      "agent: 0\nfaults: [rate]\ninterfaces: [e1, e2, e4]\ncontrol_interfaces: [p2]\n"
      "duration_max: 1min\n");
  host_->ip("route add default via 10.79.4.9 dev e4");
  before_ = host_->state();
  host_->start_helper();
  EXPECT_THAT(answer_to("blackhole=e1"), HasSubstr("does not allow blackhole"));
  EXPECT_THAT(answer_to("rate=e3=1Gbit/s"), HasSubstr("does not allow faults on e3"));
  EXPECT_THAT(answer_to("rate=e4=1Gbit/s"), HasSubstr("default route"));
  // e2 and the control interface p2 are the two ends of one link.
  EXPECT_THAT(answer_to("rate=e2=1Gbit/s"), HasSubstr("control connection"));
  host_->write_policy("agent: 0\nfaults: [rate]\ninterfaces: [e1]\n");
  EXPECT_THAT(answer_to("rate=e1=1Gbit/s"), HasSubstr("policy allows a fault for at most"));
  std::filesystem::remove(host_->socket_path().parent_path() / "policy.yaml");
  EXPECT_THAT(answer_to("rate=e1=1Gbit/s"), HasSubstr("without a policy no fault is allowed"));
  EXPECT_EQ(host_->state(), before_);
}

TEST_F(KernelFaults, ARootOfTheOperatorsOwnIsNotTouched) {
  host_->tc("qdisc add dev e2 root handle 5: htb");
  before_ = host_->state();
  host_->start_helper();
  EXPECT_THAT(answer_to("rate=e2=1Gbit/s"), HasSubstr("htb 5:"));
  EXPECT_EQ(host_->state(), before_);
}

TEST_F(KernelFaults, ALinkWithAStaticRouteStaysUp) {
  host_->ip("route add 10.80.0.0/16 via 10.79.2.9 dev e2");
  before_ = host_->state();
  host_->start_helper();
  EXPECT_THAT(answer_to("link_down=e2"), HasSubstr("1 static routes"));
  EXPECT_EQ(host_->state(), before_);
}

TEST_F(KernelFaults, OnlyRootAndTheAgentMayAsk) {
  std::filesystem::permissions(host_->socket_path().parent_path(), std::filesystem::perms{0755});
  host_->start_helper();
  const auto stranger =
      host_->agent("1s", "renew", {"rate=e1=1Gbit/s"},
                   {"/usr/bin/setpriv", "--reuid=4711", "--regid=4711", "--clear-groups"});
  EXPECT_TRUE(stranger->wait());
  EXPECT_THAT(stranger->output(), HasSubstr("user 4711 may not ask"));
  EXPECT_EQ(host_->state(), before_);
}

TEST_F(KernelFaults, WhatSomebodyElseChangedIsAConflictAndTheirs) {
  host_->start_helper();
  ASSERT_THAT(answer_to("rate=e2=10Mbit/s"), HasSubstr("applied"));
  EXPECT_EQ(host_->tc("qdisc replace dev e2 root handle 5: htb"), "");
  const std::string theirs = host_->state();
  agent_->signal(SIGKILL);
  EXPECT_TRUE(host_->helper().wait_for_output("CONFLICT")) << host_->helper().output();
  EXPECT_EQ(host_->state(), theirs);
  EXPECT_THAT(answer_to("mtu=e2=1500"), HasSubstr("CONFLICT"));
  EXPECT_EQ(host_->undo_all()->wait(), 1);
  EXPECT_EQ(host_->state(), theirs);
}

TEST_F(KernelFaults, UndoAllWorksWithoutAHelper) {
  host_->start_helper();
  ASSERT_THAT(answer_to("rate=e2=10Mbit/s"), HasSubstr("applied"));
  host_->kill_helper();
  EXPECT_NE(host_->state(), before_);
  const auto undo = host_->undo_all();
  EXPECT_EQ(undo->wait(), 0) << undo->output();
  EXPECT_EQ(host_->state(), before_);
}

TEST_F(KernelFaults, TheAgentsProgramUndoesWithoutTheCoordinator) {
  host_->start_helper();
  ASSERT_THAT(answer_to("rate=e2=10Mbit/s"), HasSubstr("applied"));
  const auto faults = [&](const std::string& command) {
    auto program = std::make_unique<Program>(
        std::vector<std::string>{programs() / "rehearsal-agent", "faults", "--socket",
                                 host_->socket_path(), command},
        host_->log_path(command));
    EXPECT_EQ(program->wait(), 0) << program->output();
    return program->output();
  };
  EXPECT_THAT(faults("list"), HasSubstr("rate 10Mbit/s on e2, sent"));
  EXPECT_THAT(faults("undo"), HasSubstr("clean: fault 1"));
  EXPECT_EQ(host_->state(), before_);
  EXPECT_THAT(faults("list"), HasSubstr("no fault is on"));
}

TEST_F(KernelFaults, StopsOfTestsNeedThePolicysWord) {
  host_->write_policy("agent: 0\nfaults: [rate]\ninterfaces: [e1]\nduration_max: 1min\n");
  host_->start_helper({"REHEARSAL_HELPER_STOP_AT=before_write"});
  EXPECT_THAT(answer_to("rate=e1=1Gbit/s"), HasSubstr("applied"));
}

}  // namespace
}  // namespace rehearsal::test

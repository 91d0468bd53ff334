// Whether data addresses reach one another: who is asked what, and what the outcomes mean.

#include "core/coordination/reach_desk.hpp"

#include <algorithm>
#include <functional>

#include "tests/unit/core/coordination/story.hpp"

namespace rehearsal::coordination {
namespace {

using namespace std::chrono_literals;
using protocol::ReachOrder;
using testing::HasSubstr;

std::vector<plan::Inventory> hosts(std::size_t count, std::size_t nics) {
  std::vector<plan::Inventory> all;
  for (std::size_t i = 0; i < count; ++i) {
    plan::Inventory& host = all.emplace_back();
    host.host = "h" + std::to_string(i);
    for (std::size_t n = 0; n < nics; ++n)
      host.nics.push_back({.name = "eth" + std::to_string(n),
                           .address = "10." + std::to_string(n) + ".0." + std::to_string(i),
                           .line_rate = {},
                           .mtu = 9000});
  }
  return all;
}

TEST(ReachPaths, OfFewHostsAreAllAndStayOnTheirRail) {
  const auto paths = reach_paths(hosts(4, 2), 1);
  EXPECT_EQ(paths.size(), 4U * 3U * 2U);
  for (const ReachPath& path : paths) {
    EXPECT_NE(path.from, path.to);
    EXPECT_EQ(path.from_nic, path.to_nic);
  }
}

TEST(ReachPaths, OfManyHostsAreARingAndSomeByTheSeed) {
  const auto all = hosts(100, 1);
  const auto paths = reach_paths(all, 7);
  EXPECT_EQ(paths.size(), 100U * (1 + kReachRandom));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const ReachPath next{all[i].host, all[(i + 1) % all.size()].host, NicIndex{0}, NicIndex{0}};
    EXPECT_NE(std::ranges::find(paths, next), paths.end()) << i;
  }
  EXPECT_EQ(paths, reach_paths(all, 7));
  EXPECT_NE(paths, reach_paths(all, 8));
}

TEST(ReachPaths, RailsOfTheSameNameBelongTogetherWhereverTheyStand) {
  auto two = hosts(2, 2);
  std::swap(two[1].nics[0], two[1].nics[1]);
  const auto paths = reach_paths(two, 1);
  ASSERT_EQ(paths.size(), 4U);
  EXPECT_EQ(paths[0].to_nic, NicIndex{1});
  two[1].nics.pop_back();
  EXPECT_EQ(reach_paths(two, 1).size(), 3U) << "a rail that the other has not, by its place";
}

std::string finding(const ReachOutcome& outcome) {
  const auto two = hosts(2, 1);
  const std::vector<ReachPath> paths = {{"h0", "h1", NicIndex{0}, NicIndex{0}}};
  const auto found = reach_findings(paths, {outcome}, two, plan::TransportKind::tcp);
  EXPECT_EQ(found.size(), 2U);
  EXPECT_EQ(found.back().what,
            "0 of 1 ways between data NICs carry messages over tcp (all pairs "
            "of hosts)");
  return found[0].subject + ": " + found[0].what + "; " + found[0].fix;
}

TEST(ReachFindings, NameTheWayTheCauseAndTheFix) {
  EXPECT_THAT(finding({.problem = "words of any kind", .cause = ReachCause::timed_out}),
              HasSubstr("h0 eth0 → h1 eth0: no answer from 10.0.0.0 to 10.0.0.1: packets are "
                        "dropped on the way; a firewall?"));
  EXPECT_THAT(finding({.problem = "x", .cause = ReachCause::refused}),
              HasSubstr("a firewall that rejects"));
  EXPECT_THAT(finding({.problem = "x", .cause = ReachCause::unreachable}),
              HasSubstr("`ip route get 10.0.0.1 from 10.0.0.0`"));
  EXPECT_THAT(finding({.problem = "x", .cause = ReachCause::no_address}),
              HasSubstr("no longer on the host"));
  EXPECT_THAT(finding({.problem = "connection refused"}),
              HasSubstr("connection refused; see the agents' logs"))
      << "words decide nothing";
  EXPECT_THAT(finding({.connected = true}), HasSubstr("full-size frames did not arrive; a smaller "
                                                      "MTU on the way? `ping -M do -s 8972"));
  EXPECT_THAT(finding({.problem = "[REHEARSAL-RDMA-007] rd1 port 1: no greeting",
                       .cause = ReachCause::timed_out}),
              HasSubstr("`rehearse explain REHEARSAL-RDMA-007`; RoCE v2 is UDP to port 4791"));
  EXPECT_THAT(finding({.problem = "[REHEARSAL-RDMA-008] rd1 port 1: short ones arrive",
                       .cause = ReachCause::path_mtu}),
              HasSubstr("`rehearse explain REHEARSAL-RDMA-008`; give interfaces and switches one "
                        "MTU (here 9000, there 9000)"));
}

TEST(ReachFindings, TellThePathMtuAndWhereItIsSmaller) {
  const auto three = hosts(3, 1);
  const std::vector<ReachPath> paths = {{"h0", "h1", NicIndex{0}, NicIndex{0}},
                                        {"h0", "h2", NicIndex{0}, NicIndex{0}}};
  std::vector<ReachOutcome> outcomes(2, {.connected = true, .moved = true, .path_mtu = 4096});
  auto found = reach_findings(paths, outcomes, three, plan::TransportKind::rdma);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what, "path MTU 4096 B on all ways");
  EXPECT_EQ(found[0].health, host::Finding::Health::good);
  outcomes[1] = {.problem = "x"};
  found = reach_findings(paths, outcomes, three, plan::TransportKind::rdma);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[1].what, "path MTU 4096 B on all ways that connected");
  outcomes[1] = {.connected = true, .moved = true, .path_mtu = 1024};
  found = reach_findings(paths, outcomes, three, plan::TransportKind::rdma);
  EXPECT_EQ(found[0].what, "path MTU 1024 B from h0 eth0 to h2 eth0, 4096 B on others");
  EXPECT_EQ(found[0].health, host::Finding::Health::notable);
  EXPECT_THAT(found[0].fix, HasSubstr("path_mtu: 1024B"));
}

struct ReachStory : RunStory {
  void ask(const std::string& transport = "tcp") {
    Envelope message;
    message.mutable_reach_request()->set_transport(transport);
    say(person, message);
  }
  ReachOrder order(std::size_t agent) {
    const Envelope last = last_told(agents[agent], Envelope::kReachOrder);
    if (last.has_reach_order()) orders[agent] = last.reach_order();
    return orders[agent];
  }
  /// The agent says of all links of its last order that they are so.
  void answers(std::size_t agent, const std::function<void(protocol::ReachOutcome&)>& so) {
    const ReachOrder asked = order(agent);
    Envelope message;
    protocol::ReachReport& report = *message.mutable_reach_report();
    report.set_order(asked.order());
    report.set_step(asked.step());
    for (const protocol::ReachLink& link : asked.links()) {
      protocol::ReachOutcome& outcome = *report.add_outcomes();
      outcome.set_link(link.link());
      so(outcome);
    }
    say(agents[agent], message);
  }
  void all_open() {
    for (std::size_t i = 0; i < agents.size(); ++i)
      answers(i, [](auto& outcome) { outcome.set_address("there"); });
  }
  static void fine(protocol::ReachOutcome& outcome) {
    outcome.set_connected(true);
    outcome.set_moved(true);
  }
  protocol::ReachReply reply() {
    const Envelope last = last_told(person, Envelope::kReachReply);
    if (last.has_reach_reply()) replied = last.reach_reply();
    return replied;
  }
  std::string failure() { return last_told(person, Envelope::kFailure).failure().message(); }

  std::map<std::size_t, ReachOrder> orders;  // the last of each agent
  protocol::ReachReply replied;
};

TEST(ReachDesk, OpensConnectsAndSaysThatAllIsWell) {
  ReachStory story;
  story.ask();
  EXPECT_EQ(story.order(0).step(), ReachOrder::STEP_OPEN);
  EXPECT_EQ(story.order(0).token(), story.order(1).token());
  EXPECT_EQ(story.order(0).addresses_size(), 2);
  story.all_open();
  ASSERT_EQ(story.order(0).step(), ReachOrder::STEP_CONNECT);
  EXPECT_EQ(story.order(0).links(0).address(), "there");
  story.answers(0, ReachStory::fine);
  EXPECT_EQ(story.reply().findings_size(), 0);
  story.answers(1, ReachStory::fine);
  EXPECT_EQ(story.order(0).step(), ReachOrder::STEP_CLOSE);
  ASSERT_EQ(story.reply().findings_size(), 1);
  EXPECT_THAT(story.reply().findings(0).what(), HasSubstr("4 of 4 ways"));
}

TEST(ReachDesk, OfManyHostsAnAgentHearsTheAddressesOfItsOwnWays) {
  ReachStory story;
  constexpr std::uint32_t kHosts = 60;
  for (std::uint32_t host = 2; host < kHosts; ++host) {
    Envelope hello;
    hello.mutable_hello()->set_version_min(protocol::kVersionMin);
    hello.mutable_hello()->set_version_max(protocol::kVersionMax);
    hello.mutable_hello()->set_role(protocol::ROLE_AGENT);
    to_message(test::sample_inventories(host + 1, 1).back(),
               *hello.mutable_hello()->mutable_inventory());
    story.agents.push_back(story.connect());
    story.say(story.agents.back(), hello);
  }
  story.ask();
  for (std::uint32_t host = 2; host < kHosts; ++host) {
    const ReachOrder order = story.order(host);
    EXPECT_GE(order.addresses_size(), 1);
    EXPECT_LE(order.addresses_size(), order.links_size());
    EXPECT_LT(order.addresses_size(), static_cast<int>(kHosts) / 2);
  }
}

TEST(ReachDesk, OneDirectionThatFailsIsOneFinding) {
  ReachStory story;
  story.ask();
  story.all_open();
  story.answers(0, ReachStory::fine);
  story.answers(1, [](auto& outcome) {
    ReachStory::fine(outcome);
    if (outcome.link() == 0) outcome.set_moved(false);  // host0 → host1
  });
  ASSERT_EQ(story.reply().findings_size(), 2);
  EXPECT_EQ(story.reply().findings(0).subject(), "host0 data0 → host1 data0");
}

TEST(ReachDesk, ALinkThatCannotBeOpenedIsNotConnected) {
  ReachStory story;
  story.ask();
  story.answers(0, [](auto& outcome) {
    if (outcome.link() != 0) return;
    outcome.set_problem("cannot bind to the NIC address");
    outcome.set_cause(protocol::ReachOutcome::CAUSE_NO_ADDRESS);
  });
  story.answers(1, [](auto& outcome) { outcome.set_address("there"); });
  const ReachOrder connect = story.order(1);
  for (const protocol::ReachLink& link : connect.links()) EXPECT_NE(link.link(), 0U);
  EXPECT_EQ(connect.links_size(), 3);
  for (std::size_t i = 0; i < 2; ++i) story.answers(i, ReachStory::fine);
  ASSERT_EQ(story.reply().findings_size(), 2);
  EXPECT_THAT(story.reply().findings(0).fix(), HasSubstr("no longer on the host"));
}

TEST(ReachDesk, WhoDoesNotAnswerOrLeavesIsNamed) {
  ReachStory story;
  story.ask();
  story.answers(0, [](auto& outcome) { outcome.set_address("there"); });
  story.pass(6s, {story.agents[0], story.agents[1], story.person});
  story.answers(0, ReachStory::fine);
  story.hang_up(story.agents[1]);
  ASSERT_GE(story.reply().findings_size(), 2);
  EXPECT_THAT(story.reply().findings(0).what(), HasSubstr("host1: no answer within 5.00 s"));
}

TEST(ReachDesk, WhatOneEndSaidIsNotTheCauseOfTheOthersLeaving) {
  ReachStory story;
  story.ask();
  story.all_open();
  story.answers(1, [](auto& outcome) {
    outcome.set_problem("connection refused");
    outcome.set_cause(protocol::ReachOutcome::CAUSE_REFUSED);
  });
  story.hang_up(story.agents[0]);
  const protocol::ReachReply reply = story.reply();
  ASSERT_GE(reply.findings_size(), 1);
  const auto& found = reply.findings(0);
  EXPECT_EQ(found.subject(), "host0 data0 → host1 data0");
  EXPECT_EQ(found.what(), "host0: its agent left");
  EXPECT_THAT(found.fix(), HasSubstr("see the agents' logs"));
}

TEST(ReachDesk, AnAgentThatLeavesAfterConnectingIsNoMatterOfTheMtu) {
  ReachStory story;
  story.ask();
  story.all_open();
  story.answers(0, [](auto& outcome) { outcome.set_connected(true); });
  story.hang_up(story.agents[1]);
  const protocol::ReachReply reply = story.reply();
  ASSERT_GE(reply.findings_size(), 1);
  EXPECT_EQ(reply.findings(0).what(), "host1: its agent left");
  EXPECT_THAT(reply.findings(0).fix(), HasSubstr("see the agents' logs"));
}

TEST(ReachDesk, OneQuestionAtATimeAndNoneForStrangers) {
  ReachStory story;
  story.ask();
  story.ask();
  EXPECT_THAT(story.failure(), HasSubstr("somebody asks this already"));
  story.all_open();
  for (std::size_t i = 0; i < 2; ++i) story.answers(i, ReachStory::fine);
  story.ask("pigeon");
  EXPECT_THAT(story.failure(), HasSubstr("right would be tcp or rdma"));
}

TEST(ReachDesk, AnswersToAnotherQuestionDoNotCount) {
  ReachStory story;
  story.ask();
  Envelope message;
  message.mutable_reach_report()->set_order(99);
  message.mutable_reach_report()->set_step(ReachOrder::STEP_OPEN);
  for (const SessionId agent : story.agents) story.say(agent, message);
  EXPECT_EQ(story.order(0).step(), ReachOrder::STEP_OPEN);
  message.mutable_reach_report()->set_order(story.order(0).order());
  message.mutable_reach_report()->add_outcomes()->set_link(12345);
  story.say(story.agents[0], message);
  story.answers(1, [](auto& outcome) { outcome.set_address("there"); });
  EXPECT_EQ(story.order(0).step(), ReachOrder::STEP_CONNECT);
}

TEST(ReachDesk, WhenThePersonGoesAgentsClose) {
  ReachStory story;
  story.ask();
  story.hang_up(story.person);
  EXPECT_EQ(story.order(0).step(), ReachOrder::STEP_CLOSE);
}

TEST(ReachDesk, NotWhileARunIsOn) {
  ReachStory story;
  story.request_run(story.person, ReachStory::drill(""));
  story.ask();
  EXPECT_THAT(story.failure(), HasSubstr("is on, which connecting beside it would disturb"));
}

}  // namespace
}  // namespace rehearsal::coordination

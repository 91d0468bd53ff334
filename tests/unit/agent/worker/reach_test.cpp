// Two agents' parts of one question, over real sockets of this machine.

#include "agent/worker/reach.hpp"

#include <gmock/gmock.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::agent {
namespace {

using namespace std::chrono_literals;
using protocol::ReachOrder;
using protocol::ReachReport;
using testing::HasSubstr;

class ReachTest : public testing::Test {
 protected:
  static plan::Inventory host(const std::string& name, const std::string& address) {
    return {.host = name, .nics = {{.name = "lo", .address = address, .line_rate = {}}}};
  }
  ReachOrder order(ReachOrder::Step step, bool outgoing, const std::string& address = "") const {
    ReachOrder result;
    result.set_order(1);
    result.set_step(step);
    result.set_token("token");
    result.set_transport("tcp");
    result.set_limit_ns(static_cast<std::uint64_t>(Duration(limit).count()));
    for (const char* one : {"127.0.0.1", "127.0.0.2"}) result.add_addresses(one);
    protocol::ReachLink& link = *result.add_links();
    link.set_link(5);
    link.set_outgoing(outgoing);
    link.set_address(address);
    return result;
  }
  void told() {
    const std::lock_guard lock(mutex);
    ++notices;
    changed.notify_all();
  }
  /// Waits for the next one of this side.
  ReachReport report(Reach& side) {
    std::unique_lock lock(mutex);
    ReachReport found;
    const bool came = changed.wait_for(lock, 20s, [&] {
      for (ReachReport& one : side.take_reports()) waiting[&side].push_back(std::move(one));
      if (waiting[&side].empty()) return false;
      found = waiting[&side].front();
      waiting[&side].erase(waiting[&side].begin());
      return true;
    });
    EXPECT_TRUE(came) << "no report came";
    return found;
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t notices = 0;
  std::map<Reach*, std::vector<ReachReport>> waiting;
  Duration limit = 10s;
  Reach sender{host("a", "127.0.0.1"), [this] { told(); }};
  Reach receiver{host("b", "127.0.0.2"), [this] { told(); }};
};

TEST_F(ReachTest, AMessageIsCarriedFromOneToTheOther) {
  receiver.order(order(ReachOrder::STEP_OPEN, false));
  sender.order(order(ReachOrder::STEP_OPEN, true));
  const ReachReport there = report(receiver);
  ASSERT_EQ(there.outcomes_size(), 1);
  EXPECT_EQ(there.outcomes(0).link(), 5U);
  report(sender);
  receiver.order(order(ReachOrder::STEP_CONNECT, false));
  sender.order(order(ReachOrder::STEP_CONNECT, true, there.outcomes(0).address()));
  const ReachReport sent = report(sender);
  ASSERT_EQ(sent.outcomes_size(), 1);
  EXPECT_TRUE(sent.outcomes(0).connected()) << sent.outcomes(0).problem();
  const ReachReport received = report(receiver);
  ASSERT_EQ(received.outcomes_size(), 1);
  EXPECT_TRUE(received.outcomes(0).moved()) << received.outcomes(0).problem();
  for (Reach* side : {&sender, &receiver}) side->order(order(ReachOrder::STEP_CLOSE, true));
}

TEST_F(ReachTest, WhereNobodyListensItIsRefused) {
  receiver.order(order(ReachOrder::STEP_OPEN, false));
  sender.order(order(ReachOrder::STEP_OPEN, true));
  const std::string address = report(receiver).outcomes(0).address();
  report(sender);
  receiver.close();
  sender.order(order(ReachOrder::STEP_CONNECT, true, address));
  const ReachReport sent = report(sender);
  EXPECT_FALSE(sent.outcomes(0).connected());
  EXPECT_EQ(sent.outcomes(0).cause(), protocol::ReachOutcome::CAUSE_REFUSED)
      << sent.outcomes(0).problem();
}

TEST_F(ReachTest, AnAddressThatCameNotWithTheOrderIsNotConnectedTo) {
  receiver.order(order(ReachOrder::STEP_OPEN, false));
  const std::string address = report(receiver).outcomes(0).address();
  ReachOrder open = order(ReachOrder::STEP_OPEN, true);
  open.clear_addresses();
  open.add_addresses("127.0.0.9");
  sender.order(open);
  report(sender);
  sender.order(order(ReachOrder::STEP_CONNECT, true, address));
  EXPECT_THAT(report(sender).outcomes(0).problem(),
              HasSubstr("127.0.0.2 is no address of a host of the run"));
}

TEST_F(ReachTest, WhoHearsNothingSaysSoAtTheLimit) {
  limit = 50ms;
  receiver.order(order(ReachOrder::STEP_OPEN, false));
  report(receiver);
  receiver.order(order(ReachOrder::STEP_CONNECT, false));
  const ReachReport received = report(receiver);
  EXPECT_FALSE(received.outcomes(0).moved());
}

TEST_F(ReachTest, AnAddressThatTheHostHasNotIsAProblemOfItsLink) {
  Reach lost(host("c", "192.0.2.1"), [this] { told(); });
  lost.order(order(ReachOrder::STEP_OPEN, false));
  const ReachReport found = report(lost);
  EXPECT_THAT(found.outcomes(0).problem(), HasSubstr("192.0.2.1"));
  EXPECT_EQ(found.outcomes(0).cause(), protocol::ReachOutcome::CAUSE_NO_ADDRESS);
}

TEST_F(ReachTest, AnEndThatIsNamedTwiceConnectsOnce) {
  receiver.order(order(ReachOrder::STEP_OPEN, false));
  sender.order(order(ReachOrder::STEP_OPEN, true));
  const std::string address = report(receiver).outcomes(0).address();
  report(sender);
  receiver.order(order(ReachOrder::STEP_CONNECT, false));
  ReachOrder connect = order(ReachOrder::STEP_CONNECT, true, address);
  *connect.add_links() = connect.links(0);
  sender.order(connect);
  const ReachReport sent = report(sender);
  EXPECT_TRUE(sent.outcomes(0).connected()) << sent.outcomes(0).problem();
}

TEST_F(ReachTest, AnOrderOfTooManyLinksIsRefused) {
  ReachOrder open = order(ReachOrder::STEP_OPEN, false);
  for (std::uint32_t link = 6; open.links_size() <= 4096; ++link) {
    *open.add_links() = open.links(0);
    open.mutable_links()->rbegin()->set_link(link);
  }
  receiver.order(open);
  const ReachReport refused = report(receiver);
  EXPECT_EQ(refused.problem(), "the order has 4097 links; right would be at most 4096");
  EXPECT_EQ(refused.outcomes_size(), 0);
}

TEST_F(ReachTest, AnEndThatIsNotNamedAgainIsMissing) {
  sender.order(order(ReachOrder::STEP_OPEN, true));
  report(sender);
  ReachOrder connect = order(ReachOrder::STEP_CONNECT, true);
  connect.clear_links();
  sender.order(connect);
  EXPECT_EQ(report(sender).outcomes(0).problem(), "the other end is missing");
}

}  // namespace
}  // namespace rehearsal::agent

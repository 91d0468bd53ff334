// Faults that RDMA devices do: what the queue pairs of a device in memory are limited to, and when.
#include "core/replay/device_rates.hpp"

#include "tests/support/cluster/plans.hpp"
#include "tests/unit/agent/transport/rdma/transport_pair.hpp"

namespace rehearsal::rdma {
namespace {

using replay::DeviceRates;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr BitRate kWhole{8'000'000'000};

class DeviceRatesTest : public TransportPair {
 protected:
  DeviceRatesTest() {
    verbs.give_rate_limits(1, 1'000, 100'000'000);
    verbs.give_rate_limits(2, 1'000, 100'000'000);
  }

  /// Host 0 sends to host 1 on so many connections; its device does a fault of two levels from
  /// iteration 2 to 6.
  void prepare(std::uint32_t connections, const plan::RdmaSettings& settings) {
    plan::CollectiveSettings small = test::small_settings();
    small.channels = connections;
    plan = test::plan_of(test::profile_of(2, {test::op_of(profile::OpKind::broadcast, 60'000)}), 1,
                         small);
    plan.transport.kind = plan::TransportKind::rdma;
    plan.transport.rdma = settings;
    plan.faults = {{.name = "half",
                    .what = {.kind = fault::Kind::rate,
                             .levels = {{.rate = {500'000}}, {.rate = {250'000}}},
                             .of = kWhole},
                    .when = {.iteration = 2, .length = 60s, .iterations = 4},
                    .places = {{.host = HostIndex{0}, .side = fault::Side::sent}},
                    .mechanism = fault::Mechanism::device}};
    const plan::Connections here = plan::connections_of(plan, HostIndex{0});
    ASSERT_EQ(here.outgoing.size(), connections);
    ASSERT_NO_FATAL_FAILURE(make(settings));
    for (const plan::ConnectionSpec& spec : here.outgoing) {
      const auto there = receiver->open(spec);
      ASSERT_TRUE(there) << there.error().text();
      ASSERT_TRUE(receiver->accept(spec, sender->offer(spec).value()));
      ASSERT_TRUE(sender->connect(spec, *there));
    }
    turns(5);
    ASSERT_EQ(count(at_sender, Completion::Kind::connected), connections);
    devices = std::make_unique<DeviceRates>(plan, HostIndex{0}, here);
    devices->start(now);
  }

  void reach(std::uint32_t iteration) {
    devices->edge(JobIndex{0}, iteration, 0);
    devices->turn(*sender, now += 1ms);
  }

  plan::Plan plan;
  std::unique_ptr<DeviceRates> devices;
};

const plan::RdmaSettings kTwoPairs{.queue_pairs = 2, .completions = plan::CompletionMode::event};

TEST_F(DeviceRatesTest, WhatIsLeftIsDividedAmongTheQueuePairsThatSend) {
  ASSERT_NO_FATAL_FAILURE(prepare(2, kTwoPairs));
  reach(1);
  EXPECT_EQ(verbs.calls("modify_qp_rate_limit"), 0U) << "healthy";
  reach(2);
  EXPECT_THAT(verbs.rate_limits(1), ElementsAre(1'000'000, 1'000'000, 1'000'000, 1'000'000));
  EXPECT_THAT(verbs.rate_limits(2), Each(0)) << "who receives is not limited";
  reach(3);
  EXPECT_EQ(verbs.calls("modify_qp_rate_limit"), 4U) << "nothing has changed";
  reach(4);
  EXPECT_THAT(verbs.rate_limits(1), Each(500'000));
  reach(6);
  EXPECT_THAT(verbs.rate_limits(1), Each(0));
  EXPECT_EQ(devices->failure(), "");
  EXPECT_THAT(devices->problems(), IsEmpty());
  EXPECT_THAT(devices->schedule().spells(), SizeIs(2));
}

TEST_F(DeviceRatesTest, WhatBeginsAsAnotherEndsIsLimitedWhicheverTheDrillNamesFirst) {
  ASSERT_NO_FATAL_FAILURE(prepare(1, kTwoPairs));
  fault::PlannedFault later = plan.faults[0];
  later.name = "later";
  later.what.levels = {{.rate = {250'000}}};
  later.when.iteration = 6;
  const fault::PlannedFault first = plan.faults[0];
  for (const auto& order : {std::vector{first, later}, std::vector{later, first}}) {
    SCOPED_TRACE(order[0].name);
    plan.faults = order;
    devices =
        std::make_unique<DeviceRates>(plan, HostIndex{0}, plan::connections_of(plan, HostIndex{0}));
    devices->start(now);
    reach(2);
    EXPECT_THAT(verbs.rate_limits(1), Each(2'000'000));
    reach(6);
    EXPECT_THAT(verbs.rate_limits(1), Each(1'000'000));
    reach(10);
    EXPECT_THAT(verbs.rate_limits(1), Each(0));
  }
}

TEST_F(DeviceRatesTest, AfterItTheDrillsOwnLimitHoldsAgain) {
  plan::RdmaSettings settings = kTwoPairs;
  settings.rate_limit = BitRate{3'000'000'000};
  ASSERT_NO_FATAL_FAILURE(prepare(1, settings));
  EXPECT_THAT(verbs.rate_limits(1), Each(3'000'000));
  reach(2);
  EXPECT_THAT(verbs.rate_limits(1), Each(2'000'000));
  reach(6);
  EXPECT_THAT(verbs.rate_limits(1), Each(3'000'000));
}

TEST_F(DeviceRatesTest, WithoutFaultsThereIsNothingToWakeFor) {
  DeviceRates none(plan, HostIndex{0}, {});
  EXPECT_TRUE(none.empty());
  none.start(now);
  EXPECT_EQ(none.next_change(), kNever);
}

TEST_F(DeviceRatesTest, ItsDeadlineEndsItToo) {
  ASSERT_NO_FATAL_FAILURE(prepare(1, kTwoPairs));
  reach(2);
  EXPECT_EQ(devices->next_change(), now + 60s);
  devices->turn(*sender, now += 60s);
  EXPECT_THAT(verbs.rate_limits(1), Each(0));
}

TEST_F(DeviceRatesTest, ARefusalInTheMiddleLiftsAllAndEndsTheRun) {
  for (const int skip : {0, 1, 2, 3}) {
    SCOPED_TRACE(skip);
    at_sender.clear();
    at_receiver.clear();
    ASSERT_NO_FATAL_FAILURE(prepare(2, kTwoPairs));
    verbs.fail("modify_qp_rate_limit", ENOMEM, skip);
    reach(2);
    EXPECT_THAT(devices->failure(), HasSubstr("fault 'half': "));
    EXPECT_THAT(devices->failure(), HasSubstr("[REHEARSAL-RDMA-028] fake1 port 1"));
    EXPECT_THAT(devices->failure(), HasSubstr("limit the rate to 1Gbit/s: Cannot allocate memory"));
    EXPECT_THAT(verbs.rate_limits(1), Each(0));
    ASSERT_THAT(devices->problems(), SizeIs(1));
    EXPECT_EQ(devices->problems()[0].fault, 0U);
    reach(4);
    EXPECT_THAT(verbs.rate_limits(1), Each(0)) << "nothing begins any more";
    devices->end(*sender, now);
    EXPECT_THAT(devices->problems(), SizeIs(1));
    sender.reset();
    receiver.reset();
  }
}

TEST_F(DeviceRatesTest, AnEndThatIsRefusedEndsTheRunAndIsTriedAgain) {
  ASSERT_NO_FATAL_FAILURE(prepare(1, kTwoPairs));
  reach(2);
  verbs.fail("modify_qp_rate_limit", EIO);
  reach(6);
  EXPECT_THAT(devices->failure(), HasSubstr("does not lift the rate limit: Input/output error"));
  EXPECT_THAT(verbs.rate_limits(1), Each(0)) << "the second time it was taken";
}

TEST_F(DeviceRatesTest, TheEndOfTheRunLiftsAndTellsWhatStays) {
  ASSERT_NO_FATAL_FAILURE(prepare(2, kTwoPairs));
  reach(2);
  verbs.fail("modify_qp_rate_limit", EIO, 2);
  devices->end(*sender, now);
  EXPECT_EQ(devices->failure(), "");
  ASSERT_THAT(devices->problems(), SizeIs(1));
  EXPECT_THAT(devices->problems()[0].text,
              HasSubstr("1 connections keep their limit until their queue pairs are released"));
  EXPECT_THAT(verbs.rate_limits(1), ElementsAre(0, 0, 1'000'000, 1'000'000));
  devices->end(*sender, now);
  EXPECT_THAT(devices->problems(), SizeIs(1)) << "told once";
}

TEST_F(DeviceRatesTest, AQueuePairInErrorHasNothingToLimit) {
  ASSERT_NO_FATAL_FAILURE(prepare(2, kTwoPairs));
  verbs.end_next_send_with(IBV_WC_RETRY_EXC_ERR);
  ASSERT_EQ(send(8), 1U);
  turns(3);
  ASSERT_NE(failure(at_sender), "");
  reach(2);
  EXPECT_THAT(verbs.rate_limits(1), ElementsAre(0, 0, 1'000'000, 1'000'000))
      << "the other connection is";
  sender->abort(ConnectionIndex{1});
  const std::size_t before = verbs.calls("modify_qp_rate_limit");
  devices->end(*sender, now);
  EXPECT_EQ(verbs.calls("modify_qp_rate_limit"), before);
  EXPECT_EQ(devices->failure(), "");
}

TEST_F(DeviceRatesTest, AQueuePairWhoseErrorIsNotYetKnownFailsWithItsOwnReason) {
  ASSERT_NO_FATAL_FAILURE(prepare(2, kTwoPairs));
  verbs.end_next_send_with(IBV_WC_RETRY_EXC_ERR);
  ASSERT_EQ(send(8), 1U);
  reach(2);
  EXPECT_EQ(devices->failure(), "");
  EXPECT_THAT(verbs.rate_limits(1), ElementsAre(0, 0, 1'000'000, 1'000'000));
  turns(3);
  EXPECT_THAT(failure(at_sender), HasSubstr("[REHEARSAL-RDMA-020]"));
}

TEST_F(DeviceRatesTest, ThePortIsAskedBeforeAnyLoad) {
  verbs.give_rate_limits(1, 1'000, 100'000);
  RdmaOptions options = verbs.options(1);
  options.nics[0]->rates = {BitRate{1'000'000}, BitRate{1'000'000'000}};
  auto transport = std::move(RdmaTransport::create(std::move(options)).value());
  EXPECT_THAT(transport->offer(spec()).error().text(),
              HasSubstr("limits a queue pair to 1Mbit/s … 100Mbit/s, a fault asks for 1Gbit/s; "
                        "right would be the fault with mechanism: sender"));
}

}  // namespace
}  // namespace rehearsal::rdma

#include "agent/transport/rdma/rdma_transport.hpp"

#include <gmock/gmock.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/verbs/fake_verbs.hpp"
#include "tests/unit/agent/transport/rdma/transport_pair.hpp"

namespace rehearsal::rdma {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

using RdmaTransportTest = TransportPair;

TEST_F(RdmaTransportTest, AMessageArrivesIsReleasedAndItsCreditComesBack) {
  for (const auto completions : {plan::CompletionMode::event, plan::CompletionMode::poll}) {
    SCOPED_TRACE(to_string(completions));
    next_send = next_release = 0;
    at_sender.clear();
    at_receiver.clear();
    ASSERT_NO_FATAL_FAILURE(connect({.completions = completions}));
    ASSERT_EQ(send(1000), 1U);
    turns(3);
    ASSERT_EQ(count(at_receiver, Completion::Kind::received), 1U);
    EXPECT_EQ(at_receiver.back().bytes, 1000U);
    EXPECT_EQ(count(at_sender, Completion::Kind::sent), 1U);
    EXPECT_EQ(count(at_sender, Completion::Kind::credit), 0U) << "the slot is not free yet";
    release();
    turns(3);
    EXPECT_EQ(count(at_sender, Completion::Kind::credit), 1U);
    sender.reset();
    receiver.reset();
    EXPECT_EQ(verbs.objects(), 0U);
  }
}

TEST_F(RdmaTransportTest, SaysWhatItIsBoundTo) {
  ASSERT_NO_FATAL_FAILURE(connect());
  EXPECT_EQ(at_sender.at(0).bytes, 1024U) << "connected, with this path MTU";
  ASSERT_THAT(sender->bound(), SizeIs(1));
  EXPECT_THAT(sender->bound()[0],
              HasSubstr("fake1 port 1, GID 10.0.0.1 (RoCE v2), path MTU 1024 (active 1024)"));
}

TEST_F(RdmaTransportTest, ABatchIsOneDoorbellAndOneSignal) {
  ASSERT_NO_FATAL_FAILURE(connect());
  const std::size_t posts = verbs.calls("post_send");
  ASSERT_EQ(send_batch(4, 1000), 4U);
  EXPECT_EQ(verbs.calls("post_send") - posts, 1U);
  EXPECT_EQ(sender->rdma_statistics().signalled, 1U);
  turns(2);
  EXPECT_EQ(count(at_sender, Completion::Kind::sent), 4U) << "one completion stands for all";
  EXPECT_EQ(count(at_receiver, Completion::Kind::received), 4U);
}

TEST_F(RdmaTransportTest, TinyMessagesGoInline) {
  ASSERT_NO_FATAL_FAILURE(connect());
  ASSERT_EQ(send(8), 1U);
  ASSERT_EQ(send(1000), 1U);
  EXPECT_EQ(sender->rdma_statistics().inlined, 1U);
}

TEST_F(RdmaTransportTest, CompletionsThatAreLateAreWaitedFor) {
  ASSERT_NO_FATAL_FAILURE(connect());
  verbs.hold();
  ASSERT_EQ(send_batch(4, 500), 4U);
  turns(50, 100ms);
  EXPECT_EQ(count(at_sender, Completion::Kind::sent), 0U);
  EXPECT_EQ(failure(at_sender), "");
  verbs.release();
  turns(3);
  EXPECT_EQ(count(at_sender, Completion::Kind::sent), 4U);
  EXPECT_EQ(count(at_receiver, Completion::Kind::received), 4U);
}

TEST_F(RdmaTransportTest, AnEventWakesWhoSleeps) {
  ASSERT_NO_FATAL_FAILURE(connect());
  turns(20);
  pollfd descriptor{.fd = receiver->wakeup().file_descriptor, .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0) << "there is nothing to wake for";
  ASSERT_EQ(send(8), 1U);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 1);
  turns(2);
  EXPECT_EQ(count(at_receiver, Completion::Kind::received), 1U);
  turns(2);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0) << "the event was taken";
}

TEST_F(RdmaTransportTest, OnlyAQueueThatHasSpokenIsArmedAgain) {
  ASSERT_NO_FATAL_FAILURE(connect());
  turns(20);
  const std::size_t before = verbs.calls("req_notify_cq");
  ASSERT_EQ(send(8), 1U);
  turns(5);
  EXPECT_EQ(verbs.calls("req_notify_cq"), before + 2)
      << "of sender and receiver one each, not their greeters'";
}

TEST_F(RdmaTransportTest, AQueueWhoseEventWasLostSpeaksAgain) {
  ASSERT_NO_FATAL_FAILURE(connect());
  turns(20);
  pollfd descriptor{.fd = receiver->wakeup().file_descriptor, .events = POLLIN, .revents = 0};
  verbs.lose_next_event();
  ASSERT_EQ(send(8), 1U);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 0);
  turns(2);
  EXPECT_EQ(count(at_receiver, Completion::Kind::received), 1U) << "who looks finds it";
  turn(250ms);
  ASSERT_EQ(send(8), 1U);
  EXPECT_EQ(::poll(&descriptor, 1, 0), 1);
}

TEST_F(RdmaTransportTest, EveryVerbOfSetUpMayFailAndNothingIsLeft) {
  // How often each is called on the way, so that each of its calls fails once.
  for (const char* verb :
       {"get_device_list", "open_device", "query_device", "query_port", "alloc_pd", "reg_mr",
        "create_comp_channel", "create_cq", "create_qp", "modify_qp", "create_ah", "post_recv"}) {
    bool failed = true;
    // A port's greeter posts hundreds of receives one by one.
    const int step = std::string_view(verb) == "post_recv" ? 90 : 1;
    for (int skip = 0; failed && skip < 40 * step; skip += step) {
      SCOPED_TRACE(testing::Message() << verb << ", call " << skip);
      ASSERT_NO_FATAL_FAILURE(make());
      verbs.fail(verb, ENOSPC, skip);
      const std::string problem = join();
      failed = !problem.empty();
      if (failed) {
        EXPECT_THAT(problem, HasSubstr("[REHEARSAL-RDMA-0"));
        EXPECT_THAT(problem, HasSubstr("No space left on device"));
      }
      verbs.fail(verb, 0, 1'000'000);
      sender.reset();
      receiver.reset();
      EXPECT_EQ(verbs.objects(), 0U);
    }
    EXPECT_FALSE(failed) << verb << " was called more often than expected";
    // The second try without inline data hides one failure of create_qp.
    EXPECT_GT(verbs.calls(verb), 0U);
  }
}

TEST_F(RdmaTransportTest, WorkCompletionsInErrorFailTheConnectionOnceAndSayWhatToDo) {
  const std::pair<ibv_wc_status, const char*> statuses[] = {
      {IBV_WC_RETRY_EXC_ERR, "[REHEARSAL-RDMA-020]"},
      {IBV_WC_RNR_RETRY_EXC_ERR, "[REHEARSAL-RDMA-021]"},
      {IBV_WC_REM_ACCESS_ERR, "[REHEARSAL-RDMA-022]"},
      {IBV_WC_REM_OP_ERR, "[REHEARSAL-RDMA-022]"},
      {IBV_WC_LOC_PROT_ERR, "[REHEARSAL-RDMA-023]"},
      {IBV_WC_FATAL_ERR, "[REHEARSAL-RDMA-023]"},
      {IBV_WC_WR_FLUSH_ERR, "[REHEARSAL-RDMA-024]"}};
  for (const auto& [status, id] : statuses) {
    SCOPED_TRACE(id);
    next_send = 0;
    at_sender.clear();
    at_receiver.clear();
    ASSERT_NO_FATAL_FAILURE(connect());
    verbs.end_next_send_with(status);
    ASSERT_EQ(send_batch(3, 1000), 3U);
    turns(3);
    EXPECT_EQ(count(at_sender, Completion::Kind::failed), 1U);
    EXPECT_THAT(failure(at_sender), HasSubstr(id));
    EXPECT_THAT(failure(at_sender), HasSubstr("fake1 port 1, GID 10.0.0.1 (RoCE v2), queue pair"));
    EXPECT_THAT(failure(at_sender), HasSubstr("to GID 10.0.0.2, queue pair"));
    EXPECT_EQ(send(1000), 1U) << "a failed connection takes and drops everything";
    turns(3);
    EXPECT_EQ(count(at_sender, Completion::Kind::failed), 1U);
    sender.reset();
    receiver.reset();
    EXPECT_EQ(verbs.objects(), 0U);
  }
}

TEST_F(RdmaTransportTest, PostingThatFailsFailsTheConnection) {
  ASSERT_NO_FATAL_FAILURE(connect());
  verbs.fail("post_send", ENOMEM);
  EXPECT_EQ(send(1000), 1U);
  turns(2);
  EXPECT_THAT(failure(at_sender), HasSubstr("[REHEARSAL-RDMA-025]"));
  EXPECT_THAT(failure(at_sender), HasSubstr("Cannot allocate memory"));
}

TEST_F(RdmaTransportTest, AReleaseThatCannotBePostedFailsTheConnection) {
  ASSERT_NO_FATAL_FAILURE(connect());
  ASSERT_EQ(send(1000), 1U);
  turns(3);
  verbs.fail("post_recv", ENOMEM);
  release();
  turns(2);
  EXPECT_THAT(failure(at_receiver), HasSubstr("[REHEARSAL-RDMA-025]"));
}

TEST_F(RdmaTransportTest, APeerThatIsGoneIsNoticedByTheNextMessage) {
  ASSERT_NO_FATAL_FAILURE(connect());
  receiver->abort(kConnection);
  ASSERT_EQ(send(1000), 1U);
  turns(3);
  EXPECT_THAT(failure(at_sender), HasSubstr("transport retry counter exceeded"));
}

TEST_F(RdmaTransportTest, APortThatIsDownIsNamed) {
  ASSERT_NO_FATAL_FAILURE(connect());
  verbs.take_down(1);
  turns(10);
  EXPECT_EQ(failure(at_sender), "") << "links flap; retries may still succeed";
  ASSERT_EQ(send(1000), 1U);
  turns(3);
  EXPECT_THAT(failure(at_sender), HasSubstr("[REHEARSAL-RDMA-020]"));
  EXPECT_THAT(failure(at_sender), HasSubstr("the local port is down"));
}

TEST_F(RdmaTransportTest, ABrokenDeviceFailsAllItsConnections) {
  ASSERT_NO_FATAL_FAILURE(connect());
  verbs.break_device(2);
  turns(10);
  EXPECT_THAT(failure(at_receiver), HasSubstr("[REHEARSAL-RDMA-023]"));
  EXPECT_EQ(failure(at_sender), "");
}

TEST_F(RdmaTransportTest, AbortIsSilent) {
  ASSERT_NO_FATAL_FAILURE(connect());
  verbs.hold();
  ASSERT_EQ(send_batch(4, 1000), 4U);
  const std::size_t before = at_sender.size();
  sender->abort(kConnection);
  EXPECT_EQ(verbs.queue_pairs_in(IBV_QPS_ERR), 1U);
  verbs.release();
  turns(5);
  EXPECT_EQ(at_sender.size(), before);
  EXPECT_EQ(count(at_receiver, Completion::Kind::received), 0U) << "what was queued is dropped";
}

TEST_F(RdmaTransportTest, WithoutAnAnswerTheGreetingGivesUp) {
  ASSERT_NO_FATAL_FAILURE(make());
  verbs.take_down(2);
  bool refused = !join().empty();  // the receiver's port is looked at when it is opened
  EXPECT_TRUE(refused);
  sender.reset();
  receiver.reset();
  verbs.bring_up(2);
  ASSERT_NO_FATAL_FAILURE(make());
  ASSERT_EQ(join(), "");
  verbs.take_down(2);
  turns(70, 100ms);
  EXPECT_THAT(failure(at_sender), HasSubstr("[REHEARSAL-RDMA-007]"));
  EXPECT_THAT(failure(at_receiver), HasSubstr("[REHEARSAL-RDMA-007]"));
  EXPECT_THAT(failure(at_receiver), HasSubstr("the port is down"));
  EXPECT_EQ(error_number(at_sender), ETIMEDOUT);
  EXPECT_EQ(count(at_sender, Completion::Kind::connected), 0U);
}

TEST_F(RdmaTransportTest, APathThatCarriesOnlyShortDatagramsIsTold) {
  ASSERT_NO_FATAL_FAILURE(make());
  verbs.limit_wire(512);
  ASSERT_EQ(join(), "");
  turns(300, 20ms);
  EXPECT_THAT(failure(at_sender), HasSubstr("[REHEARSAL-RDMA-008]"));
  EXPECT_THAT(failure(at_sender), HasSubstr("path MTU of 1024 B"));
  EXPECT_EQ(error_number(at_sender), EMSGSIZE);
}

TEST_F(RdmaTransportTest, ADeviceThatRepeatsWhatItsWireRefusesStillTellsTheMtu) {
  ASSERT_NO_FATAL_FAILURE(make());
  verbs.limit_wire(512);
  verbs.repeat_what_the_wire_refuses();
  ASSERT_EQ(join(), "");
  turns(300, 20ms);
  EXPECT_THAT(failure(at_sender), HasSubstr("[REHEARSAL-RDMA-008]"));
  EXPECT_THAT(failure(at_receiver), HasSubstr("[REHEARSAL-RDMA-008]"));
  EXPECT_LT(verbs.calls("create_qp"), 40U) << "it is tried again, but not all the time";
}

TEST_F(RdmaTransportTest, ALaneThatStoodStillIsUsedAgain) {
  ASSERT_NO_FATAL_FAILURE(make());
  verbs.limit_wire(512);
  verbs.repeat_what_the_wire_refuses();
  ASSERT_EQ(join(), "");
  turns(50, 20ms);
  EXPECT_EQ(count(at_sender, Completion::Kind::connected), 0U);
  verbs.limit_wire(4096);
  turns(100, 20ms);
  EXPECT_EQ(count(at_sender, Completion::Kind::connected), 1U);
  EXPECT_EQ(count(at_receiver, Completion::Kind::connected), 1U);
  sender.reset();
  receiver.reset();
  EXPECT_EQ(verbs.objects(), 0U);
}

TEST_F(RdmaTransportTest, WhoIsNotHeardIsToldFromWhoDoesNotHear) {
  ASSERT_NO_FATAL_FAILURE(make());
  verbs.deafen(2);
  ASSERT_EQ(join(), "");
  turns(300, 20ms);
  EXPECT_THAT(failure(at_sender), HasSubstr("[REHEARSAL-RDMA-007]"));
  EXPECT_THAT(failure(at_sender), HasSubstr("the peer's greetings arrive here"));
  EXPECT_THAT(failure(at_receiver), HasSubstr("[REHEARSAL-RDMA-007]"));
  EXPECT_THAT(failure(at_receiver), HasSubstr("no greeting of the peer arrived"));
}

TEST_F(RdmaTransportTest, ALostGreetingIsSentAgain) {
  ASSERT_NO_FATAL_FAILURE(make());
  verbs.limit_wire(0);
  ASSERT_EQ(join(), "");
  turns(50, 20ms);
  EXPECT_EQ(count(at_sender, Completion::Kind::connected), 0U);
  verbs.limit_wire(4096);
  turns(10, 20ms);
  EXPECT_EQ(count(at_sender, Completion::Kind::connected), 1U);
  EXPECT_EQ(count(at_receiver, Completion::Kind::connected), 1U);
}

TEST_F(RdmaTransportTest, AMessageSaysWhatALostGreetingWouldHaveSaid) {
  const auto poll = [&](RdmaTransport& transport, std::vector<Completion>& seen) {
    std::array<Completion, 64> batch;
    const std::size_t taken = transport.poll(batch, now += 1ms);
    seen.insert(seen.end(), batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(taken));
  };
  // How many turns of both it takes until the sender is connected, the receiver always first.
  ASSERT_NO_FATAL_FAILURE(make());
  ASSERT_EQ(join(), "");
  int turns_needed = 0;
  for (; turns_needed < 100 && count(at_sender, Completion::Kind::connected) == 0; ++turns_needed) {
    poll(*receiver, at_receiver);
    poll(*sender, at_sender);
  }
  ASSERT_EQ(count(at_sender, Completion::Kind::connected), 1U);
  at_sender.clear();
  at_receiver.clear();
  // Once more, and what the sender says in the last of them is lost.
  ASSERT_NO_FATAL_FAILURE(make());
  ASSERT_EQ(join(), "");
  for (int i = 0; i < turns_needed; ++i) {
    poll(*receiver, at_receiver);
    if (i + 1 == turns_needed) verbs.deafen(2);
    poll(*sender, at_sender);
  }
  ASSERT_EQ(count(at_sender, Completion::Kind::connected), 1U);
  ASSERT_EQ(count(at_receiver, Completion::Kind::connected), 0U);
  ASSERT_EQ(send(1000), 1U);
  poll(*receiver, at_receiver);
  ASSERT_EQ(at_receiver.size(), 2U);
  EXPECT_EQ(at_receiver[0].kind, Completion::Kind::connected);
  EXPECT_EQ(at_receiver[1].kind, Completion::Kind::received);
  release();
  turns(5);
  EXPECT_EQ(failure(at_sender) + failure(at_receiver), "");
  EXPECT_EQ(count(at_receiver, Completion::Kind::connected), 1U);
}

TEST_F(RdmaTransportTest, AStrangerWithoutTheTokenIsNotHeard) {
  RdmaOptions options = verbs.options(1);
  options.token = "another run";
  options.settings.completions = plan::CompletionMode::event;
  ASSERT_NO_FATAL_FAILURE(make());
  sender = std::move(RdmaTransport::create(std::move(options)).value());
  ASSERT_EQ(join(), "");
  turns(300, 20ms);
  EXPECT_THAT(failure(at_receiver), HasSubstr("[REHEARSAL-RDMA-007]"));
}

TEST_F(RdmaTransportTest, EndsThatDoNotFitAreRefused) {
  ASSERT_NO_FATAL_FAILURE(make());
  const auto there = receiver->open(spec()).value();
  ASSERT_TRUE(sender->offer(spec()).has_value());
  const auto wrong = sender->connect(spec(), "127.0.0.1:4711");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::protocol);
  auto other = verbs.options(3);
  other.settings.queue_pairs = 2;
  auto third = std::move(RdmaTransport::create(std::move(other)).value());
  ASSERT_TRUE(third->offer(spec()).has_value());
  const auto fewer = third->connect(spec(), there);
  ASSERT_FALSE(fewer);
  EXPECT_THAT(fewer.error().text(), HasSubstr("[REHEARSAL-RDMA-010]"));
}

TEST_F(RdmaTransportTest, DevicesGidsAndSizesThatAreNotThereAreNamed) {
  RdmaOptions options = verbs.options(1);
  options.nics[0]->device = "mlx5_9";
  auto transport = std::move(RdmaTransport::create(options).value());
  EXPECT_THAT(transport->open(spec()).error().text(),
              HasSubstr("[REHEARSAL-RDMA-002] there is no RDMA device mlx5_9; this host has: "
                        "fake1, fake2"));
  options = verbs.options(1);
  options.nics[0]->gid.address = "10.0.0.99";
  transport = std::move(RdmaTransport::create(options).value());
  EXPECT_THAT(transport->open(spec()).error().text(), HasSubstr("[REHEARSAL-RDMA-006]"));
  transport = std::move(RdmaTransport::create(verbs.options(1)).value());
  auto large = spec();
  large.message_bytes_max = std::uint64_t{1} << 30;
  EXPECT_THAT(transport->open(large).error().text(), HasSubstr("smaller chunks"));
}

TEST_F(RdmaTransportTest, DamagedPayloadIsFoundWhereItIsVerified) {
  verify = true;
  ASSERT_NO_FATAL_FAILURE(connect());
  ASSERT_EQ(send(1000), 1U);
  turns(3);
  EXPECT_EQ(receiver->rdma_statistics().payload_verified, 1000U);
  verbs.damage_next_write();
  ASSERT_EQ(send(1000), 1U);
  turns(3);
  EXPECT_THAT(failure(at_receiver), HasSubstr("[REHEARSAL-RDMA-027]"));
  EXPECT_THAT(failure(at_receiver), HasSubstr("message 1 "));
}

TEST_F(RdmaTransportTest, TheDataPathDoesNotAllocate) {
  for (const auto mode : {plan::CompletionMode::poll, plan::CompletionMode::event}) {
    SCOPED_TRACE(to_string(mode));
    at_sender.clear();
    at_receiver.clear();
    next_send = next_release = 0;
    ASSERT_NO_FATAL_FAILURE(connect({.queue_pairs = 2, .completions = mode}));
    turns(20);
    std::array<Completion, 64> batch;
    std::size_t received = 0;
    std::size_t credits = 0;
    const auto take = [&](RdmaTransport& transport) {
      const std::size_t count = transport.poll(batch, now);
      for (std::size_t i = 0; i < count; ++i) {
        received += batch[i].kind == Completion::Kind::received ? 1 : 0;
        credits += batch[i].kind == Completion::Kind::credit ? 1 : 0;
      }
    };
    // What the verbs in memory allocate is not counted.
    const std::uint64_t before = test::allocations();
    for (std::size_t round = 0; round < 500; ++round) {
      now += 10us;
      ASSERT_EQ(send(100), 1U);
      for (int i = 0; i < 4; ++i) take(*receiver);
      release();
      for (int i = 0; i < 4; ++i) take(*sender);
    }
    EXPECT_EQ(test::allocations(), before);
    EXPECT_EQ(received, 500U);
    EXPECT_EQ(credits, 500U);
  }
}

}  // namespace
}  // namespace rehearsal::rdma

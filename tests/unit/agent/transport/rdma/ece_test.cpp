// Enhanced connection establishment: what both ends offer, what the receiver makes of it, and that
// both use the same; and that nothing is lost where one of them has none.
#include <cerrno>

#include "tests/unit/agent/transport/rdma/transport_pair.hpp"

namespace rehearsal::rdma {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EceTest : public TransportPair {
 protected:
  static constexpr std::uint32_t kSender = 1;
  static constexpr std::uint32_t kReceiver = 2;

  void a_message_arrives() {
    ASSERT_EQ(send(1000), 1U);
    turns(3);
    EXPECT_EQ(count(at_receiver, Completion::Kind::received), 1U);
  }
};

TEST_F(EceTest, TheReceiverReducesWhatTheSenderOffersAndBothUseTheRest) {
  verbs.give_ece(kSender, 0b0111);
  verbs.give_ece(kReceiver, 0b1101);
  ASSERT_NO_FATAL_FAILURE(connect({.queue_pairs = 3, .completions = plan::CompletionMode::event}));
  EXPECT_THAT(verbs.ece_in_use(kSender), ElementsAre(0b0101, 0b0101, 0b0101));
  EXPECT_THAT(verbs.ece_in_use(kReceiver), ElementsAre(0b0101, 0b0101, 0b0101));
  EXPECT_THAT(sender->bound()[0], HasSubstr("ECE 0x5 (vendor 0xfa4e)"));
  EXPECT_THAT(receiver->bound()[0], HasSubstr("ECE 0x5 (vendor 0xfa4e)"));
  a_message_arrives();
}

TEST_F(EceTest, TheSendersQueuePairsWaitForTheAnswer) {
  verbs.give_ece(kSender, 3);
  verbs.give_ece(kReceiver, 1);
  ASSERT_NO_FATAL_FAILURE(make());
  ASSERT_EQ(join(), "");
  EXPECT_THAT(verbs.ece_in_use(kSender), IsEmpty());
  EXPECT_THAT(verbs.ece_in_use(kReceiver), ElementsAre(1U));
  turns(5);
  EXPECT_THAT(verbs.ece_in_use(kSender), ElementsAre(1U));
  EXPECT_EQ(count(at_sender, Completion::Kind::connected), 1U);
}

TEST_F(EceTest, AnAnswerThatIsThereBeforeTheAddressCounts) {
  verbs.give_ece(kSender, 3);
  verbs.give_ece(kReceiver, 2);
  ASSERT_NO_FATAL_FAILURE(make());
  const auto there = receiver->open(spec()).value();
  const auto here = sender->offer(spec()).value();
  ASSERT_TRUE(receiver->accept(spec(), here));
  turns(5);
  ASSERT_TRUE(sender->connect(spec(), there));
  EXPECT_THAT(verbs.ece_in_use(kSender), ElementsAre(2U));
  turns(30);
  EXPECT_EQ(count(at_sender, Completion::Kind::connected), 1U);
  EXPECT_EQ(count(at_receiver, Completion::Kind::connected), 1U);
  a_message_arrives();
}

TEST_F(EceTest, LostAnswersAreSaidAgain) {
  verbs.give_ece(kSender, 3);
  verbs.give_ece(kReceiver, 2);
  ASSERT_NO_FATAL_FAILURE(make());
  verbs.limit_wire(0);
  ASSERT_EQ(join(), "");
  turns(20, 20ms);
  EXPECT_THAT(verbs.ece_in_use(kSender), IsEmpty());
  verbs.limit_wire(4096);
  turns(10, 20ms);
  EXPECT_THAT(verbs.ece_in_use(kSender), ElementsAre(2U));
  a_message_arrives();
}

TEST_F(EceTest, WhereOneEndHasNoneTheConnectionIsPlain) {
  for (const std::uint32_t only : {kSender, kReceiver}) {
    SCOPED_TRACE(only);
    sender.reset();
    receiver.reset();
    at_sender.clear();
    at_receiver.clear();
    next_send = 0;
    verbs.take_ece(kSender);
    verbs.take_ece(kReceiver);
    verbs.give_ece(only, 7);
    ASSERT_NO_FATAL_FAILURE(connect());
    EXPECT_EQ(verbs.calls("set_ece"), 0U);
    EXPECT_THAT(sender->bound()[0], HasSubstr("no ECE"));
    a_message_arrives();
  }
}

TEST_F(EceTest, AnOlderLibraryIsPlain) {
  verbs.give_ece(kSender, 7);
  verbs.give_ece(kReceiver, 7);
  verbs.be_without_ece_functions();
  ASSERT_NO_FATAL_FAILURE(connect());
  EXPECT_EQ(verbs.calls("query_ece"), 0U);
  a_message_arrives();
}

TEST_F(EceTest, ADrillCanLeaveItOut) {
  verbs.give_ece(kSender, 7);
  verbs.give_ece(kReceiver, 7);
  ASSERT_NO_FATAL_FAILURE(connect({.completions = plan::CompletionMode::event, .ece = false}));
  EXPECT_EQ(verbs.calls("query_ece"), 0U);
  EXPECT_THAT(sender->bound()[0], HasSubstr("ECE off"));
}

// NCCL takes EOPNOTSUPP for "none" as well when it sets.
TEST_F(EceTest, AReceiverThatCannotSetItAnswersNone) {
  verbs.give_ece(kSender, 7);
  verbs.give_ece(kReceiver, 7);
  verbs.fail("set_ece", EOPNOTSUPP);
  ASSERT_NO_FATAL_FAILURE(connect());
  EXPECT_EQ(verbs.calls("set_ece"), 1U) << "the sender sets nothing";
  EXPECT_THAT(sender->bound()[0], HasSubstr("no ECE"));
  a_message_arrives();
}

TEST_F(EceTest, FailuresSayWhereAndHowToDoWithout) {
  for (const char* verb : {"query_ece", "set_ece"}) {
    SCOPED_TRACE(verb);
    sender.reset();
    receiver.reset();
    verbs.give_ece(kSender, 7);
    verbs.give_ece(kReceiver, 7);
    ASSERT_NO_FATAL_FAILURE(make());
    verbs.fail(verb, EINVAL);
    const std::string wrong = join();
    EXPECT_THAT(wrong, HasSubstr("[REHEARSAL-RDMA-009] fake2 port 1"));
    EXPECT_THAT(wrong, HasSubstr("transport.ece: false"));
  }
  sender.reset();
  receiver.reset();
  EXPECT_EQ(verbs.objects(), 0U);
}

TEST_F(EceTest, AnAnswerThatTheSenderCannotSetFailsItsConnectionAndNoOther) {
  verbs.give_ece(kSender, 7);
  verbs.give_ece(kReceiver, 7);
  ASSERT_NO_FATAL_FAILURE(make());
  verbs.fail("set_ece", EINVAL, 1);
  ASSERT_EQ(join(), "");
  turns(5);
  EXPECT_THAT(failure(at_sender), HasSubstr("cannot set ECE 0x7 (vendor 0xfa4e)"));
  EXPECT_EQ(count(at_sender, Completion::Kind::connected), 0U);
  turns(300, 20ms);
  EXPECT_EQ(count(at_sender, Completion::Kind::failed), 1U);
}

}  // namespace
}  // namespace rehearsal::rdma

#include "core/replay/memory_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::replay {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Instant kStart{std::chrono::seconds{1}};

std::string text(const Completion& completion) {
  constexpr const char* kNames[] = {"connected", "sent", "credit", "received", "failed"};
  return std::string(kNames[static_cast<std::size_t>(completion.kind)]) + " " +
         std::to_string(completion.sequence) + " " + std::to_string(completion.bytes);
}

class MemoryTransportTest : public testing::Test {
 protected:
  explicit MemoryTransportTest(MemoryFabric::Options options = {.latency = microseconds{10},
                                                                .rate = BitRate{8'000'000'000}})
      : fabric_(options) {}

  /// A connection from `source` to `destination`, with handles of its own at both ends.
  void connect(std::uint32_t at_source, std::uint32_t at_destination, std::uint16_t channel = 0) {
    ConnectionSpec spec{.index = ConnectionIndex{at_destination},
                        .key = {.job = {},
                                .communicator = {},
                                .source = Rank{0},
                                .destination = Rank{1},
                                .channel = channel},
                        .nic = {},
                        .credits = 2,
                        .message_bytes_max = 1000};
    const auto address = destination_.open(spec);
    ASSERT_TRUE(address);
    spec.index = ConnectionIndex{at_source};
    ASSERT_TRUE(source_.connect(spec, *address));
    EXPECT_THAT(poll(source_, kStart), ElementsAre("connected 0 0"));
    EXPECT_THAT(poll(destination_, kStart), ElementsAre("connected 0 0"));
  }

  static void send(Transport& transport, std::uint32_t connection, std::uint64_t sequence,
                   std::uint64_t bytes, Instant now) {
    const Request request{Request::Kind::send, ConnectionIndex{connection}, sequence, bytes};
    ASSERT_EQ(transport.post({&request, 1}, now), 1U);
  }
  static void release(Transport& transport, std::uint32_t connection, std::uint64_t sequence,
                      Instant now) {
    const Request request{Request::Kind::release, ConnectionIndex{connection}, sequence, 0};
    ASSERT_EQ(transport.post({&request, 1}, now), 1U);
  }
  static std::vector<std::string> poll(Transport& transport, Instant now) {
    Completion completions[16];
    std::vector<std::string> texts;
    const std::size_t count = transport.poll(completions, now);
    for (std::size_t i = 0; i < count; ++i) texts.push_back(text(completions[i]));
    return texts;
  }

  MemoryFabric fabric_;
  MemoryTransport source_{fabric_};
  MemoryTransport destination_{fabric_};
};

TEST_F(MemoryTransportTest, AMessageTakesItsTransmissionAndTheLatency) {
  connect(3, 5);
  send(source_, 3, 0, 1000, kStart);  // 1 µs at 8 Gbit/s
  EXPECT_EQ(source_.wakeup().deadline, kStart + microseconds{1});
  EXPECT_EQ(destination_.wakeup().deadline, kStart + microseconds{11});
  EXPECT_THAT(poll(source_, kStart + microseconds{1} - Duration{1}), IsEmpty());
  EXPECT_THAT(poll(source_, kStart + microseconds{1}), ElementsAre("sent 0 1000"));
  EXPECT_THAT(poll(destination_, kStart + microseconds{11} - Duration{1}), IsEmpty());
  EXPECT_THAT(poll(destination_, kStart + microseconds{11}), ElementsAre("received 0 1000"));
  EXPECT_EQ(destination_.wakeup().deadline, kNever);
}

TEST_F(MemoryTransportTest, MessagesOfOneConnectionQueueBehindEachOther) {
  connect(0, 0);
  send(source_, 0, 0, 1000, kStart);
  send(source_, 0, 1, 500, kStart);
  EXPECT_THAT(poll(destination_, kStart + Duration{11'499}), ElementsAre("received 0 1000"));
  EXPECT_THAT(poll(destination_, kStart + Duration{11'500}), ElementsAre("received 1 500"));
}

TEST_F(MemoryTransportTest, ACreditComesBackALatencyAfterTheRelease) {
  connect(0, 0);
  send(source_, 0, 0, 1000, kStart);
  poll(source_, kStart + microseconds{11});
  poll(destination_, kStart + microseconds{11});
  release(destination_, 0, 0, kStart + microseconds{20});
  EXPECT_THAT(poll(source_, kStart + microseconds{30} - Duration{1}), IsEmpty());
  EXPECT_THAT(poll(source_, kStart + microseconds{30}), ElementsAre("credit 0 0"));
}

TEST_F(MemoryTransportTest, SendingWithoutACreditIsABug) {
  connect(0, 0);
  send(source_, 0, 0, 1, kStart);
  send(source_, 0, 1, 1, kStart);
  EXPECT_DEATH(send(source_, 0, 2, 1, kStart), "without a credit");
}

TEST_F(MemoryTransportTest, PollGivesNoMoreThanThereIsRoomFor) {
  connect(0, 0);
  send(source_, 0, 0, 1, kStart);
  send(source_, 0, 1, 1, kStart);
  Completion one[1];
  EXPECT_EQ(destination_.poll(one, kStart + microseconds{100}), 1U);
  EXPECT_EQ(one[0].sequence, 0U);
  EXPECT_EQ(destination_.poll(one, kStart + microseconds{100}), 1U);
  EXPECT_EQ(one[0].sequence, 1U);
}

TEST_F(MemoryTransportTest, AbortIsSilentHereAndAFailureThere) {
  connect(0, 0);
  send(source_, 0, 0, 1, kStart);
  source_.abort(ConnectionIndex{0});
  EXPECT_THAT(poll(source_, kStart + microseconds{100}), IsEmpty());
  EXPECT_THAT(poll(destination_, kStart + microseconds{100}),
              ElementsAre("failed 0 0", "received 0 1"));
  send(source_, 0, 1, 1, kStart + microseconds{100});  // taken and dropped
  EXPECT_THAT(poll(destination_, kStart + microseconds{200}), IsEmpty());
}

TEST_F(MemoryTransportTest, AnAddressThatIsNotOneIsRefused) {
  EXPECT_FALSE(source_.connect(ConnectionSpec{}, "tcp:127.0.0.1:80"));
  EXPECT_FALSE(source_.connect(ConnectionSpec{}, "memory:7"));
}

TEST_F(MemoryTransportTest, BothEndsMayBeOnOneTransport) {
  ConnectionSpec spec;
  spec.index = ConnectionIndex{4};
  spec.credits = 1;
  spec.message_bytes_max = 10;
  ASSERT_TRUE(source_.connect(spec, *source_.open(spec)));
  EXPECT_THAT(poll(source_, kStart), ElementsAre("connected 0 0", "connected 0 0"));
  send(source_, 4, 0, 10, kStart);
  EXPECT_THAT(poll(source_, kStart + microseconds{20}), ElementsAre("sent 0 10", "received 0 10"));
  release(source_, 4, 0, kStart + microseconds{20});
  EXPECT_THAT(poll(source_, kStart + microseconds{30}), ElementsAre("credit 0 0"));
}

class SharedRateTest : public MemoryTransportTest {
 protected:
  SharedRateTest()
      : MemoryTransportTest({.latency = Duration{0},
                             .rate = BitRate{8'000'000'000},
                             .sharing = MemoryFabric::Sharing::nic_pair}) {}
};

TEST_F(SharedRateTest, ConnectionsOfOneNicPairShareItsRate) {
  connect(0, 0, 0);
  connect(1, 1, 1);
  send(source_, 0, 0, 1000, kStart);
  send(source_, 1, 0, 1000, kStart);
  EXPECT_THAT(poll(destination_, kStart + microseconds{1}), ElementsAre("received 0 1000"));
  EXPECT_THAT(poll(destination_, kStart + microseconds{2}), ElementsAre("received 0 1000"));
}

}  // namespace
}  // namespace rehearsal::replay

#include "agent/transport/tcp/tcp_transport.hpp"

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/transport/tcp/handshake.hpp"
#include "agent/transport/tcp/socket.hpp"
#include "core/base/random.hpp"

namespace rehearsal::tcp {
namespace {

using replay::Completion;
using replay::Request;
using Kind = Completion::Kind;

Instant clock_now() { return std::chrono::steady_clock::now(); }

replay::ConnectionSpec spec_of(std::uint32_t index, std::uint16_t channel = 0,
                               std::uint32_t credits = 4) {
  return {.index = ConnectionIndex{index},
          .key = {.job = JobIndex{0},
                  .communicator = CommunicatorIndex{0},
                  .source = Rank{0},
                  .destination = Rank{1},
                  .channel = channel},
          .nic = NicIndex{0},
          .credits = credits,
          .message_bytes_max = 4U << 20};
}

TcpOptions options() { return {.nic_addresses = {"127.0.0.1"}, .token = "a token of this run"}; }

/// One transport, what it reported, and a sender that obeys credits.
class End {
 public:
  explicit End(TcpOptions given = options())
      : transport_(std::move(TcpTransport::create(std::move(given)).value())) {}

  TcpTransport& transport() { return *transport_; }

  void poll(Instant now = clock_now()) {
    std::array<Completion, 16> batch;
    const auto count = transport_->poll(batch, now);
    for (std::size_t i = 0; i < count; ++i) seen.push_back(batch[i]);
  }
  bool has(Kind kind) const { return count(kind) > 0; }
  std::size_t count(Kind kind) const {
    return static_cast<std::size_t>(
        std::count_if(seen.begin(), seen.end(), [&](const auto& c) { return c.kind == kind; }));
  }
  std::string_view reason() const {
    for (const auto& completion : seen)
      if (completion.kind == Kind::failed) return completion.reason;
    return {};
  }
  void send(std::uint32_t connection, std::uint64_t sequence, std::uint64_t bytes) {
    post({.kind = Request::Kind::send,
          .connection = ConnectionIndex{connection},
          .sequence = sequence,
          .bytes = bytes});
  }
  void release(std::uint32_t connection, std::uint64_t sequence) {
    post({.kind = Request::Kind::release,
          .connection = ConnectionIndex{connection},
          .sequence = sequence});
  }
  void post(Request request) {
    EXPECT_EQ(transport_->post(std::span(&request, 1), clock_now()), 1U);
  }

  std::vector<Completion> seen;

 private:
  std::unique_ptr<TcpTransport> transport_;
};

class TcpTransportTest : public testing::Test {
 protected:
  /// Polls both ends until `done`, at most ten seconds.
  void until(const std::function<bool()>& done) {
    const Instant limit = clock_now() + std::chrono::seconds{10};
    while (!done()) {
      ASSERT_LT(clock_now(), limit) << "what was waited for did not happen";
      sender->poll();
      receiver->poll();
    }
  }
  void make(TcpOptions sending = options(), TcpOptions receiving = options()) {
    sender = std::make_unique<End>(std::move(sending));
    receiver = std::make_unique<End>(std::move(receiving));
  }
  void link(const replay::ConnectionSpec& spec = spec_of(0)) {
    const auto address = receiver->transport().open(spec);
    ASSERT_TRUE(address.has_value()) << address.error().text();
    const auto connecting = sender->transport().connect(spec, *address);
    ASSERT_TRUE(connecting.has_value()) << connecting.error().text();
    const auto before = receiver->count(Kind::connected);
    until([&] {
      return sender->count(Kind::connected) > before && receiver->count(Kind::connected) > before;
    });
  }
  /// Sends all `sizes` on connection 0 within its credits, releasing at once; checks what arrives.
  void exchange(const std::vector<std::uint64_t>& sizes) {
    std::uint64_t credits = 4;
    std::uint64_t posted = 0;
    std::size_t received = 0;
    std::size_t taken = sender->seen.size();
    std::size_t looked = receiver->seen.size();
    until([&] {
      for (; taken < sender->seen.size(); ++taken)
        if (sender->seen[taken].kind == Kind::credit) ++credits;
      for (; credits > 0 && posted < sizes.size(); --credits, ++posted)
        sender->send(0, posted, sizes[posted]);
      for (; looked < receiver->seen.size(); ++looked) {
        const Completion& completion = receiver->seen[looked];
        if (completion.kind != Kind::received) continue;
        EXPECT_EQ(completion.sequence, received);
        EXPECT_EQ(completion.bytes, sizes[received]);
        ++received;
        receiver->release(0, completion.sequence);
      }
      return received == sizes.size() && sender->count(Kind::sent) == sizes.size();
    });
  }

  std::unique_ptr<End> sender;
  std::unique_ptr<End> receiver;
};

std::vector<std::uint64_t> mixed_sizes(std::size_t count, std::uint64_t largest) {
  const std::uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  std::vector<std::uint64_t> sizes{0, 1, 16, 4095, 4096, 4097, largest};
  while (sizes.size() < count)
    sizes.push_back(random.chance(0.5) ? random.below(300) : random.below(largest));
  return sizes;
}

TEST_F(TcpTransportTest, BothEndsSeeConnected) {
  make();
  link();
  EXPECT_EQ(sender->seen.size(), 1U);
  EXPECT_EQ(receiver->seen.size(), 1U);
  for (int i = 0; i < 10; ++i) sender->poll(), receiver->poll();
  EXPECT_EQ(sender->transport().wakeup().deadline, kNever);
  EXPECT_EQ(receiver->transport().wakeup().deadline, kNever);
  EXPECT_FALSE(sender->transport().statistics().congestion_control.empty());
}

TEST_F(TcpTransportTest, MessagesOfAllSizesArriveInOrderAndWhole) {
  make();
  link();
  exchange(mixed_sizes(200, 3'000'001));
}

TEST_F(TcpTransportTest, TheKernelMayDropThePayload) {
  auto discarding = options();
  discarding.receive = plan::ReceiveMode::discard;
  make(options(), discarding);
  link();
  exchange(mixed_sizes(200, 3'000'001));
}

TEST_F(TcpTransportTest, TinyBuffersMakeEverythingPartial) {
  auto tiny = options();
  tiny.send_buffer_bytes = 1;  // the kernel's minimum
  tiny.receive_buffer_bytes = 1;
  tiny.payload_bytes = 1000;
  tiny.scratch_bytes = 777;
  tiny.call_bytes_max = 5000;
  make(tiny, tiny);
  link();
  exchange(mixed_sizes(60, 40'001));
}

TEST_F(TcpTransportTest, BytesAreCountedWithoutHeaders) {
  make();
  link();
  exchange({100, 0, 1'000'000});
  EXPECT_EQ(sender->transport().statistics().payload_sent, 1'000'100U);
  EXPECT_EQ(receiver->transport().statistics().payload_copied, 1'000'100U);
  EXPECT_EQ(receiver->transport().tcp_statistics().messages_received, 3U);
}

TEST_F(TcpTransportTest, TheReceiverReadsNoFurtherThanItsCredits) {
  make();
  link(spec_of(0, 0, 2));
  sender->send(0, 0, 10);
  sender->send(0, 1, 10);
  until([&] { return receiver->count(Kind::received) == 2 && sender->count(Kind::credit) == 2; });
  sender->send(0, 2, 10);
  sender->send(0, 3, 10);
  until([&] { return sender->count(Kind::sent) == 4; });
  for (int i = 0; i < 100; ++i) receiver->poll();
  EXPECT_EQ(receiver->count(Kind::received), 2U);
  receiver->release(0, 0);
  until([&] { return receiver->count(Kind::received) == 3; });
  for (int i = 0; i < 100; ++i) receiver->poll();
  EXPECT_EQ(receiver->count(Kind::received), 3U);
  receiver->release(0, 1);
  until([&] { return receiver->count(Kind::received) == 4; });
}

TEST_F(TcpTransportTest, ASleepingReceiverIsWokenByItsDescriptor) {
  make();
  link();
  for (int i = 0; i < 10; ++i) receiver->poll();
  ASSERT_GT(receiver->transport().wakeup().deadline, clock_now());
  sender->send(0, 0, 100);
  sender->poll();
  pollfd waiting{
      .fd = receiver->transport().wakeup().file_descriptor, .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&waiting, 1, 10'000), 1);
  receiver->poll();
  EXPECT_TRUE(receiver->has(Kind::received));
}

TEST_F(TcpTransportTest, ItConnectsToHostsOfTheRunAlone) {
  TcpOptions sending = options();
  sending.peer_addresses = {"127.0.0.9"};
  make(sending);
  const auto address = receiver->transport().open(spec_of(0));
  ASSERT_TRUE(address.has_value());
  const auto connecting = sender->transport().connect(spec_of(0), *address);
  ASSERT_FALSE(connecting.has_value());
  EXPECT_EQ(connecting.error().code, ErrorCode::refused);
}

TEST_F(TcpTransportTest, AWrongTokenIsTurnedAway) {
  auto other = options();
  other.token = "another run";
  make(other, options());
  const auto address = receiver->transport().open(spec_of(0)).value();
  ASSERT_TRUE(sender->transport().connect(spec_of(0), address).has_value());
  until([&] { return sender->has(Kind::failed); });
  EXPECT_EQ(receiver->transport().tcp_statistics().strangers_closed, 1U);
  EXPECT_FALSE(receiver->has(Kind::connected));
}

TEST_F(TcpTransportTest, AReceiverOfAnotherRunCannotAnswer) {
  // The receiving end here knows the key, but not the token: it sends what it can.
  make();
  auto listener = listen_on("127.0.0.1", {}).value();
  const auto port = Endpoint::of_socket(listener.get())->port();
  ASSERT_TRUE(sender->transport()
                  .connect(spec_of(0),
                           encode_address({.ip = "127.0.0.1", .port = port, .key = spec_of(0).key}))
                  .has_value());
  FileDescriptor accepted;
  until([&] {
    if (!accepted) accepted = FileDescriptor(::accept(listener.get(), nullptr, nullptr));
    return static_cast<bool>(accepted);
  });
  const auto answer = encode_answer(make_proofs("wrong", spec_of(0).key).answer);
  ASSERT_EQ(::send(accepted.get(), answer.data(), answer.size(), 0),
            static_cast<ssize_t>(answer.size()));
  until([&] { return sender->has(Kind::failed); });
  EXPECT_THAT(std::string(sender->reason()), testing::HasSubstr("does not prove"));
}

FileDescriptor dial(const replay::Address& address) {
  const auto parts = decode_address(address).value();
  return start_connecting("127.0.0.1", Endpoint::parse(parts.ip, parts.port).value(), {}).value();
}

TEST_F(TcpTransportTest, JunkIsClosedAndCountedAndDoesNotDisturb) {
  make();
  const auto address = receiver->transport().open(spec_of(0)).value();
  auto junk = dial(address);
  until([&] {
    return ::send(junk.get(), std::string(200, 'x').data(), 200, MSG_NOSIGNAL) > 0 ||
           receiver->transport().tcp_statistics().strangers_closed > 0;
  });
  until([&] { return receiver->transport().tcp_statistics().strangers_closed == 1; });
  ASSERT_TRUE(sender->transport().connect(spec_of(0), address).has_value());
  until([&] { return sender->has(Kind::connected) && receiver->has(Kind::connected); });
}

TEST_F(TcpTransportTest, AStrangerThatSaysNothingIsClosedAfterTheLimit) {
  make();
  const auto address = receiver->transport().open(spec_of(0)).value();
  auto silent = dial(address);
  until([&] {
    const auto deadline = receiver->transport().wakeup().deadline;
    return deadline != kNever && deadline > clock_now();
  });
  EXPECT_EQ(receiver->transport().tcp_statistics().strangers_closed, 0U);
  receiver->poll(clock_now() + std::chrono::seconds{6});
  EXPECT_EQ(receiver->transport().tcp_statistics().strangers_closed, 1U);
  EXPECT_EQ(receiver->transport().wakeup().deadline, kNever);
}

TEST_F(TcpTransportTest, AFloodOfStrangersDoesNotKeepThePeerOut) {
  make();
  const auto address = receiver->transport().open(spec_of(0)).value();
  std::vector<FileDescriptor> flood;
  for (int i = 0; i < 300; ++i) {
    flood.push_back(dial(address));
    receiver->poll();
  }
  ASSERT_TRUE(sender->transport().connect(spec_of(0), address).has_value());
  until([&] { return sender->has(Kind::connected) && receiver->has(Kind::connected); });
  EXPECT_GT(receiver->transport().tcp_statistics().strangers_closed, 100U);
}

TEST_F(TcpTransportTest, AConnectionIsTakenOnce) {
  make();
  const auto address = receiver->transport().open(spec_of(0)).value();
  ASSERT_TRUE(sender->transport().connect(spec_of(0), address).has_value());
  until([&] { return sender->has(Kind::connected) && receiver->has(Kind::connected); });
  End second;
  ASSERT_TRUE(second.transport().connect(spec_of(0), address).has_value());
  until([&] {
    second.poll();
    return second.has(Kind::failed);
  });
  EXPECT_FALSE(receiver->has(Kind::failed));
}

TEST_F(TcpTransportTest, NobodyThereIsAFailure) {
  make();
  auto listener = listen_on("127.0.0.1", {}).value();
  const auto port = Endpoint::of_socket(listener.get())->port();
  listener.reset();
  ASSERT_TRUE(sender->transport()
                  .connect(spec_of(0),
                           encode_address({.ip = "127.0.0.1", .port = port, .key = spec_of(0).key}))
                  .has_value());
  until([&] { return sender->has(Kind::failed); });
  EXPECT_EQ(sender->reason(), "connection refused");
}

TEST_F(TcpTransportTest, APeerThatAcceptsAndNeverAnswersTimesOut) {
  make();
  auto listener = listen_on("127.0.0.1", {}).value();
  const auto port = Endpoint::of_socket(listener.get())->port();
  ASSERT_TRUE(sender->transport()
                  .connect(spec_of(0),
                           encode_address({.ip = "127.0.0.1", .port = port, .key = spec_of(0).key}))
                  .has_value());
  until([&] { return sender->transport().wakeup().deadline > clock_now(); });
  for (int i = 0; i < 10; ++i) sender->poll();
  sender->poll(clock_now() + std::chrono::seconds{6});
  ASSERT_TRUE(sender->has(Kind::failed));
  EXPECT_THAT(std::string(sender->reason()), testing::HasSubstr("in time"));
  EXPECT_EQ(sender->seen.back().error_number, 0) << "no packets were dropped";
}

TEST_F(TcpTransportTest, AResetInTheMiddleOfAMessageFailsTheReceiver) {
  auto small = options();
  small.send_buffer_bytes = 4096;
  make(small);
  link();
  sender->send(0, 0, 4U << 20);
  until([&] { return receiver->transport().statistics().payload_copied > 0; });
  sender->transport().abort(ConnectionIndex{0});
  until([&] { return receiver->has(Kind::failed); });
  EXPECT_EQ(receiver->reason(), "connection reset by peer");
  EXPECT_FALSE(receiver->has(Kind::received));
}

TEST_F(TcpTransportTest, AReceiverThatGoesAwayFailsTheSender) {
  make();
  link();
  receiver->transport().abort(ConnectionIndex{0});
  until([&] { return sender->has(Kind::failed); });
  EXPECT_EQ(sender->reason(), "connection reset by peer");
  sender->send(0, 0, 100);  // taken and dropped
  for (int i = 0; i < 10; ++i) sender->poll();
  EXPECT_FALSE(sender->has(Kind::sent));
}

TEST_F(TcpTransportTest, AbortDropsWhatIsQueued) {
  // The receiver does not read: bytes lie in the sender's socket buffer when it aborts.
  auto wide = options();
  wide.send_buffer_bytes = 2U << 20;
  auto narrow = options();
  narrow.receive_buffer_bytes = 4096;
  make(wide, narrow);
  link();
  sender->send(0, 0, 1U << 20);
  while (!sender->has(Kind::sent)) sender->poll();
  sender->transport().abort(ConnectionIndex{0});
  until([&] { return receiver->has(Kind::failed); });
  EXPECT_LT(receiver->transport().statistics().payload_copied, 256U << 10);
  for (int i = 0; i < 10; ++i) sender->poll();
  EXPECT_FALSE(sender->has(Kind::failed));
}

TEST_F(TcpTransportTest, AHeaderOutOfStepFailsTheConnection) {
  make();
  const auto spec = spec_of(0);
  const auto address = receiver->transport().open(spec).value();
  auto forged = dial(address);
  const Hello hello = encode_hello(spec.key, make_proofs(options().token, spec.key).hello);
  until([&] { return ::send(forged.get(), hello.data(), hello.size(), MSG_NOSIGNAL) > 0; });
  until([&] { return receiver->has(Kind::connected); });
  const std::array<std::uint64_t, 2> header{0, std::uint64_t{1} << 60};
  ASSERT_EQ(::send(forged.get(), header.data(), sizeof header, MSG_NOSIGNAL), 16);
  until([&] { return receiver->has(Kind::failed); });
  EXPECT_THAT(std::string(receiver->reason()), testing::HasSubstr("out of step"));
}

TEST_F(TcpTransportTest, AnUnknownCongestionControlIsAClearError) {
  auto given = options();
  given.congestion_control = "nosuch";
  make(given, given);
  const auto opened = receiver->transport().open(spec_of(0));
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().text(), testing::HasSubstr("nosuch"));
}

TEST_F(TcpTransportTest, TheCongestionControlInUseIsRecorded) {
  auto given = options();
  given.congestion_control = "reno";
  make(given, given);
  link();
  EXPECT_EQ(sender->transport().statistics().congestion_control, "reno");
  EXPECT_EQ(receiver->transport().statistics().congestion_control, "reno");
}

TEST_F(TcpTransportTest, ConnectionsDoNotBlockOneAnother) {
  make();
  link(spec_of(0, 0, 1));
  link(spec_of(1, 1, 1));
  sender->send(0, 0, 10);
  until([&] { return sender->count(Kind::credit) == 1; });
  sender->send(0, 1, 10);  // held back: the receiver does not release the first
  sender->send(1, 0, 1'000'000);
  until([&] { return receiver->count(Kind::received) == 2; });
  EXPECT_EQ(receiver->seen.back().connection, ConnectionIndex{1});
}

}  // namespace
}  // namespace rehearsal::tcp

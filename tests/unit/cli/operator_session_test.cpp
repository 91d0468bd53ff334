#include "cli/operator_session.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "core/protocol/codec.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::cli {
namespace {

using protocol::Envelope;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

Instant in(Duration duration) { return std::chrono::steady_clock::now() + duration; }

Envelope welcome(Duration silence_limit = seconds{60}) {
  Envelope message;
  message.mutable_welcome()->set_version(1);
  message.mutable_welcome()->set_software("rehearsald test");
  message.mutable_welcome()->set_heartbeat_interval_ns(5'000'000);
  message.mutable_welcome()->set_silence_limit_ns(
      static_cast<std::uint64_t>(silence_limit.count()));
  return message;
}

/// A coordinator of a few lines: takes one connection on a free port of 127.0.0.1 and plays a
/// script on a thread of its own.
class FakeCoordinator {
 public:
  explicit FakeCoordinator(std::function<void(FakeCoordinator&)> script) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    bind(listener_, generic, size);
    listen(listener_, 1);
    getsockname(listener_, generic, &size);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread{[this, script = std::move(script)] {
      connection_ = accept(listener_, nullptr, nullptr);
      if (connection_ < 0) return;
      script(*this);
      while (receive()) continue;  // until the other side closes
      close(connection_);
    }};
  }
  ~FakeCoordinator() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }

  const std::string& address() const { return address_; }
  void send(const Envelope& message) { send_raw(protocol::frame(protocol::encode(message))); }
  void send_raw(const std::string& bytes) {
    EXPECT_EQ(::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  /// The next message; nothing when the other side has closed.
  std::optional<Envelope> receive() {
    while (true) {
      if (const auto payload = decoder_.next()) return *protocol::decode(*payload);
      char buffer[4096];
      const ssize_t count = recv(connection_, buffer, sizeof buffer, 0);
      if (count <= 0) return std::nullopt;
      if (!decoder_.feed({buffer, static_cast<std::size_t>(count)})) return std::nullopt;
    }
  }
  void hang_up() { shutdown(connection_, SHUT_RDWR); }

 private:
  int listener_ = -1;
  int connection_ = -1;
  std::string address_;
  protocol::FrameDecoder decoder_;
  std::thread thread_;
};

TEST(OperatorSession, SaysWhoItIsAndIsWelcomed) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    const auto hello = self.receive();
    ASSERT_TRUE(hello && hello->has_hello());
    EXPECT_EQ(hello->hello().role(), protocol::ROLE_OPERATOR);
    EXPECT_EQ(hello->hello().version_min(), protocol::kVersionMin);
    EXPECT_EQ(hello->hello().version_max(), protocol::kVersionMax);
    EXPECT_THAT(hello->hello().software(), HasSubstr("rehearse "));
    self.send(welcome());
  }};
  const auto session = OperatorSession::open(coordinator.address());
  ASSERT_TRUE(session) << session.error().text();
  EXPECT_EQ(session->coordinator_software(), "rehearsald test");
}

TEST(OperatorSession, NobodyThereSaysWhatToDo) {
  // The port of a coordinator that was just there.
  const std::string address = FakeCoordinator{[](FakeCoordinator&) {}}.address();
  const auto session = OperatorSession::open(address);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::disconnected);
  EXPECT_THAT(session.error().text(), HasSubstr("no coordinator at " + address));
  EXPECT_THAT(session.error().text(), HasSubstr("--coordinator HOST:PORT"));
}

TEST(OperatorSession, AnAddressThatIsNoneIsWrongInput) {
  for (const char* address : {"", "host", "host:", "host:x", "host:70000", "127.0.0.1:0"}) {
    const auto session = OperatorSession::open(address);
    ASSERT_FALSE(session) << address;
    EXPECT_EQ(session.error().code, ErrorCode::invalid_input) << address;
  }
}

TEST(OperatorSession, ARefusalIsAnErrorWithItsReason) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    self.receive();
    Envelope message;
    message.mutable_refused()->set_reason("speaks versions 2 to 3: upgrade rehearse");
    self.send(message);
  }};
  const auto session = OperatorSession::open(coordinator.address());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().code, ErrorCode::refused);
  EXPECT_THAT(session.error().text(), HasSubstr("upgrade rehearse"));
}

TEST(OperatorSession, AFailureKeepsItsCode) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    self.receive();
    self.send(welcome());
    Envelope message;
    message.mutable_failure()->set_code("not_found");
    message.mutable_failure()->set_message("drill.yaml:3: no host 'h9'");
    self.send(message);
  }};
  auto session = OperatorSession::open(coordinator.address());
  ASSERT_TRUE(session) << session.error().text();
  const auto message = session->receive(in(seconds{20}), "a plan");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, ErrorCode::not_found);
  EXPECT_EQ(message.error().message, "drill.yaml:3: no host 'h9'");
}

TEST(OperatorSession, ADeadlineNamesWhatWasAwaited) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    self.receive();
    self.send(welcome());
  }};
  auto session = OperatorSession::open(coordinator.address());
  ASSERT_TRUE(session) << session.error().text();
  const auto message = session->receive(in(milliseconds{20}), "a plan");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, ErrorCode::timed_out);
  EXPECT_THAT(message.error().message, HasSubstr("did not send a plan in time"));
}

TEST(OperatorSession, KeepsTheConnectionAliveWhileItWaits) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    self.receive();
    self.send(welcome());
    for (int i = 0; i < 3; ++i) {
      const auto message = self.receive();
      EXPECT_TRUE(message && message->has_heartbeat());
      self.send(*message);
    }
    Envelope done;
    done.mutable_stop_reply()->set_run("r1");
    self.send(done);
  }};
  auto session = OperatorSession::open(coordinator.address());
  ASSERT_TRUE(session) << session.error().text();
  const auto message = session->expect(Envelope::kStopReply, seconds{20}, "a reply");
  ASSERT_TRUE(message) << message.error().text();
  EXPECT_EQ(message->stop_reply().run(), "r1");
}

TEST(OperatorSession, ASilentCoordinatorIsGone) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    self.receive();
    self.send(welcome(milliseconds{50}));
  }};
  auto session = OperatorSession::open(coordinator.address());
  ASSERT_TRUE(session) << session.error().text();
  const auto message = session->receive(in(seconds{20}), "a plan");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, ErrorCode::disconnected);
  EXPECT_THAT(message.error().message, HasSubstr("silent for"));
}

TEST(OperatorSession, ALostConnectionEndsTheWait) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    self.receive();
    self.send(welcome());
    self.hang_up();
  }};
  auto session = OperatorSession::open(coordinator.address());
  ASSERT_TRUE(session) << session.error().text();
  const auto message = session->receive(in(seconds{20}), "a plan");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, ErrorCode::disconnected);
}

TEST(OperatorSession, AFrameOverTheCapEndsTheSession) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    self.receive();
    self.send(welcome());
    self.send_raw("\xff\xff\xff\xff");
  }};
  auto session = OperatorSession::open(coordinator.address());
  ASSERT_TRUE(session) << session.error().text();
  const auto message = session->receive(in(seconds{20}), "a plan");
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, ErrorCode::disconnected);
}

TEST(OperatorSession, AnInterruptEndsTheWaitAndTheSessionGoesOn) {
  FakeCoordinator coordinator{[](FakeCoordinator& self) {
    self.receive();
    self.send(welcome());
    while (const auto message = self.receive()) {
      if (!message->has_stop_request()) continue;
      Envelope reply;
      reply.mutable_stop_reply()->set_run(message->stop_request().run());
      self.send(reply);
    }
  }};
  Interrupts interrupts;
  auto session = OperatorSession::open(coordinator.address());
  ASSERT_TRUE(session) << session.error().text();
  session->watch(interrupts);
  raise(SIGINT);
  const auto nothing = session->receive(in(seconds{20}), "a plan");
  ASSERT_TRUE(nothing) << nothing.error().text();
  EXPECT_FALSE(nothing->has_value());
  EXPECT_TRUE(interrupts.requested());

  Envelope stop;
  stop.mutable_stop_request()->set_run("r7");
  ASSERT_TRUE(session->send(stop));
  const auto reply = session->receive(in(seconds{20}), "a reply");
  ASSERT_TRUE(reply && reply->has_value());
  EXPECT_EQ((*reply)->stop_reply().run(), "r7");
}

}  // namespace
}  // namespace rehearsal::cli

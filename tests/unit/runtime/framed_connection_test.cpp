#include "runtime/framed_connection.hpp"

#include <gmock/gmock.h>

#include <asio/read.hpp>
#include <optional>
#include <vector>

#include "core/base/random.hpp"
#include "core/protocol/frame.hpp"
#include "tests/support/loop.hpp"

namespace rehearsal::runtime {
namespace {

using rehearsal::test::run_until;
using testing::HasSubstr;

/// What one end of a connection heard.
struct Heard {
  std::vector<std::string> frames;
  std::optional<std::string> closed;

  FramedConnection::Handlers handlers() {
    return {.on_frame = [this](std::string payload) { frames.push_back(std::move(payload)); },
            .on_closed =
                [this](std::string reason) {
                  EXPECT_FALSE(closed) << "closed twice";
                  closed = std::move(reason);
                }};
  }
};

/// Two connected sockets on loopback; one end is a FramedConnection, the other is bare.
class FramedConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    asio::ip::tcp::acceptor acceptor(context_, {asio::ip::make_address("127.0.0.1"), 0});
    bare_.connect(acceptor.local_endpoint());
    accepted_.emplace(acceptor.accept());
  }

  std::shared_ptr<FramedConnection> start(FramedConnectionOptions options = {}) {
    auto connection = FramedConnection::create(tcp_stream(std::move(*accepted_)), options);
    connection->start(heard_.handlers());
    return connection;
  }

  void write(std::string_view bytes) { asio::write(bare_, asio::buffer(bytes)); }

  asio::io_context context_;
  asio::ip::tcp::socket bare_{context_};
  std::optional<asio::ip::tcp::socket> accepted_;
  Heard heard_;
};

TEST_F(FramedConnectionTest, FramesArriveWholeHoweverTheyAreCut) {
  constexpr std::uint64_t kSeed = 7;
  RecordProperty("seed", std::to_string(kSeed));
  Random random(kSeed);
  std::vector<std::string> sent = {"", "a", std::string(200'000, 'b'), "c"};
  std::string bytes;
  for (const auto& payload : sent) bytes += protocol::frame(payload);
  start();
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const std::size_t size = std::min<std::size_t>(rest.size(), random.between(1, 9'000));
    write(rest.substr(0, size));
    rest.remove_prefix(size);
    context_.restart();
    context_.poll();
  }
  run_until(context_, [&] { return heard_.frames.size() == sent.size(); });
  EXPECT_EQ(heard_.frames, sent);
  EXPECT_FALSE(heard_.closed);
}

TEST_F(FramedConnectionTest, TooLargeAnAnnouncementEndsTheSessionBeforeItsBytesAreKept) {
  start();
  write(std::string("\xFF\xFF\xFF\xFF", 4));
  run_until(context_, [&] { return heard_.closed.has_value(); });
  EXPECT_THAT(*heard_.closed, HasSubstr("announces more than"));
  EXPECT_TRUE(heard_.frames.empty());
}

TEST_F(FramedConnectionTest, TooLargeASecondFrameEndsTheSessionWithoutWaitingForMore) {
  start();
  write(protocol::frame("first") + std::string("\x7F\0\0\0", 4));
  run_until(context_, [&] { return heard_.closed.has_value(); });
  EXPECT_THAT(heard_.frames, testing::ElementsAre("first"));
  EXPECT_THAT(*heard_.closed, HasSubstr("announces more than"));
}

TEST_F(FramedConnectionTest, APeerThatReadsTooSlowlyIsClosedNotWaitedFor) {
  const auto connection = start({.queue_max = Bytes{8U << 20}});
  const std::string payload(1U << 20, 'x');
  int taken = 0;
  while (connection->send(payload)) {
    ASSERT_LT(++taken, 1000);
    context_.restart();
    context_.poll();
    EXPECT_LE(connection->queued(), Bytes{8U << 20});
  }
  EXPECT_GE(taken, 7);
  EXPECT_FALSE(heard_.closed) << "never from inside send()";
  run_until(context_, [&] { return heard_.closed.has_value(); });
  EXPECT_THAT(*heard_.closed, HasSubstr("reads too slowly"));
  EXPECT_FALSE(connection->send("more"));
}

TEST_F(FramedConnectionTest, ThePeersEndIsSaid) {
  start();
  bare_.close();
  run_until(context_, [&] { return heard_.closed.has_value(); });
  EXPECT_EQ(*heard_.closed, "closed by the peer");
}

TEST_F(FramedConnectionTest, ClosingHandsOverWhatIsQueued) {
  const auto connection = start();
  EXPECT_TRUE(connection->send("last words"));
  connection->close("done");
  EXPECT_FALSE(connection->send("too late"));
  run_until(context_, [&] { return heard_.closed.has_value(); });
  EXPECT_EQ(*heard_.closed, "done");
  std::string received(64, '\0');
  asio::error_code error;
  received.resize(asio::read(bare_, asio::buffer(received), error));
  EXPECT_EQ(error, asio::error::eof);
  EXPECT_EQ(received, protocol::frame("last words"));
}

TEST_F(FramedConnectionTest, ClosingDoesNotWaitForeverForAPeerThatDoesNotRead) {
  const auto connection = start({.linger = std::chrono::milliseconds{20}});
  while (connection->queued() < Bytes{16U << 20}) {
    ASSERT_TRUE(connection->send(std::string(1U << 20, 'x')));
  }
  connection->close("done");
  run_until(context_, [&] { return heard_.closed.has_value(); });
  EXPECT_EQ(*heard_.closed, "done");
}

TEST_F(FramedConnectionTest, NothingIsHeardAfterClosing) {
  const auto connection = start();
  write(protocol::frame("one"));
  run_until(context_, [&] { return heard_.frames.size() == 1; });
  EXPECT_TRUE(connection->send(std::string(32U << 20, 'x').substr(0, 1)));
  connection->close("done");
  write(protocol::frame("two"));
  run_until(context_, [&] { return heard_.closed.has_value(); });
  context_.restart();
  context_.poll();
  EXPECT_EQ(heard_.frames.size(), 1U);
}

TEST_F(FramedConnectionTest, AHandlerMayCloseWhileMoreFramesAreAtHand) {
  auto connection = FramedConnection::create(tcp_stream(std::move(*accepted_)));
  auto handlers = heard_.handlers();
  handlers.on_frame = [&](std::string payload) {
    heard_.frames.push_back(std::move(payload));
    connection->abort("enough");
  };
  connection->start(std::move(handlers));
  write(protocol::frame("one") + protocol::frame("two"));
  run_until(context_, [&] { return heard_.closed.has_value(); });
  EXPECT_THAT(heard_.frames, testing::ElementsAre("one"));
  EXPECT_EQ(*heard_.closed, "enough");
}

}  // namespace
}  // namespace rehearsal::runtime

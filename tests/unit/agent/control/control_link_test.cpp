#include "agent/control/control_link.hpp"

#include <gmock/gmock.h>

#include <optional>

#include "runtime/clock.hpp"
#include "tests/support/frame_peer.hpp"
#include "tests/support/loop.hpp"

namespace rehearsal::agent {
namespace {

using protocol::Envelope;
using rehearsal::test::FramePeer;
using rehearsal::test::run_until;
using testing::ElementsAre;
using testing::HasSubstr;

Envelope heartbeat() {
  Envelope envelope;
  envelope.mutable_heartbeat();
  return envelope;
}

/// A link and the coordinator's door, which the test opens and closes.
class ControlLinkTest : public testing::Test {
 protected:
  ControlLinkTest() { open_door(0); }

  void open_door(std::uint16_t port) {
    door_.emplace(context_, asio::ip::tcp::endpoint{asio::ip::make_address("127.0.0.1"), port});
    port_ = door_->local_endpoint().port();
  }

  ControlLink& link(Duration connect_limit = std::chrono::seconds{3},
                    const std::string& address = "127.0.0.1") {
    link_.emplace(
        context_,
        ControlLinkOptions{.coordinator = {address, port_}, .connect_limit = connect_limit},
        ControlLinkHandlers{
            .on_up = [this] { heard_.push_back("up"); },
            .on_message =
                [this](Envelope message) {
                  heard_.emplace_back(protocol::message_name(message.message_case()));
                },
            .on_down = [this](std::string reason) { heard_.push_back("down: " + reason); },
        });
    return *link_;
  }

  void run_until_heard(std::size_t count) {
    run_until(context_, [&] { return heard_.size() >= count; });
  }

  std::unique_ptr<FramePeer> accept() { return std::make_unique<FramePeer>(door_->accept()); }

  asio::io_context context_;
  std::optional<asio::ip::tcp::acceptor> door_;
  std::uint16_t port_ = 0;
  std::vector<std::string> heard_;
  std::optional<ControlLink> link_;
};

TEST_F(ControlLinkTest, ComesUpCarriesMessagesAndGoesDown) {
  link().connect_at(runtime::now());
  run_until_heard(1);
  const auto coordinator = accept();
  coordinator->send(heartbeat());
  run_until_heard(2);
  EXPECT_TRUE(link_->send(heartbeat()));
  run_until(context_, [&] { return coordinator->received().size() == 1; });
  coordinator->close();
  run_until_heard(3);
  EXPECT_THAT(heard_, ElementsAre("up", "heartbeat", "down: closed by the peer"));
  EXPECT_FALSE(link_->send(heartbeat()));
}

TEST_F(ControlLinkTest, ANamedCoordinatorIsLookedUp) {
  link(std::chrono::seconds{10}, "localhost").connect_at(runtime::now());
  run_until_heard(1);
  EXPECT_EQ(heard_[0], "up");
}

TEST_F(ControlLinkTest, ARefusedAttemptIsSaidAndALaterOneSucceeds) {
  door_.reset();
  link().connect_at(runtime::now());
  run_until_heard(1);
  EXPECT_THAT(heard_[0], HasSubstr("down: Connection refused"));
  open_door(port_);
  link_->connect_at(runtime::now() + std::chrono::milliseconds{1});
  run_until_heard(2);
  EXPECT_EQ(heard_[1], "up");
}

TEST_F(ControlLinkTest, NoAnswerIsADeadlineNotAHang) {
  // The listening queue is full: the kernel drops further handshakes.
  door_.emplace(context_, asio::ip::tcp::v4());
  door_->bind({asio::ip::make_address("127.0.0.1"), 0});
  door_->listen(0);
  port_ = door_->local_endpoint().port();
  std::vector<asio::ip::tcp::socket> waiting;
  waiting.reserve(4);
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back(context_).async_connect({asio::ip::make_address("127.0.0.1"), port_},
                                                 [](const asio::error_code&) {});
  }
  link(std::chrono::milliseconds{50}).connect_at(runtime::now());
  run_until_heard(1);
  EXPECT_THAT(heard_[0], HasSubstr("no answer within 50ms"));
}

TEST_F(ControlLinkTest, NothingIsHeardAfterClosing) {
  link().connect_at(runtime::now());
  run_until_heard(1);
  const auto coordinator = accept();
  EXPECT_TRUE(link_->send(heartbeat()));
  link_->close("silent for too long");
  run_until(context_, [&] { return coordinator->ended(); });
  EXPECT_EQ(coordinator->received().size(), 1U) << "what was queued still went out";
  EXPECT_THAT(heard_, ElementsAre("up"));
}

TEST_F(ControlLinkTest, ANewAttemptReplacesTheOldOne) {
  link().connect_at(runtime::now() + std::chrono::hours{1});
  link_->connect_at(runtime::now());
  run_until_heard(1);
  const auto first = accept();
  link_->connect_at(runtime::now());
  run_until_heard(2);
  run_until(context_, [&] { return first->ended(); });
  EXPECT_THAT(heard_, ElementsAre("up", "up"));
}

TEST_F(ControlLinkTest, RubbishEndsTheLink) {
  link().connect_at(runtime::now());
  run_until_heard(1);
  const auto coordinator = accept();
  coordinator->write(protocol::frame("no protobuf at all"));
  run_until_heard(2);
  EXPECT_THAT(heard_[1], HasSubstr("no message of ours"));
}

}  // namespace
}  // namespace rehearsal::agent

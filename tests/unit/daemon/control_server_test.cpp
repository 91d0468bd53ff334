#include "daemon/control_server.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <optional>

#include "runtime/clock.hpp"
#include "tests/support/frame_peer.hpp"
#include "tests/support/loop.hpp"

namespace rehearsal::daemon {
namespace {

using coordination::Action;
using coordination::Event;
using coordination::SessionId;
using protocol::Envelope;
using rehearsal::test::FramePeer;
using rehearsal::test::run_until;
using testing::HasSubstr;

/// A coordinator that writes down what happens and does what the test has laid ready.
struct FakeCoordinator {
  std::vector<Event> events;
  std::deque<std::vector<Action>> answers;  ///< one an event, in order; none left: nothing
  Instant deadline = kNever;

  CoordinatorPort port() {
    return {.on = [this](const Event& event, Instant now) -> std::vector<Action> {
              events.push_back(event);
              if (std::holds_alternative<coordination::Tick>(event)) {
                EXPECT_GE(now, deadline);
                deadline = kNever;
              }
              if (answers.empty()) return {};
              auto actions = std::move(answers.front());
              answers.pop_front();
              return actions;
            },
            .next_deadline = [this] { return deadline; }};
  }

  template <typename What>
  const What* last() const {
    return events.empty() ? nullptr : std::get_if<What>(&events.back());
  }
};

Envelope heartbeat() {
  Envelope envelope;
  envelope.mutable_heartbeat();
  return envelope;
}

class ControlServerTest : public testing::Test {
 protected:
  void start(ControlServerOptions options = {}) {
    options.listen = {"127.0.0.1", 0};
    auto server = ControlServer::start(
        context_, options,
        {.coordinator = coordinator_.port(),
         .store = [this](coordination::StoreRun run) { stored_.push_back(std::move(run)); },
         .on_handled = [this](Duration) { ++handled_; }});
    ASSERT_TRUE(server) << server.error().text();
    server_ = std::move(*server);
  }

  std::unique_ptr<FramePeer> connect() {
    asio::ip::tcp::socket socket(context_);
    socket.connect({asio::ip::make_address("127.0.0.1"), server_->listening().port});
    return std::make_unique<FramePeer>(std::move(socket));
  }

  void run_until_events(std::size_t count) {
    run_until(context_, [&] { return coordinator_.events.size() >= count; });
  }

  asio::io_context context_;
  FakeCoordinator coordinator_;
  std::vector<coordination::StoreRun> stored_;
  int handled_ = 0;
  std::unique_ptr<ControlServer> server_;
};

TEST_F(ControlServerTest, ASessionIsOpenedHeardAndEnds) {
  start();
  const auto peer = connect();
  run_until_events(1);
  const auto* opened = coordinator_.last<coordination::SessionOpened>();
  ASSERT_NE(opened, nullptr);
  EXPECT_THAT(opened->peer, HasSubstr("127.0.0.1:"));
  const SessionId session = opened->session;

  peer->send(heartbeat());
  run_until_events(2);
  const auto* heard = coordinator_.last<coordination::MessageReceived>();
  ASSERT_NE(heard, nullptr);
  EXPECT_EQ(heard->session, session);
  EXPECT_TRUE(heard->message.has_heartbeat());
  EXPECT_EQ(server_->counters().sessions, 1U);

  peer->close();
  run_until_events(3);
  const auto* closed = coordinator_.last<coordination::SessionClosed>();
  ASSERT_NE(closed, nullptr);
  EXPECT_EQ(closed->session, session);
  EXPECT_EQ(server_->counters().sessions, 0U);
  EXPECT_EQ(handled_, 3);
}

TEST_F(ControlServerTest, SessionsAreNeverMixedUp) {
  start();
  const auto first = connect();
  run_until_events(1);
  const auto second = connect();
  run_until_events(2);
  const SessionId one = std::get<coordination::SessionOpened>(coordinator_.events[0]).session;
  const SessionId two = std::get<coordination::SessionOpened>(coordinator_.events[1]).session;
  EXPECT_NE(one, two);
  coordinator_.answers.push_back({coordination::Send{two, heartbeat()}});
  first->send(heartbeat());
  run_until(context_, [&] { return second->received().size() == 1; });
  EXPECT_TRUE(first->received().empty());
}

TEST_F(ControlServerTest, ClosingSendsWhatIsQueuedAndIsNotReported) {
  start();
  const auto peer = connect();
  run_until_events(1);
  const SessionId session = std::get<coordination::SessionOpened>(coordinator_.events[0]).session;
  Envelope refused;
  refused.mutable_refused()->set_reason("too old");
  coordinator_.answers.push_back({coordination::Send{session, refused},
                                  coordination::Close{session, "too old"},
                                  coordination::Send{session, heartbeat()}});
  peer->send(heartbeat());
  run_until(context_, [&] { return peer->ended(); });
  ASSERT_EQ(peer->received().size(), 1U);
  EXPECT_EQ(peer->received()[0].refused().reason(), "too old");
  context_.restart();
  context_.poll();
  EXPECT_EQ(coordinator_.events.size(), 2U) << "the coordinator has forgotten the session";
}

TEST_F(ControlServerTest, RubbishEndsTheSessionAndIsCounted) {
  start();
  const auto peer = connect();
  peer->write(protocol::frame("no protobuf at all"));
  run_until(context_, [&] { return coordinator_.last<coordination::SessionClosed>() != nullptr; });
  EXPECT_EQ(server_->counters().protocol_errors, 1U);
  EXPECT_EQ(server_->counters().messages_received, 0U);
}

TEST_F(ControlServerTest, TimeIsTold) {
  coordinator_.deadline = runtime::now() + std::chrono::milliseconds{5};
  start();
  run_until_events(1);
  EXPECT_NE(coordinator_.last<coordination::Tick>(), nullptr);
}

TEST_F(ControlServerTest, ADeadlineThatMovesIsKept) {
  coordinator_.deadline = runtime::now() + std::chrono::hours{1};
  start();
  coordinator_.deadline = runtime::now() + std::chrono::milliseconds{5};
  const auto peer = connect();
  run_until_events(2);
  EXPECT_NE(coordinator_.last<coordination::Tick>(), nullptr);
}

TEST_F(ControlServerTest, RunsGoToTheStore) {
  start();
  coordinator_.answers.push_back(
      {coordination::StoreRun{.run = "run1", .files = {{"summary.json", "{}"}}}});
  const auto peer = connect();
  run_until_events(1);
  ASSERT_EQ(stored_.size(), 1U);
  EXPECT_EQ(stored_[0].run, "run1");
}

TEST_F(ControlServerTest, TooManySessionsAreTurnedAway) {
  start({.listen = {}, .sessions_max = 1});
  const auto first = connect();
  run_until_events(1);
  const auto second = connect();
  run_until(context_, [&] { return second->ended(); });
  EXPECT_EQ(server_->counters().sessions_refused, 1U);
  EXPECT_EQ(coordinator_.events.size(), 1U);
}

TEST_F(ControlServerTest, TheDoorClosesThoseInsideStay) {
  start();
  const auto inside = connect();
  run_until_events(1);
  server_->refuse_new();
  asio::ip::tcp::socket late(context_);
  asio::error_code error;
  late.connect({asio::ip::make_address("127.0.0.1"), server_->listening().port}, error);
  EXPECT_TRUE(error);
  inside->send(heartbeat());
  run_until_events(2);
  server_->close_all("the coordinator stops");
  run_until(context_, [&] { return inside->ended(); });
  EXPECT_EQ(coordinator_.events.size(), 2U);
}

TEST_F(ControlServerTest, AnAddressInUseOrWrongIsAnError) {
  start();
  const auto second = ControlServer::start(context_, {.listen = server_->listening()},
                                           {.coordinator = coordinator_.port(), .store = {}});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text(), HasSubstr("cannot listen on 127.0.0.1:"));
  const auto named = ControlServer::start(context_, {.listen = {"head-node", 0}},
                                          {.coordinator = coordinator_.port(), .store = {}});
  ASSERT_FALSE(named);
  EXPECT_THAT(named.error().text(), HasSubstr("right would be"));
}

}  // namespace
}  // namespace rehearsal::daemon

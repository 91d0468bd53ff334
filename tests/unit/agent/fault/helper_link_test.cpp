#include "agent/fault/helper_link.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <vector>

#include "tests/support/loop.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

using rehearsal::test::run_until;
using testing::HasSubstr;

/// The helper's end of the socket, played by hand.
class HelperDoor {
 public:
  explicit HelperDoor(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    door_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(door_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(door_, 4), 0);
  }
  ~HelperDoor() {
    hang_up();
    ::close(door_);
  }

  void hang_up() {
    if (peer_ >= 0) ::close(peer_);
    peer_ = -1;
  }
  /// The next request, if there is one.
  std::optional<fault::HelperRequest> take() {
    if (peer_ < 0) peer_ = ::accept4(door_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (peer_ < 0) return std::nullopt;
    std::vector<char> buffer(fault::kMessageBytesMax);
    const ssize_t size = ::recv(peer_, buffer.data(), buffer.size(), 0);
    if (size <= 0) {
      gone_ = size == 0;
      return std::nullopt;
    }
    const auto request = fault::decode_request({buffer.data(), static_cast<std::size_t>(size)});
    EXPECT_TRUE(request);
    return *request;
  }
  void reply(const fault::HelperReply& reply) {
    const std::string bytes = fault::encode(reply);
    EXPECT_EQ(::send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void say(const std::string& bytes) {
    EXPECT_EQ(::send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  bool agent_is_gone() {
    take();
    return gone_;
  }

 private:
  int door_ = -1;
  int peer_ = -1;
  bool gone_ = false;
};

class HelperLinkTest : public testing::Test {
 protected:
  void start(Duration greeting_patience = fault::kGreetingPatience) {
    link_.emplace(context_, path_,
                  HelperLinkHandlers{
                      .on_up = [this](fault::WelcomeReply) { told_.emplace_back("up"); },
                      .on_answer =
                          [this](std::uint64_t ticket, fault::HelperReply reply) {
                            told_.push_back("answer " + std::to_string(ticket) + " " +
                                            std::to_string(reply.index()));
                          },
                      .on_down = [this](std::string reason) { told_.push_back("down " + reason); }},
                  greeting_patience);
    link_->start();
  }
  void wait_for_told(std::size_t count) {
    run_until(context_, [&] { return told_.size() >= count; });
  }
  fault::HelperRequest wait_for_request(HelperDoor& door) {
    std::optional<fault::HelperRequest> request;
    run_until(context_, [&] { return (request = door.take()).has_value(); });
    return request.value_or(fault::HelloRequest{});
  }
  void get_up(HelperDoor& door) {
    start();
    EXPECT_TRUE(std::holds_alternative<fault::HelloRequest>(wait_for_request(door)));
    door.reply(fault::WelcomeReply{});
    wait_for_told(1);
  }

  asio::io_context context_;
  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "socket";
  std::vector<std::string> told_;
  std::optional<HelperLink> link_;
};

TEST_F(HelperLinkTest, BeginsWithHelloAndAsksOneAfterTheOther) {
  HelperDoor door(path_);
  get_up(door);
  EXPECT_EQ(told_.back(), "up");
  link_->ask(7, fault::ListRequest{});
  link_->ask(8, fault::UndoRequest{});
  EXPECT_TRUE(std::holds_alternative<fault::ListRequest>(wait_for_request(door)));
  EXPECT_FALSE(door.take()) << "the second waits for the first one's answer";
  door.reply(fault::ListReply{});
  EXPECT_TRUE(std::holds_alternative<fault::UndoRequest>(wait_for_request(door)));
  door.reply(fault::RefusedReply{});
  wait_for_told(3);
  EXPECT_THAT(told_, testing::ElementsAre("up", "answer 7 4", "answer 8 5"));
}

TEST_F(HelperLinkTest, AHelperThatIsNotThereIsFoundWhenItComes) {
  start();
  wait_for_told(1);
  EXPECT_THAT(told_[0], HasSubstr("down no helper listens on"));
  HelperDoor door(path_);
  wait_for_request(door);  // a second later
  door.reply(fault::WelcomeReply{});
  wait_for_told(2);
  EXPECT_EQ(told_[1], "up") << "the same reason is told once";
}

TEST_F(HelperLinkTest, AHelperThatGoesIsToldAndFoundAgain) {
  HelperDoor door(path_);
  get_up(door);
  link_->ask(7, fault::ListRequest{});
  wait_for_request(door);
  door.hang_up();
  wait_for_told(2);
  EXPECT_THAT(told_[1], HasSubstr("the helper closed the connection"));
  wait_for_request(door);
  door.reply(fault::WelcomeReply{});
  wait_for_told(3);
  EXPECT_EQ(told_[2], "up");
}

TEST_F(HelperLinkTest, AWelcomeIsWaitedForAsLongAsItIsTold) {
  HelperDoor door(path_);
  start(std::chrono::milliseconds{50});
  wait_for_told(1);
  EXPECT_EQ(told_[0], "down no answer within 50ms");
}

TEST_F(HelperLinkTest, ARefusalOfHelloIsWhyThereIsNone) {
  HelperDoor door(path_);
  start();
  wait_for_request(door);
  door.reply(fault::RefusedReply{ErrorCode::refused, "user 7 may not ask"});
  wait_for_told(1);
  EXPECT_THAT(told_[0], HasSubstr("user 7 may not ask"));
}

TEST_F(HelperLinkTest, NoiseEndsTheConnection) {
  HelperDoor door(path_);
  get_up(door);
  door.say("\xff\xff");
  wait_for_told(2);
  EXPECT_THAT(told_[1], HasSubstr("cannot be read"));
}

TEST_F(HelperLinkTest, WhoIsDroppedIsClosedAndTriedAgain) {
  HelperDoor door(path_);
  get_up(door);
  link_->drop("it does not undo");
  wait_for_told(2);
  EXPECT_EQ(told_[1], "down it does not undo");
  EXPECT_TRUE(door.agent_is_gone());
}

TEST_F(HelperLinkTest, ItsEndClosesTheConnection) {
  HelperDoor door(path_);
  get_up(door);
  link_.reset();
  EXPECT_TRUE(door.agent_is_gone());
  context_.restart();
  context_.run_for(std::chrono::milliseconds{1});
  EXPECT_EQ(told_.size(), 1U);
}

}  // namespace
}  // namespace rehearsal::agent

#include "agent/fault/commands.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "agent/fault/local_address.hpp"
#include "runtime/exit_status.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

/// A program that keeps faults, for one connection: a welcome, then how its faults were undone.
class Door {
 public:
  Door(const std::filesystem::path& path, fault::UndoneReply undone)
      : undone_(std::move(undone)), listener_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = local_address(path).value();
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    thread_ = std::thread([this] { serve(); });
  }
  ~Door() {
    ::shutdown(listener_, SHUT_RDWR);  // where nobody came
    thread_.join();
    ::close(listener_);
  }

 private:
  void serve() const {
    const int peer = ::accept(listener_, nullptr, nullptr);
    if (peer < 0) return;
    std::vector<char> buffer(fault::kMessageBytesMax);
    for (const fault::HelperReply& reply :
         {fault::HelperReply{fault::WelcomeReply{}}, fault::HelperReply{undone_}}) {
      if (::recv(peer, buffer.data(), buffer.size(), 0) <= 0) break;
      const std::string bytes = fault::encode(reply);
      ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    ::close(peer);
  }

  const fault::UndoneReply undone_;
  int listener_;
  std::thread thread_;
};

class FaultCommandsTest : public testing::Test {
 protected:
  /// As if somebody had not named its socket.
  KeeperPlace place(const std::string& name) const {
    return {.program = name, .socket = folder_.path() / name, .state = folder_.path() / "state"};
  }
  /// The exit code of undoing, where the first is not there, and this is how it went at the second.
  int undo_with(const KeeperPlace& missing, std::vector<fault::Undone> undone) const {
    const KeeperPlace there = place("there");
    const Door door(there.socket, {std::move(undone), {}});
    const int code = undo_faults({missing, there});
    std::filesystem::remove(there.socket);
    return code;
  }

  test::TemporaryFolder folder_;
};

TEST_F(FaultCommandsTest, OneThatIsNotInstalledIsNotMissed) {
  EXPECT_EQ(undo_with(place("helper"), {}), kExitClean);
}

TEST_F(FaultCommandsTest, OneThatIsMissingIsNoSuccess) {
  KeeperPlace named = place("helper");
  named.is_wanted = true;
  EXPECT_EQ(undo_with(named, {}), runtime::kExitUnavailable);
  std::filesystem::create_directory(folder_.path() / "state");  // it has been at work here
  EXPECT_EQ(undo_with(place("helper"), {}), runtime::kExitUnavailable);
}

TEST_F(FaultCommandsTest, WhatIsWorseIsNotHidden) {
  KeeperPlace named = place("helper");
  named.is_wanted = true;
  using fault::UndoOutcome;
  EXPECT_EQ(undo_with(named, {{.id = 1, .outcome = UndoOutcome::conflict, .text = {}}}),
            kExitConflict);
  EXPECT_EQ(undo_with(named, {{.id = 1, .outcome = UndoOutcome::stuck, .text = {}},
                              {.id = 2, .outcome = UndoOutcome::conflict, .text = {}}}),
            kExitStuck);
}

TEST_F(FaultCommandsTest, NoneIsUnavailable) {
  EXPECT_EQ(undo_faults({place("helper"), place("external")}), runtime::kExitUnavailable);
}

}  // namespace
}  // namespace rehearsal::agent

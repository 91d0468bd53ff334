#include "runtime/service_manager.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "runtime/heartbeat.hpp"
#include "tests/support/loop.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::runtime {
namespace {

/// What systemd is to a daemon: a datagram socket with a path.
class Manager {
 public:
  explicit Manager(const std::string& path)
      : descriptor_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Manager() { ::close(descriptor_); }

  std::string heard() {
    char buffer[256];
    const ssize_t size = ::recv(descriptor_, buffer, sizeof buffer, 0);
    return size < 0 ? "" : std::string(buffer, static_cast<std::size_t>(size));
  }

 private:
  int descriptor_;
};

TEST(ServiceManager, SaysHowTheDaemonIs) {
  const rehearsal::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "notify").string();
  Manager systemd(path);
  const ServiceManager manager(path, std::nullopt);
  manager.ready();
  EXPECT_EQ(systemd.heard(), "READY=1");
  manager.stopping();
  EXPECT_EQ(systemd.heard(), "STOPPING=1");
  EXPECT_FALSE(manager.alive_interval());
}

TEST(ServiceManager, TheLoopItselfSaysThatItIsAlive) {
  const rehearsal::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "notify").string();
  Manager systemd(path);
  const ServiceManager manager(path, std::chrono::milliseconds{2});
  EXPECT_EQ(manager.alive_interval(), std::chrono::milliseconds{1});
  asio::io_context context;
  const Heartbeat heartbeat(context, manager);
  int beats = 0;
  rehearsal::test::run_until(context, [&] {
    if (systemd.heard() == "WATCHDOG=1") ++beats;
    return beats == 3;
  });
}

TEST(ServiceManager, WithoutOneNothingHappens) {
  const ServiceManager manager("", std::chrono::seconds{1});
  manager.ready();
  EXPECT_FALSE(manager.alive_interval());
}

TEST(ServiceManager, ReadsTheEnvironment) {
  ::setenv("NOTIFY_SOCKET", "@abstract", 1);
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(ServiceManager::from_environment().alive_interval(), std::chrono::seconds{15});
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(ServiceManager::from_environment().alive_interval()) << "meant for another process";
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

}  // namespace
}  // namespace rehearsal::runtime

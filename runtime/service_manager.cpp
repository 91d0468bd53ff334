#include "runtime/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace rehearsal::runtime {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

std::optional<long long> whole_number(std::string_view text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  std::optional<Duration> watchdog;
  const auto microseconds = whole_number(variable("WATCHDOG_USEC"));
  const auto meant = whole_number(variable("WATCHDOG_PID"));
  const bool for_us = !meant || *meant == static_cast<long long>(::getpid());
  if (microseconds && *microseconds > 0 && for_us) {
    watchdog = std::chrono::microseconds{*microseconds};
  }
  return {std::string(variable("NOTIFY_SOCKET")), watchdog};
}

std::optional<Duration> ServiceManager::alive_interval() const {
  if (!watchdog_ || socket_path_.empty()) return std::nullopt;
  return *watchdog_ / 2;
}

void ServiceManager::notify(std::string_view state) const {
  sockaddr_un address{};
  if (socket_path_.empty() || socket_path_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_path_.data(), socket_path_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // the abstract name space
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_path_.size());
  // Best effort: the manager that does not read notices by itself.
  [[maybe_unused]] const auto sent = ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
                                              reinterpret_cast<const sockaddr*>(&address), length);
  ::close(descriptor);
}

}  // namespace rehearsal::runtime

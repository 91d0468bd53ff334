#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/time.hpp"

namespace rehearsal::runtime {

/// Tells systemd (Type=notify) how the daemon is, by datagrams to $NOTIFY_SOCKET; without that
/// variable it does nothing. Own lines instead of libsystemd, which links far more than this.
class ServiceManager {
 public:
  /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment.
  static ServiceManager from_environment();
  ServiceManager(std::string socket_path, std::optional<Duration> watchdog)
      : socket_path_(std::move(socket_path)), watchdog_(watchdog) {}

  void ready() const { notify("READY=1"); }
  void stopping() const { notify("STOPPING=1"); }
  /// Say this from the event loop itself, so that a stuck loop is noticed.
  void alive() const { notify("WATCHDOG=1"); }

  /// How often alive() must be said: half of what systemd waits; none: no watchdog.
  std::optional<Duration> alive_interval() const;

 private:
  void notify(std::string_view state) const;

  std::string socket_path_;
  std::optional<Duration> watchdog_;
};

}  // namespace rehearsal::runtime

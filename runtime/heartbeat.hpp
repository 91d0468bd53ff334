#pragma once

#include "runtime/asio.hpp"
#include "runtime/service_manager.hpp"

namespace rehearsal::runtime {

/// Says `alive` to the service manager from the event loop, as often as it asks for; a loop that is
/// stuck falls silent and is restarted.
class Heartbeat {
 public:
  Heartbeat(asio::io_context& context, const ServiceManager& manager)
      : timer_(context), manager_(manager) {
    beat();
  }

 private:
  void beat() {
    const auto interval = manager_.alive_interval();
    if (!interval) return;
    manager_.alive();
    timer_.expires_after(std::chrono::duration_cast<Timer::duration>(*interval));
    timer_.async_wait([this](const asio::error_code& error) {
      if (!error) beat();
    });
  }

  Timer timer_;
  const ServiceManager& manager_;
};

}  // namespace rehearsal::runtime

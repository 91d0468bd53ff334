#include "runtime/signals.hpp"

#include <csignal>

namespace rehearsal::runtime {

StopSignals::StopSignals(asio::io_context& context, std::function<void()> on_drain,
                         std::function<void()> on_stop_now)
    : signals_(context, SIGTERM, SIGINT),
      on_drain_(std::move(on_drain)),
      on_stop_now_(std::move(on_stop_now)) {
  std::signal(SIGPIPE, SIG_IGN);
  wait();
}

void StopSignals::wait() {
  signals_.async_wait([this](const asio::error_code& error, int number) {
    if (error) return;
    if (number == SIGINT || draining_) {
      on_stop_now_();
    } else {
      draining_ = true;
      on_drain_();
    }
    wait();
  });
}

}  // namespace rehearsal::runtime

#pragma once

#include <asio/signal_set.hpp>
#include <functional>

namespace rehearsal::runtime {

/// SIGTERM asks for an orderly end; a second one, or SIGINT, for the end at once. SIGPIPE is
/// ignored for the whole process: a closed peer is an error code, not a signal.
class StopSignals {
 public:
  StopSignals(asio::io_context& context, std::function<void()> on_drain,
              std::function<void()> on_stop_now);

 private:
  void wait();

  asio::signal_set signals_;
  std::function<void()> on_drain_;
  std::function<void()> on_stop_now_;
  bool draining_ = false;
};

}  // namespace rehearsal::runtime

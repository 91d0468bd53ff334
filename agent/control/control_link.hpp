#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/time.hpp"
#include "core/protocol/rehearsal.pb.h"
#include "runtime/endpoint.hpp"
#include "runtime/framed_connection.hpp"

namespace rehearsal::agent {

struct ControlLinkOptions {
  runtime::Endpoint coordinator;
  Duration connect_limit = std::chrono::seconds{3};
  runtime::FramedConnectionOptions connection = {};
};

struct ControlLinkHandlers {
  std::function<void()> on_up;
  std::function<void(protocol::Envelope)> on_message;
  /// An attempt that failed, or a link that was up and is gone; not after close().
  std::function<void(std::string reason)> on_down;
};

/// The agent's connection to its coordinator: attempts with a deadline, frames in and out. When to
/// try again is decided elsewhere. One thread; handlers are never called from inside a call.
class ControlLink {
 public:
  ControlLink(asio::io_context& context, ControlLinkOptions options, ControlLinkHandlers handlers);
  ~ControlLink();

  /// Begins an attempt at `at` (past: at once). What was there before is dropped in silence.
  void connect_at(Instant at);
  /// False: there is no link, or it is closing.
  bool send(const protocol::Envelope& message);
  /// Sends what is queued and closes; nothing more is heard of this link.
  void close(const std::string& reason);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  ///< Asio's operations keep it alive until they are done
};

}  // namespace rehearsal::agent

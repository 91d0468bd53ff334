#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/coordination/coordinator.hpp"
#include "runtime/endpoint.hpp"
#include "runtime/framed_connection.hpp"

namespace rehearsal::daemon {

/// The coordinator's state machine as its server sees it; what decides is behind it.
struct CoordinatorPort {
  std::function<std::vector<coordination::Action>(const coordination::Event&, Instant)> on;
  std::function<Instant()> next_deadline;
};

struct ControlServerOptions {
  runtime::Endpoint listen;
  std::size_t sessions_max = 8192;  ///< more are turned away at the door
  runtime::FramedConnectionOptions connection = {};
};

struct ControlServerHooks {
  CoordinatorPort coordinator;
  std::function<void(coordination::StoreRun)> store;
  /// How long the coordinator thought about one event; may be empty.
  std::function<void(Duration)> on_handled = nullptr;
};

struct ControlServerCounters {
  std::size_t sessions = 0;
  std::uint64_t sessions_accepted = 0;
  std::uint64_t sessions_refused = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t messages_sent = 0;
  std::uint64_t protocol_errors = 0;
};

/// The hands of the coordinator: takes connections, turns frames and time into events, and carries
/// its actions out. It decides nothing itself. One thread (the io_context's).
class ControlServer {
 public:
  static Result<std::unique_ptr<ControlServer>> start(asio::io_context& context,
                                                      ControlServerOptions options,
                                                      ControlServerHooks hooks);
  ~ControlServer();

  /// Where it really listens.
  const runtime::Endpoint& listening() const;
  const ControlServerCounters& counters() const;

  /// Closes the door; those inside stay.
  void refuse_new();
  /// Sends what is queued and closes every session; the coordinator hears nothing more.
  void close_all(const std::string& reason);

 private:
  class Impl;
  explicit ControlServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  ///< Asio's operations keep it alive until they are done
};

}  // namespace rehearsal::daemon

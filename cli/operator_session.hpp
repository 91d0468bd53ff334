#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/interrupts.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::cli {

/// The operator's end of a control connection: says hello, keeps it alive while it waits, hands
/// messages over one by one. Every wait has a deadline. One thread.
class OperatorSession {
 public:
  /// Connects to "HOST:PORT" and is welcomed, or fails with what to look at.
  static Result<OperatorSession> open(const std::string& coordinator);
  OperatorSession(OperatorSession&&) noexcept;
  ~OperatorSession();

  /// From now on `receive` also ends when an interrupt comes in.
  void watch(Interrupts& interrupts);

  /// Queues a message; fails when the connection is gone.
  Result<void> send(const protocol::Envelope& message);
  /// The next message that is not about the session itself; nothing at an interrupt. Fails with
  /// `timed_out` at `deadline` (`awaited` says for what) and `disconnected` when the coordinator is
  /// gone or silent. A Failure that the coordinator sends is an error of the code it names.
  Result<std::optional<protocol::Envelope>> receive(Instant deadline, const std::string& awaited);
  /// As receive(), within `limit` from now and not ended by interrupts.
  Result<protocol::Envelope> expect(protocol::Envelope::MessageCase kind, Duration limit,
                                    const std::string& awaited);

  /// The software that welcomed us: "rehearsald 0.1.0".
  const std::string& coordinator_software() const;

 private:
  struct State;
  explicit OperatorSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::cli

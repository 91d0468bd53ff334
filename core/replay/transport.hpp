#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/plan/connection.hpp"

namespace rehearsal::replay {

using plan::ConnectionSpec;

/// Opaque bytes that the control channel carries from the receiving to the sending end.
using Address = std::string;

struct Request {
  enum class Kind : std::uint8_t {
    send,     ///< send the message `sequence` of `bytes`
    release,  ///< the received message `sequence` is done with: its slot is free (a credit)
  };
  Kind kind = Kind::send;
  ConnectionIndex connection;
  std::uint64_t sequence = 0;  ///< 0, 1, 2 … on each connection
  std::uint64_t bytes = 0;
};

struct Completion {
  enum class Kind : std::uint8_t {
    connected,  ///< this end of the connection is ready
    sent,       ///< the message left our hands; its buffer may be used again
    credit,     ///< one more message may be sent on this connection (`sequence` unused)
    received,   ///< the message is here, in order
    failed,     ///< the connection is unusable; `reason` says why
  };
  Kind kind = Kind::received;
  ConnectionIndex connection;
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;  ///< of the message; connected: the path MTU, zero where there is none
  /// failed: a text that lives as long as the transport ("connection reset by peer"), for the final
  /// report.
  std::string_view reason = {};
  /// failed: the errno that is the cause, as it was known there (EMSGSIZE: the path carries only
  /// shorter packets); zero: none is.
  int error_number = 0;
};

/// What to wait on when there is nothing to do.
struct Wakeup {
  int file_descriptor = -1;   ///< readable when poll() has work; −1: nothing to wait on
  Instant deadline = kNever;  ///< when to poll() at the latest
};

struct Capabilities {
  std::string_view name;         ///< "tcp"
  std::string_view byte_source;  ///< how byte figures arise: "posted", "modelled"
  std::uint64_t message_bytes_max = 0;
  bool spins = false;  ///< wants a core to itself; otherwise wait on wakeup()
};

/// What a transport did so far, for reports and metrics.
struct TransportStatistics {
  std::uint64_t system_calls = 0;
  std::uint64_t payload_sent = 0;            ///< bytes
  std::uint64_t payload_copied = 0;          ///< received bytes that were copied to user space
  std::uint64_t payload_discarded = 0;       ///< received bytes that the kernel dropped for us
  std::string_view congestion_control = {};  ///< as read back from the sockets; empty: none
};

/// Moves messages between ranks. Set-up calls may allocate and block briefly; post, poll and wakeup
/// are the data path: noexcept, no allocation, no lock, no log. One owning thread.
///
/// A connection has two ends. The receiving end calls open() and gives the address away; the
/// sending end calls connect() with it, which does not block. Where the receiving end must know the
/// sending one as well (queue pairs), the sending end gives an address of its own, offer(), and the
/// receiving end gets it by accept(). Both then see `connected`. Messages of one connection arrive
/// in order and whole.
///
/// Credits: a connection starts with spec.credits; the caller spends one for each send it posts and
/// gets it back by a `credit` completion: when the receiver has released the slot (RDMA, memory),
/// or when the message has left the queue of the socket and the receiver's unread bytes push back
/// (TCP, as NCCL's socket transport does; such a receiver reads no further than `credits` messages
/// ahead of what was released). Posting without a credit is a bug of the caller.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual Capabilities capabilities() const = 0;

  /// Receiving end: prepares to be connected to.
  virtual Result<Address> open(const ConnectionSpec& spec) = 0;
  /// Sending end: starts connecting; the outcome comes as `connected` or `failed`.
  virtual Result<void> connect(const ConnectionSpec& spec, const Address& address) = 0;

  /// Sending end, before connect(): what the receiving end must know of it; empty: nothing.
  virtual Result<Address> offer(const ConnectionSpec& spec) {
    static_cast<void>(spec);
    return Address{};
  }
  /// Receiving end: the other end's offer(), if it was not empty. Does not block.
  virtual Result<void> accept(const ConnectionSpec& spec, const Address& address) {
    static_cast<void>(spec), static_cast<void>(address);
    return fail(ErrorCode::protocol, ErrorSource::transport,
                "this transport expects no address from the sending end");
  }

  /// Queues requests in order; returns how many were taken. Fewer than offered is back-pressure on
  /// the first one not taken: poll and offer again. A failed connection takes and drops everything.
  virtual std::size_t post(std::span<const Request> requests, Instant now) noexcept = 0;
  /// Moves bytes, then writes up to completions.size() completions; returns how many.
  virtual std::size_t poll(std::span<Completion> completions, Instant now) noexcept = 0;
  virtual Wakeup wakeup() const noexcept = 0;

  /// Sending end, once connected: no queue of the connection sends faster than that from now on;
  /// zero: as it was set up. A command to the device, not for the data path. What it does not take
  /// leaves the connection as it was. A connection that failed has nothing to limit.
  virtual Result<void> limit_rate(ConnectionIndex connection, BitRate of_queue_pair) {
    static_cast<void>(connection), static_cast<void>(of_queue_pair);
    return fail(ErrorCode::unsupported, ErrorSource::transport,
                "this transport limits no rates of its own");
  }

  virtual TransportStatistics statistics() const noexcept { return {}; }
  /// What this transport is truly bound to, a line each, for the report. Not for the data path.
  virtual std::vector<std::string> bound() const { return {}; }

  /// Drops whatever is queued and closes; no completion follows.
  virtual void abort(ConnectionIndex connection) noexcept = 0;
};

}  // namespace rehearsal::replay

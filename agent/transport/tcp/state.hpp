#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "agent/transport/ring.hpp"
#include "agent/transport/tcp/handshake.hpp"
#include "agent/transport/tcp/payload.hpp"
#include "agent/transport/tcp/socket.hpp"
#include "agent/transport/tcp/stream.hpp"
#include "agent/transport/tcp/tcp_transport.hpp"

namespace rehearsal::tcp {

/// Read past the end of a message, so that small messages and the next header come in one call.
inline constexpr std::size_t kReadAhead = 4096;
/// Payload below this is not worth a system call of its own to have it dropped.
inline constexpr std::size_t kDiscardMin = 16U << 10;
inline constexpr std::size_t kVectorsMax = 64;
inline constexpr std::size_t kEventsMax = 64;
/// While there is known work the kernel is asked for news only every so many polls.
inline constexpr unsigned kPollsPerEvents = 4;
/// Accepted connections that may await their hello, beyond those that are expected.
inline constexpr std::size_t kStrangersMax = 64;
static_assert(kDiscardMin > kReadAhead);
/// A deadline that has passed, but from which a caller may subtract without overflow.
inline constexpr Instant kAtOnce{};

enum class Phase : std::uint8_t {
  unused,
  opened,      // receiving end: not connected to yet
  connecting,  // sending end: TCP handshake under way
  greeting,    // sending end: hello sent, answer awaited
  ready,
  failed,
  aborted,
};

struct Connection {
  replay::ConnectionSpec spec;
  Phase phase = Phase::unused;
  bool outgoing = false;
  bool queued = false;     // stands in State::ready
  bool readable = false;   // the kernel may have bytes for us
  bool writable = false;   // the kernel may take bytes from us
  bool peer_gone = false;  // what is left to read, then the end
  FileDescriptor socket;

  // Sending end.
  SendQueue queue;
  Answer answer{};
  std::size_t answer_size = 0;
  Instant deadline = kNever;  // while connecting or greeting

  // Receiving end.
  StreamReader reader;
  std::vector<std::byte> read_ahead;  // bytes that belong to messages without a credit
  std::size_t read_ahead_begin = 0;
  std::size_t read_ahead_end = 0;
  std::uint64_t delivered = 0;  // messages
  std::uint64_t released = 0;

  Proofs proofs{};

  bool may_read() const noexcept { return delivered - released < spec.credits; }
  bool has_read_ahead() const noexcept { return read_ahead_begin < read_ahead_end; }
};

/// An accepted connection that has not said yet who it is.
struct Stranger {
  FileDescriptor socket;
  std::uint32_t generation = 0;  // tells events of an earlier tenant of this place apart
  Hello hello{};
  std::size_t size = 0;
  Instant deadline = kNever;
};

struct Listener {
  FileDescriptor socket;
  std::uint16_t port = 0;
};

/// What an epoll event is about, packed into its 64 bits.
struct EventTarget {
  enum class Kind : std::uint8_t { listener, stranger, connection };
  Kind kind = Kind::connection;
  std::uint32_t generation = 0;  // 24 bits
  std::uint32_t index = 0;

  std::uint64_t pack() const noexcept {
    return (std::uint64_t{static_cast<std::uint8_t>(kind)} << 56) |
           (std::uint64_t{generation & 0xffffffU} << 32) | index;
  }
  static EventTarget unpack(std::uint64_t value) noexcept {
    return {.kind = static_cast<Kind>(value >> 56),
            .generation = static_cast<std::uint32_t>(value >> 32) & 0xffffffU,
            .index = static_cast<std::uint32_t>(value)};
  }
};

using agent::Ring;

struct TcpTransport::State {
  TcpOptions options;
  SocketSettings socket_settings;
  FileDescriptor epoll;
  std::optional<PopulatedMemory> payload;
  std::optional<PopulatedMemory> scratch;
  std::vector<Listener> listeners;  // by NIC, opened when first needed

  std::vector<Connection> connections;  // by ConnectionIndex
  std::map<plan::ConnectionKey, std::uint32_t> opened_by_key;
  std::size_t opened_count = 0;  // of them, still without a peer
  std::size_t setting_up = 0;    // outgoing, not ready yet
  std::vector<Stranger> strangers;
  std::size_t strangers_count = 0;
  Instant setup_check_at = kNever;  // the earliest deadline of connections and strangers

  Ring<std::uint32_t> ready;             // connections with something to move
  Ring<replay::Completion> completions;  // not taken by poll() yet
  unsigned polls_since_events = 0;
  std::array<epoll_event, kEventsMax> events{};
  std::string congestion_control;
  TcpStatistics statistics;

  // Set-up (tcp_setup.cpp).
  Result<void> add_connection(const replay::ConnectionSpec& spec, bool outgoing);
  Result<void> ensure_listener(NicIndex nic);
  Result<void> watch(int socket, EventTarget target, std::uint32_t interest);
  void accept_strangers(std::size_t nic, Instant now) noexcept;
  std::size_t free_place_for_stranger() noexcept;
  void hear_stranger(std::size_t place) noexcept;
  void close_stranger(std::size_t place) noexcept;
  void adopt(std::size_t place, Connection& connection) noexcept;
  void continue_connecting(Connection& connection) noexcept;
  void hear_answer(Connection& connection) noexcept;
  void check_setup_deadlines(Instant now) noexcept;
  void forget_deadline_if_set_up() noexcept;
  void became_ready(Connection& connection) noexcept;

  // Data path (tcp_data_path.cpp).
  void take_events(Instant now) noexcept;
  void on_connection_event(Connection& connection, std::uint32_t events) noexcept;
  void schedule(Connection& connection) noexcept;
  void serve(Connection& connection) noexcept;
  void send_some(Connection& connection) noexcept;
  void receive_some(Connection& connection) noexcept;
  void read_bytes(Connection& connection) noexcept;
  void discard_payload(Connection& connection) noexcept;
  void after_read(Connection& connection, std::int64_t got, std::size_t asked) noexcept;
  void parse(Connection& connection, std::span<const std::byte> bytes) noexcept;
  void account(Connection& connection, StreamReader::Taken taken, std::uint64_t& total) noexcept;
  void check_silence(Connection& connection) noexcept;
  void complete(replay::Completion completion) noexcept { completions.push(completion); }
  /// `error_number`: zero where no errno is the cause.
  void fail_connection(Connection& connection, std::string_view reason,
                       int error_number = 0) noexcept;
};

/// A text with static lifetime for an errno of a socket call.
std::string_view reason_of(int error_number) noexcept;

}  // namespace rehearsal::tcp

// The data path of TcpTransport: no allocation, no lock, no log, no exception in here.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/transport/tcp/state.hpp"

namespace rehearsal::tcp {

using replay::Completion;
using replay::Request;

namespace {

// A system call moves bytes for many microseconds, several connections take their turn in one poll:
// the bins want the instant of the call, not that of the turn.
Instant clock_now() noexcept { return std::chrono::steady_clock::now(); }

// Takes up to `bytes` off a stream and lets the kernel drop them (tcp(7), MSG_TRUNC). The call is
// made directly: sanitizers wrap recv() and take the absent buffer for one that is written to.
std::int64_t receive_nothing(int socket, std::size_t bytes) noexcept {
  return ::syscall(SYS_recvfrom, socket, nullptr, bytes, MSG_TRUNC | MSG_DONTWAIT, nullptr,
                   nullptr);
}

}  // namespace

std::string_view reason_of(int error_number) noexcept {
  switch (error_number) {
    case ECONNRESET:
      return "connection reset by peer";
    case ECONNREFUSED:
      return "connection refused";
    case EPIPE:
      return "connection closed by peer";
    case ETIMEDOUT:
      return "connection timed out";
    case EHOSTUNREACH:
      return "no route to host";
    case ENETUNREACH:
      return "network unreachable";
    case ENOBUFS:
      return "no buffer space available";
    case ENOMEM:
      return "out of memory";
    default:
      return "socket error";
  }
}

std::size_t TcpTransport::post(std::span<const Request> requests, Instant) noexcept {
  State& state = *state_;
  for (const Request& request : requests) {
    Connection& connection = state.connections[request.connection.value];
    if (connection.phase != Phase::ready) continue;  // takes and drops
    if (request.kind == Request::Kind::send) {
      CHECK(connection.outgoing, "only the sending end sends");
      connection.queue.push({.sequence = request.sequence, .bytes = request.bytes});
      if (connection.writable) state.schedule(connection);
    } else {
      CHECK(connection.released < connection.delivered, "only what was received can be released");
      ++connection.released;
      if (connection.readable || connection.has_read_ahead()) state.schedule(connection);
    }
  }
  return requests.size();
}

std::size_t TcpTransport::poll(std::span<Completion> completions, Instant now) noexcept {
  State& state = *state_;
  if (now >= state.setup_check_at) state.check_setup_deadlines(now);
  // Work that is known needs no question to the kernel; the caller comes again before it sleeps.
  const bool idle = state.ready.empty() && state.completions.empty();
  if (idle || ++state.polls_since_events >= kPollsPerEvents) state.take_events(now);
  for (std::size_t left = state.ready.size(); left > 0; --left) {
    Connection& connection = state.connections[state.ready.pop()];
    connection.queued = false;
    state.serve(connection);
  }
  std::size_t count = 0;
  while (count < completions.size() && !state.completions.empty()) {
    completions[count] = state.completions.pop();
    const auto index = completions[count].connection.value;
    if (state.connections[index].phase != Phase::aborted) ++count;
  }
  return count;
}

replay::Wakeup TcpTransport::wakeup() const noexcept {
  const bool busy = !state_->ready.empty() || !state_->completions.empty();
  return {.file_descriptor = state_->epoll.get(),
          .deadline = busy ? kAtOnce : state_->setup_check_at};
}

void TcpTransport::abort(ConnectionIndex index) noexcept {
  if (index.value >= state_->connections.size()) return;
  Connection& connection = state_->connections[index.value];
  if (connection.phase == Phase::opened) --state_->opened_count;
  if (connection.phase == Phase::connecting || connection.phase == Phase::greeting)
    --state_->setting_up;
  connection.phase = Phase::aborted;
  connection.queue.clear();
  close_now(connection.socket);
}

void TcpTransport::State::schedule(Connection& connection) noexcept {
  if (connection.queued) return;
  connection.queued = true;
  ready.push(connection.spec.index.value);
}

void TcpTransport::State::take_events(Instant now) noexcept {
  polls_since_events = 0;
  ++statistics.wait_calls;
  const int count = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto target = EventTarget::unpack(event.data.u64);
    switch (target.kind) {
      case EventTarget::Kind::listener:
        accept_strangers(target.index, now);
        break;
      case EventTarget::Kind::stranger:
        if (strangers[target.index].socket &&
            strangers[target.index].generation == target.generation)
          hear_stranger(target.index);
        break;
      case EventTarget::Kind::connection:
        on_connection_event(connections[target.index], event.events);
        break;
    }
  }
}

void TcpTransport::State::on_connection_event(Connection& connection, std::uint32_t mask) noexcept {
  if (connection.phase == Phase::connecting && (mask & (EPOLLOUT | EPOLLERR | EPOLLHUP)) != 0)
    continue_connecting(connection);
  if (connection.phase == Phase::greeting) hear_answer(connection);
  if (connection.phase != Phase::ready) return;  // or closed earlier in this batch
  if ((mask & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) connection.peer_gone = true;
  if (connection.outgoing) {
    if (connection.peer_gone || (mask & EPOLLIN) != 0) return check_silence(connection);
    connection.writable = true;
    if (!connection.queue.empty()) schedule(connection);
    return;
  }
  connection.readable = true;
  if (connection.may_read()) schedule(connection);
}

// The receiving end says nothing after its answer: whatever can be read is an end or a mistake.
void TcpTransport::State::check_silence(Connection& connection) noexcept {
  std::byte byte;
  const auto got = ::recv(connection.socket.get(), &byte, 1, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return fail_connection(connection, reason_of(errno));
  fail_connection(connection, got == 0 ? "connection closed by peer"
                                       : "the receiving end sent data against the protocol");
}

void TcpTransport::State::serve(Connection& connection) noexcept {
  if (connection.phase != Phase::ready) return;
  if (connection.outgoing) {
    if (connection.writable && !connection.queue.empty()) send_some(connection);
    if (connection.writable && !connection.queue.empty()) schedule(connection);
    return;
  }
  receive_some(connection);
  if (connection.phase == Phase::ready && connection.may_read() &&
      (connection.readable || connection.has_read_ahead()))
    schedule(connection);
}

void TcpTransport::State::send_some(Connection& connection) noexcept {
  std::array<iovec, kVectorsMax> vectors;
  const auto filled = connection.queue.fill(vectors, payload->bytes(), options.call_bytes_max);
  msghdr header{};
  header.msg_iov = vectors.data();
  header.msg_iovlen = filled.vectors;
  ++statistics.send_calls;
  const auto sent = ::sendmsg(connection.socket.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno == EINTR) return;
    connection.writable = false;
    if (errno != EAGAIN) fail_connection(connection, reason_of(errno));
    return;
  }
  // Less than offered: the buffer is full, and an event follows when there is room (epoll(7)).
  if (static_cast<std::size_t>(sent) < filled.bytes) connection.writable = false;
  const ConnectionIndex index = connection.spec.index;
  const std::uint64_t payload_sent =
      connection.queue.consume(static_cast<std::uint64_t>(sent), [&](Message message) {
        ++statistics.messages_sent;
        complete({.kind = Completion::Kind::sent,
                  .connection = index,
                  .sequence = message.sequence,
                  .bytes = message.bytes});
        complete({.kind = Completion::Kind::credit, .connection = index});
      });
  statistics.payload_sent += payload_sent;
  if (!options.meters.empty())
    options.meters[connection.spec.nic.value].count_sent(connection.spec, clock_now(),
                                                         payload_sent);
}

void TcpTransport::State::receive_some(Connection& connection) noexcept {
  if (connection.has_read_ahead()) {
    const auto begin = connection.read_ahead_begin;
    const auto end = connection.read_ahead_end;
    connection.read_ahead_begin = connection.read_ahead_end = 0;
    parse(connection, std::span(connection.read_ahead).subspan(begin, end - begin));
  }
  if (connection.phase != Phase::ready || !connection.readable || connection.has_read_ahead() ||
      !connection.may_read())
    return;
  if (options.receive == plan::ReceiveMode::discard &&
      connection.reader.payload_remaining() >= kDiscardMin)
    discard_payload(connection);
  else
    read_bytes(connection);
}

// Several vectors name the same scratch memory: it is overwritten, nobody looks at it. Only what
// may hold headers, the bytes behind the end of the current message, has a place of its own.
void TcpTransport::State::read_bytes(Connection& connection) noexcept {
  const std::span<std::byte> memory = scratch->bytes();
  const std::span<std::byte> dump = memory.first(memory.size() - kReadAhead);
  const std::span<std::byte> ahead = memory.last(kReadAhead);
  const std::size_t payload_here = static_cast<std::size_t>(
      std::min<std::uint64_t>(connection.reader.payload_remaining(), options.call_bytes_max));
  const bool reads_ahead = payload_here == connection.reader.payload_remaining();

  std::array<iovec, kVectorsMax> vectors;
  std::size_t count = 0;
  std::size_t asked = 0;
  // What is verified must not be overwritten before it was looked at.
  const std::size_t vectors_max = options.verify_payload ? 1 : vectors.size() - 1;
  while (asked < payload_here && count < vectors_max) {
    const std::size_t part = std::min(dump.size(), payload_here - asked);
    vectors[count++] = {.iov_base = dump.data(), .iov_len = part};
    asked += part;
  }
  const std::size_t dumped = asked;
  if (reads_ahead && asked == payload_here) {
    vectors[count++] = {.iov_base = ahead.data(), .iov_len = ahead.size()};
    asked += ahead.size();
  }
  msghdr header{};
  header.msg_iov = vectors.data();
  header.msg_iovlen = count;
  ++statistics.receive_calls;
  const auto got = ::recvmsg(connection.socket.get(), &header, MSG_DONTWAIT);
  after_read(connection, got, asked);
  if (got <= 0) return;
  const auto bytes = static_cast<std::size_t>(got);
  if (options.verify_payload && dumped > 0)
    parse(connection, dump.first(std::min(bytes, dumped)));
  else if (dumped > 0)
    account(connection, connection.reader.skip(std::min(bytes, dumped)), statistics.payload_copied);
  if (bytes > dumped) parse(connection, ahead.first(bytes - dumped));
}

void TcpTransport::State::discard_payload(Connection& connection) noexcept {
  const std::size_t asked = static_cast<std::size_t>(
      std::min<std::uint64_t>(connection.reader.payload_remaining(), options.call_bytes_max));
  ++statistics.receive_calls;
  const auto got = receive_nothing(connection.socket.get(), asked);
  after_read(connection, got, asked);
  if (got > 0)
    account(connection, connection.reader.skip(static_cast<std::uint64_t>(got)),
            statistics.payload_discarded);
}

void TcpTransport::State::after_read(Connection& connection, std::int64_t got,
                                     std::size_t asked) noexcept {
  if (got < 0) {
    if (errno == EINTR) return;
    connection.readable = false;
    if (errno != EAGAIN) fail_connection(connection, reason_of(errno));
    return;
  }
  if (got == 0) {
    fail_connection(connection, connection.reader.between_messages()
                                    ? "connection closed by peer"
                                    : "connection closed by peer in the middle of a message");
    return;
  }
  // Less than asked for: nothing is left, and an event follows when more comes (epoll(7)); but the
  // event that told of the end has been had already.
  if (static_cast<std::size_t>(got) < asked && !connection.peer_gone) connection.readable = false;
}

void TcpTransport::State::parse(Connection& connection, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    if (!connection.may_read()) {
      std::copy(bytes.begin(), bytes.end(), connection.read_ahead.begin());
      connection.read_ahead_begin = 0;
      connection.read_ahead_end = bytes.size();
      return;
    }
    const auto taken = connection.reader.take(bytes);
    if (taken.out_of_step)
      return fail_connection(connection, "a message header is out of step with the stream");
    if (taken.damaged)
      return fail_connection(connection,
                             "[REHEARSAL-TCP-027] a message does not carry what its sender "
                             "stamped into it");
    account(connection, taken, statistics.payload_copied);
    bytes = bytes.subspan(taken.bytes);
  }
}

void TcpTransport::State::account(Connection& connection, StreamReader::Taken taken,
                                  std::uint64_t& total) noexcept {
  total += taken.payload;
  if (!options.meters.empty() && taken.payload > 0)
    options.meters[connection.spec.nic.value].count_received(connection.spec, clock_now(),
                                                             taken.payload);
  if (!taken.message) return;
  ++connection.delivered;
  ++statistics.messages_received;
  const Message message = connection.reader.message();
  complete({.kind = Completion::Kind::received,
            .connection = connection.spec.index,
            .sequence = message.sequence,
            .bytes = message.bytes});
}

void TcpTransport::State::fail_connection(Connection& connection, std::string_view reason,
                                          int error_number) noexcept {
  if (connection.phase == Phase::connecting || connection.phase == Phase::greeting) --setting_up;
  connection.phase = Phase::failed;
  connection.queue.clear();
  close_now(connection.socket);
  complete({.kind = Completion::Kind::failed,
            .connection = connection.spec.index,
            .reason = reason,
            .error_number = error_number});
}

}  // namespace rehearsal::tcp

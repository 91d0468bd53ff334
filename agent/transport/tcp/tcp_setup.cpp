// Set-up of TcpTransport: listeners, connecting, the hello. Everything that allocates is in here.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "agent/transport/tcp/state.hpp"

namespace rehearsal::tcp {
namespace {

constexpr std::uint32_t kReceivingInterest = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t kSendingInterest = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

}  // namespace

TcpTransport::TcpTransport() : state_(std::make_unique<State>()) {}

TcpTransport::~TcpTransport() {
  for (Connection& connection : state_->connections) close_now(connection.socket);
  for (Stranger& stranger : state_->strangers) close_now(stranger.socket);
}

Result<std::unique_ptr<TcpTransport>> TcpTransport::create(TcpOptions options) {
  std::unique_ptr<TcpTransport> transport(new TcpTransport());
  State& state = *transport->state_;
  CHECK(options.meters.empty() || options.meters.size() == options.nic_addresses.size(),
        "a meter for each NIC, or none");
  state.epoll = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!state.epoll)
    return system_failure(ErrorSource::transport, "cannot create an epoll instance", errno);
  ASSIGN_OR_RETURN(state.payload, PopulatedMemory::payload(options.payload_bytes));
  ASSIGN_OR_RETURN(state.scratch, PopulatedMemory::scratch(options.scratch_bytes + kReadAhead));
  state.listeners.resize(options.nic_addresses.size());
  state.socket_settings = {.congestion_control = options.congestion_control,
                           .send_buffer_bytes = options.send_buffer_bytes,
                           .receive_buffer_bytes = options.receive_buffer_bytes};
  state.options = std::move(options);
  return transport;
}

replay::Capabilities TcpTransport::capabilities() const {
  return {.name = "tcp",
          .byte_source = "posted",
          .message_bytes_max = std::uint64_t{1} << 40,
          .spins = false};
}

Result<replay::Address> TcpTransport::open(const replay::ConnectionSpec& spec) {
  State& state = *state_;
  RETURN_IF_ERROR(state.add_connection(spec, false));
  RETURN_IF_ERROR(state.ensure_listener(spec.nic));
  Connection& connection = state.connections[spec.index.value];
  connection.phase = Phase::opened;
  state.opened_by_key[spec.key] = spec.index.value;
  ++state.opened_count;
  while (state.strangers.size() < state.opened_count + kStrangersMax)
    state.strangers.emplace_back();
  return encode_address({.ip = state.options.nic_addresses[spec.nic.value],
                         .port = state.listeners[spec.nic.value].port,
                         .key = spec.key});
}

Result<void> TcpTransport::connect(const replay::ConnectionSpec& spec,
                                   const replay::Address& address) {
  State& state = *state_;
  ASSIGN_OR_RETURN(const AddressParts parts, decode_address(address));
  if (parts.key != spec.key)
    return fail(ErrorCode::protocol, ErrorSource::transport,
                "the address of another connection of the run was given");
  const auto& known = state.options.peer_addresses;
  if (!known.empty() && !known.contains(parts.ip))
    return fail(ErrorCode::refused, ErrorSource::transport,
                parts.ip + " is no address of a host of the run");
  ASSIGN_OR_RETURN(const Endpoint remote, Endpoint::parse(parts.ip, parts.port));
  RETURN_IF_ERROR(state.add_connection(spec, true));
  Connection& connection = state.connections[spec.index.value];
  ASSIGN_OR_RETURN(connection.socket, start_connecting(state.options.nic_addresses[spec.nic.value],
                                                       remote, state.socket_settings));
  RETURN_IF_ERROR(state.watch(connection.socket.get(),
                              {.kind = EventTarget::Kind::connection, .index = spec.index.value},
                              kSendingInterest));
  connection.phase = Phase::connecting;
  ++state.setting_up;
  state.setup_check_at = kAtOnce;  // the next poll() knows the time and sets the deadline
  return {};
}

Result<void> TcpTransport::State::add_connection(const replay::ConnectionSpec& spec,
                                                 bool outgoing) {
  CHECK(spec.nic.value < options.nic_addresses.size(), "a connection names a NIC of the host");
  CHECK(spec.credits > 0, "a connection has credits");
  if (spec.index.value >= connections.size()) {
    ready.grow(spec.index.value + 1 - connections.size());
    connections.resize(spec.index.value + 1);
  }
  Connection& connection = connections[spec.index.value];
  CHECK(connection.phase == Phase::unused, "a connection is set up once");
  connection.spec = spec;
  connection.outgoing = outgoing;
  connection.proofs = make_proofs(options.token, spec.key);
  const auto identity =
      options.verify_payload ? std::optional(agent::stamp_identity(spec.key)) : std::nullopt;
  if (outgoing) {
    connection.queue = SendQueue(spec.credits, identity);
  } else {
    connection.reader = StreamReader(spec.message_bytes_max, identity);
    connection.read_ahead.resize(kReadAhead);
  }
  // connected, failed, and for each credit: sent and credit, or received.
  completions.grow(2 + 2 * std::size_t{spec.credits});
  return {};
}

Result<void> TcpTransport::State::ensure_listener(NicIndex nic) {
  Listener& listener = listeners[nic.value];
  if (listener.socket) return {};
  ASSIGN_OR_RETURN(listener.socket, listen_on(options.nic_addresses[nic.value], socket_settings));
  ASSIGN_OR_RETURN(const Endpoint bound, Endpoint::of_socket(listener.socket.get()));
  listener.port = bound.port();
  return watch(listener.socket.get(), {.kind = EventTarget::Kind::listener, .index = nic.value},
               EPOLLIN);
}

Result<void> TcpTransport::State::watch(int socket, EventTarget target, std::uint32_t interest) {
  epoll_event event{.events = interest, .data = {.u64 = target.pack()}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, socket, &event) != 0)
    return system_failure(ErrorSource::transport, "cannot watch a socket", errno);
  return {};
}

void TcpTransport::State::accept_strangers(std::size_t nic, Instant now) noexcept {
  // One batch a turn: the listener is level-triggered, so what is left reports again.
  for (std::size_t i = 0; i < kEventsMax; ++i) {
    FileDescriptor socket(
        ::accept4(listeners[nic].socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    const std::size_t place = free_place_for_stranger();
    Stranger& stranger = strangers[place];
    epoll_event event{.events = kReceivingInterest,
                      .data = {.u64 = EventTarget{.kind = EventTarget::Kind::stranger,
                                                  .generation = stranger.generation,
                                                  .index = static_cast<std::uint32_t>(place)}
                                          .pack()}};
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) continue;
    stranger.socket = std::move(socket);
    stranger.size = 0;
    stranger.deadline = now + options.handshake_limit;
    setup_check_at = std::min(setup_check_at, stranger.deadline);
    ++strangers_count;
    hear_stranger(place);
  }
}

// The oldest gives way when all places are taken: a flood of strangers cannot keep the peers out,
// whose hello follows at once.
std::size_t TcpTransport::State::free_place_for_stranger() noexcept {
  std::size_t oldest = 0;
  for (std::size_t place = 0; place < strangers.size(); ++place) {
    if (!strangers[place].socket) return place;
    if (strangers[place].deadline < strangers[oldest].deadline) oldest = place;
  }
  ++statistics.strangers_closed;
  close_stranger(oldest);
  return oldest;
}

void TcpTransport::State::close_stranger(std::size_t place) noexcept {
  close_now(strangers[place].socket);
  strangers[place].generation = (strangers[place].generation + 1) & 0xffffffU;
  strangers[place].deadline = kNever;
  --strangers_count;
  forget_deadline_if_set_up();
}

// A deadline of what has happened meanwhile would wake the caller for nothing.
void TcpTransport::State::forget_deadline_if_set_up() noexcept {
  if (setting_up == 0 && strangers_count == 0) setup_check_at = kNever;
}

void TcpTransport::State::hear_stranger(std::size_t place) noexcept {
  Stranger& stranger = strangers[place];
  while (stranger.size < kHelloSize) {
    const auto got = ::recv(stranger.socket.get(), stranger.hello.data() + stranger.size,
                            kHelloSize - stranger.size, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      ++statistics.strangers_closed;
      return close_stranger(place);
    }
    stranger.size += static_cast<std::size_t>(got);
  }
  const auto hello = decode_hello(stranger.hello);
  const auto found = hello ? opened_by_key.find(hello->key) : opened_by_key.end();
  if (found != opened_by_key.end()) {
    Connection& connection = connections[found->second];
    if (connection.phase == Phase::opened && same_proof(connection.proofs.hello, hello->proof))
      return adopt(place, connection);
  }
  ++statistics.strangers_closed;
  close_stranger(place);
}

void TcpTransport::State::adopt(std::size_t place, Connection& connection) noexcept {
  const Answer answer = encode_answer(connection.proofs.answer);
  connection.socket = std::move(strangers[place].socket);
  close_stranger(place);
  epoll_event event{.events = kReceivingInterest,
                    .data = {.u64 = EventTarget{.kind = EventTarget::Kind::connection,
                                                .index = connection.spec.index.value}
                                        .pack()}};
  --opened_count;
  // The answer is the first thing on a new socket and always fits into its buffer.
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, connection.socket.get(), &event) != 0 ||
      ::send(connection.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(answer.size()))
    return fail_connection(connection, "the answer to the hello could not be sent");
  became_ready(connection);
}

void TcpTransport::State::became_ready(Connection& connection) noexcept {
  if (congestion_control.empty())
    congestion_control = congestion_control_of(connection.socket.get());
  connection.phase = Phase::ready;
  connection.deadline = kNever;
  connection.writable = connection.outgoing;
  connection.readable = !connection.outgoing;
  complete({.kind = replay::Completion::Kind::connected, .connection = connection.spec.index});
  schedule(connection);
}

void TcpTransport::State::continue_connecting(Connection& connection) noexcept {
  int error_number = 0;
  socklen_t size = sizeof error_number;
  ::getsockopt(connection.socket.get(), SOL_SOCKET, SO_ERROR, &error_number, &size);
  if (error_number != 0) return fail_connection(connection, reason_of(error_number), error_number);
  const Hello hello = encode_hello(connection.spec.key, connection.proofs.hello);
  if (::send(connection.socket.get(), hello.data(), hello.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(hello.size()))
    return fail_connection(connection, "the hello could not be sent");
  connection.phase = Phase::greeting;
}

void TcpTransport::State::hear_answer(Connection& connection) noexcept {
  while (connection.answer_size < kAnswerSize) {
    const auto got =
        ::recv(connection.socket.get(), connection.answer.data() + connection.answer_size,
               kAnswerSize - connection.answer_size, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got == 0) return fail_connection(connection, "the peer refused the hello");
    if (got < 0) return fail_connection(connection, reason_of(errno), errno);
    connection.answer_size += static_cast<std::size_t>(got);
  }
  const auto proof = decode_answer(connection.answer);
  if (!proof || !same_proof(*proof, connection.proofs.answer))
    return fail_connection(connection, "the peer's answer does not prove that it is of this run");
  --setting_up;
  forget_deadline_if_set_up();
  became_ready(connection);
}

void TcpTransport::State::check_setup_deadlines(Instant now) noexcept {
  if (now < setup_check_at) return;
  setup_check_at = kNever;
  if (setting_up > 0) {
    for (Connection& connection : connections) {
      if (connection.phase != Phase::connecting && connection.phase != Phase::greeting) continue;
      if (connection.deadline == kNever) connection.deadline = now + options.handshake_limit;
      if (connection.deadline <= now) {
        // Who has connected and hears nothing: no packets are dropped, somebody else is silent.
        if (connection.phase == Phase::connecting)
          fail_connection(connection, "connecting timed out", ETIMEDOUT);
        else
          fail_connection(connection, "the peer did not answer the hello in time");
        continue;
      }
      setup_check_at = std::min(setup_check_at, connection.deadline);
    }
  }
  if (strangers_count == 0) return;
  for (std::size_t place = 0; place < strangers.size(); ++place) {
    if (!strangers[place].socket) continue;
    if (strangers[place].deadline <= now) {
      ++statistics.strangers_closed;
      close_stranger(place);
      continue;
    }
    setup_check_at = std::min(setup_check_at, strangers[place].deadline);
  }
}

replay::TransportStatistics TcpTransport::statistics() const noexcept {
  const TcpStatistics& own = state_->statistics;
  return {.system_calls = own.send_calls + own.receive_calls + own.wait_calls,
          .payload_sent = own.payload_sent,
          .payload_copied = own.payload_copied,
          .payload_discarded = own.payload_discarded,
          .congestion_control = state_->congestion_control};
}

const TcpStatistics& TcpTransport::tcp_statistics() const noexcept { return state_->statistics; }

}  // namespace rehearsal::tcp

#include "cli/operator_session.hpp"

#include <algorithm>
#include <asio/connect.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <deque>
#include <utility>

#include "cli/version.hpp"
#include "core/protocol/codec.hpp"
#include "core/protocol/frame.hpp"
#include "runtime/clock.hpp"
#include "runtime/endpoint.hpp"
#include "runtime/framed_connection.hpp"

namespace rehearsal::cli {
namespace {

using protocol::Envelope;

constexpr Duration kConnectLimit = std::chrono::seconds{3};
constexpr Duration kWelcomeLimit = std::chrono::seconds{5};
// Until the coordinator has named its own.
constexpr Duration kHeartbeatInterval = std::chrono::milliseconds{500};
/// Longer than the agents' limit: nothing is at stake here but the report, and a coordinator that
/// is gone closes the connection.
constexpr Duration kSilenceLimit = std::chrono::seconds{10};

Error error_of(const protocol::Failure& failure) {
  return Error{error_code(failure.code()).value_or(ErrorCode::protocol), ErrorSource::control,
               failure.message()};
}

Failure unreachable(const runtime::Endpoint& endpoint, const std::string& why) {
  return fail(ErrorCode::disconnected, ErrorSource::control,
              "no coordinator at " + runtime::to_string(endpoint) + " (" + why +
                  "): start rehearsald there, or name another with --coordinator HOST:PORT or "
                  "REHEARSAL_COORDINATOR");
}

}  // namespace

struct OperatorSession::State {
  explicit State(runtime::Endpoint at) : endpoint(std::move(at)), wake(io) {}
  ~State() {
    if (wake.is_open()) wake.release();  // it belongs to Interrupts
  }

  Result<void> connect();
  Result<void> greet();
  void start(asio::ip::tcp::socket socket);
  void on_payload(const std::string& payload);
  Result<void> check_alive(Instant now);
  void send_heartbeat_if_due(Instant now);
  void arm_wake();
  void run_until(Instant deadline);

  runtime::Endpoint endpoint;
  asio::io_context io{1};
  asio::posix::stream_descriptor wake;
  Interrupts* interrupts = nullptr;
  bool wake_is_armed = false;
  std::shared_ptr<runtime::FramedConnection> connection;
  std::deque<Envelope> inbox;
  std::optional<std::string> closed;
  std::string software;
  Duration heartbeat_interval = kHeartbeatInterval;
  Instant last_heard;
  Instant next_heartbeat;
};

void OperatorSession::State::run_until(Instant deadline) {
  if (io.stopped()) io.restart();
  io.run_one_until(runtime::timer_point(deadline));
}

Result<void> OperatorSession::State::connect() {
  std::optional<asio::error_code> outcome;
  asio::ip::tcp::resolver resolver{io};
  asio::ip::tcp::socket socket{io};
  const auto connected = [&](const asio::error_code& error, const asio::ip::tcp::endpoint&) {
    outcome = error;
  };
  const auto resolved = [&](const asio::error_code& error,
                            const asio::ip::tcp::resolver::results_type& results) {
    if (error)
      outcome = error;
    else
      asio::async_connect(socket, results, connected);
  };
  resolver.async_resolve(endpoint.address, std::to_string(endpoint.port), resolved);

  const Instant deadline = runtime::now() + kConnectLimit;
  while (!outcome && runtime::now() < deadline) run_until(deadline);
  if (!outcome) {
    // The handlers look at this frame: let them end before it goes.
    resolver.cancel();
    asio::error_code ignored;
    socket.close(ignored);
    io.restart();
    io.run();
    return unreachable(endpoint, "no answer in " + format_duration(kConnectLimit));
  }
  if (*outcome) return unreachable(endpoint, outcome->message());
  start(std::move(socket));
  return {};
}

void OperatorSession::State::start(asio::ip::tcp::socket socket) {
  connection = runtime::FramedConnection::create(runtime::tcp_stream(std::move(socket)));
  last_heard = runtime::now();
  next_heartbeat = last_heard + heartbeat_interval;
  connection->start({
      .on_frame = [this](const std::string& payload) { on_payload(payload); },
      .on_closed = [this](std::string reason) { closed = std::move(reason); },
  });
}

void OperatorSession::State::on_payload(const std::string& payload) {
  last_heard = runtime::now();
  auto message = protocol::decode(payload);
  if (!message) return connection->abort(message.error().text());
  if (message->has_heartbeat()) return;
  inbox.push_back(std::move(*message));
}

Result<void> OperatorSession::State::check_alive(Instant now) {
  const std::string who = "the coordinator at " + runtime::to_string(endpoint);
  if (closed)
    return fail(ErrorCode::disconnected, ErrorSource::control, who + " is gone: " + *closed);
  if (now - last_heard > kSilenceLimit) {
    // It may be this process that was away: what came meanwhile is read before anyone is blamed.
    if (io.stopped()) io.restart();
    io.poll();
  }
  if (now - last_heard > kSilenceLimit)
    return fail(ErrorCode::disconnected, ErrorSource::control,
                who + " has been silent for " + format_duration(now - last_heard));
  return {};
}

void OperatorSession::State::send_heartbeat_if_due(Instant now) {
  if (now < next_heartbeat) return;
  Envelope message;
  message.mutable_heartbeat();
  connection->send(protocol::encode(message));
  next_heartbeat = now + heartbeat_interval;
}

/// Makes run_until() come back when an interrupt comes in.
void OperatorSession::State::arm_wake() {
  if (interrupts == nullptr || wake_is_armed) return;
  wake_is_armed = true;
  wake.async_wait(asio::posix::stream_descriptor::wait_read,
                  [this](const asio::error_code&) { wake_is_armed = false; });
}

Result<void> OperatorSession::State::greet() {
  Envelope hello;
  hello.mutable_hello()->set_version_min(protocol::kVersionMin);
  hello.mutable_hello()->set_version_max(protocol::kVersionMax);
  hello.mutable_hello()->set_role(protocol::ROLE_OPERATOR);
  hello.mutable_hello()->set_software(kSoftware);
  connection->send(protocol::encode(hello));
  return {};
}

Result<OperatorSession> OperatorSession::open(const std::string& coordinator) {
  ASSIGN_OR_RETURN(const runtime::Endpoint endpoint, runtime::parse_endpoint(coordinator));
  if (endpoint.port == 0)
    return invalid("coordinator '" + coordinator + "': port 0; expected 1 to 65535");
  OperatorSession session{std::make_unique<State>(endpoint)};
  RETURN_IF_ERROR(session.state_->connect());
  RETURN_IF_ERROR(session.state_->greet());
  ASSIGN_OR_RETURN(const Envelope answer,
                   session.expect(Envelope::kWelcome, kWelcomeLimit, "a welcome"));
  const protocol::Welcome& welcome = answer.welcome();
  State& state = *session.state_;
  state.software = welcome.software();
  if (welcome.heartbeat_interval_ns() > 0)
    state.heartbeat_interval = Duration{welcome.heartbeat_interval_ns()};
  state.next_heartbeat = runtime::now() + state.heartbeat_interval;
  return session;
}

OperatorSession::OperatorSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
OperatorSession::OperatorSession(OperatorSession&&) noexcept = default;
OperatorSession::~OperatorSession() = default;

const std::string& OperatorSession::coordinator_software() const { return state_->software; }

void OperatorSession::watch(Interrupts& interrupts) {
  state_->interrupts = &interrupts;
  state_->wake.assign(interrupts.handle());
}

Result<void> OperatorSession::send(const Envelope& message) {
  RETURN_IF_ERROR(state_->check_alive(runtime::now()));
  if (!state_->connection->send(protocol::encode(message)))
    return fail(ErrorCode::disconnected, ErrorSource::control, "the coordinator is gone");
  return {};
}

Result<std::optional<Envelope>> OperatorSession::receive(Instant deadline,
                                                         const std::string& awaited) {
  State& state = *state_;
  while (true) {
    const Instant now = runtime::now();
    if (!state.inbox.empty()) {
      Envelope message = std::move(state.inbox.front());
      state.inbox.pop_front();
      if (message.has_failure()) return Failure{error_of(message.failure())};
      if (message.has_refused())
        return fail(ErrorCode::refused, ErrorSource::control, message.refused().reason());
      return message;
    }
    if (state.interrupts != nullptr && state.interrupts->take()) return std::nullopt;
    RETURN_IF_ERROR(state.check_alive(now));
    if (now >= deadline)
      return fail(ErrorCode::timed_out, ErrorSource::control,
                  "the coordinator at " + runtime::to_string(state.endpoint) + " did not send " +
                      awaited + " in time");
    state.send_heartbeat_if_due(now);
    state.arm_wake();
    state.run_until(std::min({deadline, state.next_heartbeat,
                              state.last_heard + kSilenceLimit + std::chrono::milliseconds{1}}));
  }
}

Result<Envelope> OperatorSession::expect(Envelope::MessageCase kind, Duration limit,
                                         const std::string& awaited) {
  const Instant deadline = runtime::now() + limit;
  while (true) {
    ASSIGN_OR_RETURN(std::optional<Envelope> message, receive(deadline, awaited));
    if (!message) continue;  // an interrupt: what is expected comes soon, or the deadline does
    if (message->message_case() == kind) return std::move(*message);
    return fail(ErrorCode::protocol, ErrorSource::control,
                "the coordinator sent " +
                    std::string{protocol::message_name(message->message_case())} + " instead of " +
                    awaited);
  }
}

}  // namespace rehearsal::cli

#include <algorithm>
#include <cerrno>

#include "agent/transport/rdma/state.hpp"

namespace rehearsal::rdma {
namespace {

bool heard(const Connection& connection) noexcept {
  return connection.heard_small || connection.heard_full;
}

bool peer_heard(const Connection& connection) noexcept {
  return connection.peer_heard_small || connection.peer_heard_full;
}

}  // namespace

/// That both ends take.
std::uint32_t RdmaTransport::State::path_mtu(const Connection& connection) const noexcept {
  return std::min(ports[connection.port].port->path_mtu(), connection.peer.path_mtu);
}

void RdmaTransport::State::begin_greeting(Connection& connection) noexcept {
  connection.phase = Phase::greeting;
  connection.next_greeting = kAtOnce;
  next_greeting = kAtOnce;
  ++setting_up;
}

void RdmaTransport::State::greet(Connection& connection, Instant now) noexcept {
  if (connection.deadline == kNever) connection.deadline = now + options.greeting_limit;
  connection.next_greeting = now + kGreetingInterval;
  const PortInUse& used = ports[connection.port];
  // Full ones once the peer is known to be there, and short ones now and then: if only those
  // arrive, both ways, the path MTU is to blame.
  const bool small =
      connection.phase == Phase::greeting &&
      (!heard(connection) || connection.greetings % kSmallGreetingEvery == kSmallGreetingEvery - 1);
  ++connection.greetings;
  ++statistics.greetings_sent;
  const std::uint32_t full = path_mtu(connection);
  used.greeter->send({.proof = connection.own_proof,
                      .to = connection.peer.connection,
                      .size = small ? kGreetingSmall : full,
                      .heard_small = connection.heard_small ? 1U : 0U,
                      .heard_full = connection.heard_full ? 1U : 0U,
                      .has_ece = connection.agreed ? 1U : 0U,
                      .ece = connection.agreed.value_or(Ece{})},
                     connection.handle, connection.peer.greeter, connection.peer.greeter_key, now);
}

void RdmaTransport::State::become_ready(Connection& connection) noexcept {
  connection.phase = Phase::ready;
  --setting_up;
  complete({.kind = Completion::Kind::connected,
            .connection = connection.spec.index,
            .bytes = path_mtu(connection)});
}

void RdmaTransport::State::hear(PortInUse& used) noexcept {
  while (const auto greeting = used.greeter->receive()) {
    if (greeting->to >= connections.size()) continue;
    Connection& connection = connections[greeting->to];
    const bool known = connection.phase != Phase::unused;
    if (!known || connection.proof_of_peer != greeting->proof) continue;  // a stranger
    hear(connection, *greeting);
  }
}

void RdmaTransport::State::hear(Connection& connection, const Greeting& greeting) noexcept {
  if (connection.outgoing && !connection.heard_ece) {
    connection.heard_ece = true;
    if (greeting.has_ece == 1) connection.answer = greeting.ece;
    if (connection.awaits_ece && connection.phase == Phase::greeting) {
      if (const auto made = answered_ece(connection); !made)
        return fail_connection(connection, made.error().text());
    }
  }
  const bool full = greeting.size > kGreetingSmall;
  const bool news = full ? !connection.heard_full : !heard(connection);
  connection.heard_small |= !full;
  connection.heard_full |= full;
  connection.peer_heard_small |= greeting.heard_small == 1;
  connection.peer_heard_full |= greeting.heard_full == 1;
  if (connection.phase == Phase::greeting && connection.heard_full && connection.peer_heard_full)
    become_ready(connection);
  const bool joined = connection.phase == Phase::greeting || connection.phase == Phase::ready;
  // Who has not heard that it was heard is told so.
  const bool asks = connection.phase == Phase::ready && greeting.heard_full == 0;
  if (joined && (news || asks)) {
    connection.next_greeting = kAtOnce;
    next_greeting = kAtOnce;
  }
}

void RdmaTransport::State::continue_greeting(Instant now) noexcept {
  if (now < next_greeting) return;
  next_greeting = kNever;
  for (Connection& connection : connections) {
    if (connection.phase != Phase::greeting && connection.phase != Phase::ready) continue;
    if (connection.phase == Phase::greeting && now >= connection.deadline) {
      give_up_greeting(connection);
      continue;
    }
    if (now >= connection.next_greeting) greet(connection, now);
    if (connection.phase == Phase::ready) connection.next_greeting = kNever;
    next_greeting = std::min(next_greeting, connection.next_greeting);
  }
}

void RdmaTransport::State::give_up_greeting(Connection& connection) noexcept {
  const PortInUse& used = ports[connection.port];
  const std::uint32_t full = path_mtu(connection);
  const std::string at = ends_of(connection, 0);
  if (heard(connection) && peer_heard(connection)) {
    const char* where = connection.heard_full        ? " there"
                        : connection.peer_heard_full ? " here"
                                                     : "";
    fail_connection(connection,
                    "[REHEARSAL-RDMA-008] " + at +
                        ": short datagrams arrive both ways, those of the path MTU of " +
                        std::to_string(full) + " B do not" + where +
                        ": a switch or interface on the way has a smaller MTU (it "
                        "must carry " +
                        std::to_string(full + kPacketOverhead) + " B of IP packet)",
                    EMSGSIZE);
  } else {
    fail_connection(connection,
                    "[REHEARSAL-RDMA-007] " + at +
                        (heard(connection) ? ": the peer's greetings arrive here, but none of "
                                             "this end arrived there within "
                                           : ": no greeting of the peer arrived within ") +
                        format_duration(options.greeting_limit) +
                        (used.port->down ? "; the port is down" : ""),
                    ETIMEDOUT);
  }
}

}  // namespace rehearsal::rdma

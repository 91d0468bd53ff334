#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/transport/rdma/state.hpp"
#include "agent/transport/stamp.hpp"
#include "core/base/check.hpp"
#include "core/base/encoding.hpp"
#include "core/base/random.hpp"

namespace rehearsal::rdma {
namespace {

/// Inline data that a clear-to-send and a tiny message need; most devices have it.
constexpr std::uint32_t kInlineWanted = 64;

/// 64 bits that stand for a connection of this run, seen from one of its ends.
std::uint64_t proof(const std::string& token, const plan::ConnectionKey& key, bool outgoing) {
  Encoder encoder;
  encoder.text(token);
  encoder.number(key.job.value);
  encoder.number(key.communicator.value);
  encoder.number(key.source.value);
  encoder.number(key.destination.value);
  encoder.number(key.channel);
  encoder.number(static_cast<std::uint64_t>(key.use));
  encoder.number(outgoing ? 1 : 0);
  return std::stoull(sha256_hex(encoder.bytes()).substr(0, 16), nullptr, 16);
}

Failure wrong_peer(const std::string& what) {
  return fail(ErrorCode::protocol, ErrorSource::transport, "[REHEARSAL-RDMA-010] " + what);
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (std::max<std::uint64_t>(bytes, 1) + 63) / 64 * 64;
}

}  // namespace

RdmaTransport::RdmaTransport() : state_(std::make_unique<State>()) {}
RdmaTransport::~RdmaTransport() {
  for (Connection& connection : state_->connections) state_->silence(connection);
}

RdmaTransport::State::~State() {
  connections.clear();  // queue pairs before what they stand on
  if (epoll >= 0) ::close(epoll);
}

Result<std::unique_ptr<RdmaTransport>> RdmaTransport::create(RdmaOptions options) {
  CHECK(options.verbs != nullptr, "an RDMA transport has verbs");
  std::unique_ptr<RdmaTransport> transport(new RdmaTransport());
  State& state = *transport->state_;
  state.options = std::move(options);
  state.api = state.options.verbs;
  state.epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (state.epoll < 0) return system_failure(ErrorSource::transport, "cannot make an epoll", errno);
  state.ports.resize(state.options.nics.size());
  state.send_requests.resize(kStagedMax);
  state.receive_requests.resize(kStagedMax);
  state.places.resize(2 * kStagedMax);
  state.dirty.reserve(2 * kStagedMax);
  return transport;
}

Result<PortInUse*> RdmaTransport::State::use_port(NicIndex nic) {
  CHECK(nic.value < ports.size(), "a connection is on a NIC of this host");
  PortInUse& used = ports[nic.value];
  if (used.port != nullptr) return &used;
  if (!options.nics[nic.value]) {
    return fail(ErrorCode::not_found, ErrorSource::transport,
                "[REHEARSAL-RDMA-002] NIC " + std::to_string(nic.value) + " has no RDMA port");
  }
  ASSIGN_OR_RETURN(used.port, Port::open(*api, *options.nics[nic.value], options));
  auto greeter = Greeter::open(*api, *used.port);
  if (!greeter) {
    used.port.reset();
    return Failure{greeter.error()};
  }
  used.greeter = std::move(*greeter);
  const auto watch_device = [&](int descriptor) {
    epoll_event event{.events = EPOLLIN, .data = {.u32 = nic.value}};
    return ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
  };
  const bool is_watched = watch_device(used.port->context()->async_fd) &&
                          (polls() || watch_device(used.port->channel()->fd));
  if (!is_watched) return system_failure(ErrorSource::transport, "cannot watch a device", errno);
  return &used;
}

Result<Connection*> RdmaTransport::State::add_connection(const replay::ConnectionSpec& spec,
                                                         bool outgoing) {
  ASSIGN_OR_RETURN(PortInUse * used, use_port(spec.nic));
  if (spec.message_bytes_max > used->port->message_bytes_max()) {
    return fail(ErrorCode::unsupported, ErrorSource::transport,
                "[REHEARSAL-RDMA-003] " + used->port->name() + " carries messages up to " +
                    std::to_string(used->port->message_bytes_max()) + " B, " +
                    std::to_string(spec.message_bytes_max) +
                    " B are planned; right would be smaller chunks (collectives.chunk)");
  }
  if (connections.size() <= spec.index.value) connections.resize(spec.index.value + 1);
  Connection& connection = connections[spec.index.value];
  CHECK(connection.phase == Phase::unused, "a connection is opened once");
  connection.spec = spec;
  connection.port = spec.nic.value;
  connection.outgoing = outgoing;
  connection.identity = agent::stamp_identity(spec.key);
  connection.own_proof = proof(options.token, spec.key, outgoing);
  connection.proof_of_peer = proof(options.token, spec.key, !outgoing);
  RETURN_IF_ERROR(make_pairs(connection));
  ASSIGN_OR_RETURN(connection.offered, query_ece(connection));
  RETURN_IF_ERROR(outgoing ? make_send_memory(connection) : make_receive_memory(connection));
  RETURN_IF_ERROR(post_first_receives(connection));
  connection.phase = Phase::opened;
  // All that can be waiting to be taken: sent and credit or received for each message; connected,
  // failed.
  completions.grow(std::size_t{std::max(connection.window, spec.credits)} * 2 + 2);
  watched.reserve(connections.size());
  dirty.reserve(std::max(dirty.capacity(), pairs_by_number.size()));
  return &connection;
}

Result<void> RdmaTransport::State::make_pairs(Connection& connection) {
  Port& port = *ports[connection.port].port;
  const std::uint32_t count = options.settings.queue_pairs;
  const std::uint32_t credits = connection.spec.credits;
  const std::uint32_t sends = 2 * credits + 8;
  const std::uint32_t receives = credits + 1;
  connection.window = 2 * credits;
  armed = false;  // there may be a new queue
  connection.inline_max = ~0U;
  for (std::uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(ibv_cq * queue, port.completion_queue(sends + receives));
    Pair pair;
    std::uint32_t inlined = kInlineWanted;
    ASSIGN_OR_RETURN(pair.pair, port.queue_pair(IBV_QPT_RC, queue, sends, receives, inlined, 0));
    pair.sends_max = sends;
    pair.number = static_cast<std::uint32_t>(pairs_by_number.size());
    connection.inline_max = std::min(connection.inline_max, inlined);
    connection.pairs.push_back(std::move(pair));
    pairs_by_number.push_back({.connection = connection.spec.index.value, .pair = i});
  }
  return {};
}

Result<RegisteredPiece> RdmaTransport::State::shared_piece(PortInUse& used, RegisteredPiece& piece,
                                                           std::uint64_t bytes) {
  if (piece.data == nullptr || piece.size < bytes) {
    ASSIGN_OR_RETURN(piece, used.port->memory().take(bytes));
    Random random(0x5eed);
    for (std::size_t i = 0; i + 8 <= piece.size; i += 8) {
      const std::uint64_t word = random.next();
      std::memcpy(piece.data + i, &word, sizeof word);
    }
  }
  return piece;
}

Result<void> RdmaTransport::State::make_send_memory(Connection& connection) {
  PortInUse& used = ports[connection.port];
  const std::uint32_t credits = connection.spec.credits;
  ASSIGN_OR_RETURN(connection.clear_to_sends,
                   used.port->memory().take(credits * sizeof(ClearToSend)));
  const std::uint64_t size = aligned(connection.spec.message_bytes_max);
  if (options.verify_payload) {
    connection.source_stride = size;
    ASSIGN_OR_RETURN(connection.source, used.port->memory().take(size * connection.window));
  } else {
    ASSIGN_OR_RETURN(connection.source, shared_piece(used, used.source, size));
  }
  connection.bytes_of.resize(connection.window);
  connection.parts_left.resize(connection.window);
  connection.order.resize(connection.pairs.size());
  for (auto& order : connection.order) order.grow(connection.window + 1);
  return {};
}

Result<void> RdmaTransport::State::make_receive_memory(Connection& connection) {
  PortInUse& used = ports[connection.port];
  const std::uint32_t credits = connection.spec.credits;
  const std::uint64_t size = aligned(connection.spec.message_bytes_max);
  if (options.verify_payload) {
    connection.landing_stride = size;
    ASSIGN_OR_RETURN(connection.landing, used.port->memory().take(size * credits));
  } else {
    ASSIGN_OR_RETURN(connection.landing, shared_piece(used, used.landing, size));
  }
  ASSIGN_OR_RETURN(connection.own_clear_to_sends,
                   used.port->memory().take(credits * sizeof(ClearToSend)));
  connection.size_of.resize(credits);
  const bool split = options.settings.queue_pair_use == plan::QueuePairUse::split;
  connection.parts_missing.assign(credits,
                                  split ? static_cast<std::uint32_t>(connection.pairs.size()) : 1);
  return {};
}

// Receives stand ready before the other end can send: one for each slot, and on the sending end one
// for each clear-to-send where these come with an event.
Result<void> RdmaTransport::State::post_first_receives(Connection& connection) {
  if (connection.outgoing && polls()) return {};
  const bool split = options.settings.queue_pair_use == plan::QueuePairUse::split;
  for (std::uint64_t slot = 0; slot < connection.spec.credits; ++slot) {
    if (!has_room(0, connection.pairs.size())) flush();
    if (connection.outgoing) {
      stage_receive(connection, 0, slot);
    } else if (split) {
      for (std::uint32_t i = 0; i < connection.pairs.size(); ++i)
        stage_receive(connection, i, slot);
    } else {
      stage_receive(connection, connection.pair_of(slot), slot);
    }
  }
  flush();
  if (connection.phase != Phase::failed) return {};
  return fail(ErrorCode::system, ErrorSource::transport, connection.failure);
}

PeerAddress RdmaTransport::State::address_of(const Connection& connection) const {
  const PortInUse& used = ports[connection.port];
  PeerAddress address{.gid = used.port->gid(),
                      .lid = used.port->lid(),
                      .ethernet = used.port->ethernet(),
                      .path_mtu = used.port->path_mtu(),
                      .connection = connection.spec.index.value,
                      .greeter = used.greeter->number(),
                      .greeter_key = used.greeter->queue_key(),
                      .packet_sequence = static_cast<std::uint32_t>(connection.own_proof >> 40),
                      .queue_pairs = {},
                      .slots = connection.spec.credits};
  for (const Pair& pair : connection.pairs) address.queue_pairs.push_back(pair.pair->qp_num);
  const RegisteredPiece& memory =
      connection.outgoing ? connection.clear_to_sends : connection.landing;
  address.memory = memory.address();
  address.remote_key = memory.remote_key;
  address.ece = connection.offered;
  address.stride = connection.outgoing ? sizeof(ClearToSend) : connection.landing_stride;
  return address;
}

Result<replay::Address> RdmaTransport::open(const replay::ConnectionSpec& spec) {
  ASSIGN_OR_RETURN(Connection * connection, state_->add_connection(spec, false));
  return encode(state_->address_of(*connection));
}

Result<replay::Address> RdmaTransport::offer(const replay::ConnectionSpec& spec) {
  ASSIGN_OR_RETURN(Connection * connection, state_->add_connection(spec, true));
  return encode(state_->address_of(*connection));
}

Result<void> RdmaTransport::connect(const replay::ConnectionSpec& spec,
                                    const replay::Address& address) {
  return state_->join(spec, address);
}

Result<void> RdmaTransport::accept(const replay::ConnectionSpec& spec,
                                   const replay::Address& address) {
  return state_->join(spec, address);
}

Result<void> RdmaTransport::State::join(const replay::ConnectionSpec& spec,
                                        const replay::Address& address) {
  CHECK(spec.index.value < connections.size(), "a connection is opened before it is connected");
  Connection& connection = connections[spec.index.value];
  CHECK(connection.phase == Phase::opened, "a connection is connected once");
  ASSIGN_OR_RETURN(connection.peer, decode_address(address));
  RETURN_IF_ERROR(check_peer(connection));
  ASSIGN_OR_RETURN(connection.handle, ports[connection.port].port->address_handle(connection.peer));
  RETURN_IF_ERROR(join_with_ece(connection));
  begin_greeting(connection);
  return {};
}

Result<void> RdmaTransport::State::make_ready(Connection& connection) {
  for (std::size_t i = 0; i < connection.pairs.size(); ++i)
    RETURN_IF_ERROR(make_ready(connection, connection.pairs[i], connection.peer.queue_pairs[i]));
  return {};
}

Result<void> RdmaTransport::State::check_peer(const Connection& connection) const {
  const PeerAddress& peer = connection.peer;
  const Port& port = *ports[connection.port].port;
  const std::string who = "the peer at GID " + gid_text(peer.gid);
  if (peer.queue_pairs.size() != connection.pairs.size())
    return wrong_peer(who + " has " + std::to_string(peer.queue_pairs.size()) +
                      " queue pairs for this connection, here are " +
                      std::to_string(connection.pairs.size()));
  if (peer.slots != connection.spec.credits)
    return wrong_peer(who + " has " + std::to_string(peer.slots) + " slots, here are " +
                      std::to_string(connection.spec.credits));
  if (peer.path_mtu < 256) return wrong_peer(who + " has no path MTU");
  if (peer.ethernet != port.ethernet())
    return wrong_peer(who + " is on " + (peer.ethernet ? "Ethernet" : "InfiniBand") + ", " +
                      port.name() + " is not");
  return {};
}

Result<void> RdmaTransport::State::make_ready(Connection& connection, Pair& pair,
                                              std::uint32_t peer_number) {
  const plan::RdmaSettings& settings = options.settings;
  const Port& port = *ports[connection.port].port;
  const auto refused = [&](std::string_view what, int error) {
    return system_failure(ErrorSource::transport,
                          "[REHEARSAL-RDMA-009] " + port.name() + ", towards GID " +
                              gid_text(connection.peer.gid) + ": " + std::string(what),
                          error);
  };
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = mtu_constant(path_mtu(connection));
  attributes.dest_qp_num = peer_number;
  attributes.rq_psn = connection.peer.packet_sequence;
  attributes.max_dest_rd_atomic = 1;
  attributes.min_rnr_timer = static_cast<std::uint8_t>(settings.rnr_timer);
  attributes.ah_attr = port.route_to(connection.peer);
  if (const int error =
          api->modify_qp(pair.pair.get(), &attributes,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
      error != 0)
    return refused("cannot move a queue pair to RTR (no route or neighbour?)", error);
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = static_cast<std::uint8_t>(settings.ack_timeout);
  attributes.retry_cnt = static_cast<std::uint8_t>(settings.retry_count);
  attributes.rnr_retry = static_cast<std::uint8_t>(settings.rnr_retry);
  attributes.sq_psn = static_cast<std::uint32_t>(connection.own_proof >> 40);
  attributes.max_rd_atomic = 1;
  if (const int error =
          api->modify_qp(pair.pair.get(), &attributes,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
      error != 0)
    return refused("cannot move a queue pair to RTS", error);
  return set_planned_rate(connection, pair);
}

replay::Capabilities RdmaTransport::capabilities() const {
  std::uint64_t most = std::uint64_t{1} << 31;
  for (const PortInUse& used : state_->ports)
    if (used.port != nullptr) most = std::min(most, used.port->message_bytes_max());
  return {.name = "rdma",
          .byte_source = "completed",
          .message_bytes_max = most,
          .spins = state_->polls()};
}

std::vector<std::string> RdmaTransport::bound() const {
  std::vector<std::string> lines;
  for (const PortInUse& used : state_->ports) {
    if (used.port == nullptr) continue;
    const Port& port = *used.port;
    lines.push_back(port.name() + ", path MTU " + std::to_string(port.path_mtu()) + " (active " +
                    std::to_string(port.active_mtu()) + ")" +
                    (used.port->memory().huge_pages() ? ", on huge pages" : "") + ", " +
                    state_->ece_of(static_cast<std::size_t>(&used - state_->ports.data())));
  }
  return lines;
}

replay::TransportStatistics RdmaTransport::statistics() const noexcept {
  const RdmaStatistics& all = state_->statistics;
  return {.system_calls = all.notifications,
          .payload_sent = all.payload_sent,
          .payload_copied = 0,
          .payload_discarded = 0,
          .congestion_control = {}};
}

const RdmaStatistics& RdmaTransport::rdma_statistics() const noexcept { return state_->statistics; }

}  // namespace rehearsal::rdma

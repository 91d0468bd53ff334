#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/transport/rdma/address.hpp"
#include "agent/transport/rdma/greeter.hpp"
#include "agent/transport/rdma/port.hpp"
#include "agent/transport/rdma/rdma_transport.hpp"
#include "agent/transport/ring.hpp"

namespace rehearsal::rdma {

using agent::Ring;
using replay::Completion;

/// A clear-to-send as it lies in the sender's memory; as large as NCCL's (src/transport/net_ib), of
/// which `index` is what counts: the slot of message index − 1 is free again.
struct alignas(64) ClearToSend {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t remote_keys[4] = {};
  std::uint32_t requests = 1;
  std::uint32_t tag = 0;
  std::uint64_t padding[2] = {};
  std::uint64_t index = 0;
};
static_assert(sizeof(ClearToSend) == 64);

/// Parts of a split message end on this boundary, as NCCL's do.
inline constexpr std::uint64_t kPartAlignment = 128;
/// Work requests that are staged before they must be posted.
inline constexpr std::size_t kStagedMax = 256;
inline constexpr int kPollBatch = 64;
/// Rounds over a completion queue in one poll, so that the caller gets its turn.
inline constexpr int kPollRounds = 4;
/// How often a greeting is sent until it is answered, and every which one is a short one.
inline constexpr Duration kGreetingInterval = std::chrono::milliseconds{20};
inline constexpr std::uint32_t kSmallGreetingEvery = 4;
/// How often the device is asked for events of port and queue pairs, and the greeter once all is
/// ready.
inline constexpr Duration kHousekeepingInterval = std::chrono::milliseconds{5};
/// How often all completion queues are armed anew: an event that a device or driver loses would
/// else leave its queue silent for good. Arming is a system call a queue, so not with each
/// housekeeping: five calls a second do not show, and what is lost once costs a fifth of a second.
inline constexpr Duration kArmingInterval = std::chrono::milliseconds{200};
inline constexpr Instant kAtOnce{};
/// What a packet of RoCE v2 has around its payload at most, in bytes of IP packet.
inline constexpr std::uint32_t kPacketOverhead = 74;

/// One queue pair of a connection, with what is posted and not known to be done.
struct Pair {
  QueuePair pair;
  std::uint32_t number = 0;  ///< index in State::pairs_by_number
  std::uint32_t sends_max = 0;
  std::uint32_t sent = 0;     ///< work requests posted, modulo 2^32
  std::uint32_t done = 0;     ///< … known to be complete
  std::uint32_t arrived = 0;  ///< messages (or parts) that came on it
  ibv_send_wr* staged_first = nullptr;
  ibv_send_wr* staged_last = nullptr;
  std::uint32_t staged = 0;
  std::uint32_t unsignalled = 0;  ///< clear-to-sends posted since the last with a completion
  ibv_recv_wr* receives_first = nullptr;
  ibv_recv_wr* receives_last = nullptr;
  bool dirty = false;
};

enum class Phase : std::uint8_t { unused, opened, greeting, ready, failed, aborted };

struct Connection {
  replay::ConnectionSpec spec;
  Phase phase = Phase::unused;
  bool outgoing = false;
  std::uint32_t port = 0;  // NicIndex
  std::uint64_t identity = 0;
  std::vector<Pair> pairs;
  PeerAddress peer;
  std::uint32_t inline_max = 0;
  std::string failure;  // of this connection, with what a person can do about it

  // Greeting.
  std::uint64_t proof_of_peer = 0;
  std::uint64_t own_proof = 0;
  ibv_ah* handle = nullptr;
  std::optional<Ece> offered;  // ECE that this end's queue pairs have
  std::optional<Ece> agreed;   // receiving end: as reduced; sending end: as used
  bool awaits_ece = false;     // sending end: its queue pairs wait for the receiver's answer
  bool heard_ece = false;      // … which came before the address
  std::optional<Ece> answer;
  bool heard_small = false;
  bool heard_full = false;
  bool peer_heard_small = false;
  bool peer_heard_full = false;
  std::uint32_t greetings = 0;
  Instant next_greeting = kNever;
  Instant deadline = kNever;

  // Sending end. A window of messages is under way; parts of each still to be completed.
  RegisteredPiece clear_to_sends;
  RegisteredPiece source;  // stride 0: one place for all messages
  std::uint64_t source_stride = 0;
  std::uint32_t window = 0;
  std::vector<std::uint64_t> bytes_of;     // by sequence modulo window
  std::vector<std::uint32_t> parts_left;   // by sequence modulo window
  std::vector<Ring<std::uint64_t>> order;  // by pair: sequences in order of posting
  std::uint64_t next_send = 0;
  std::uint64_t next_sent = 0;
  std::uint64_t credits_back = 0;
  bool watched = false;  // stands in State::watched
  BitRate rate_limit;    // of each queue pair; zero: none

  // Receiving end.
  RegisteredPiece landing;
  RegisteredPiece own_clear_to_sends;
  std::uint64_t landing_stride = 0;
  std::vector<std::uint64_t> size_of;        // by sequence modulo credits
  std::vector<std::uint32_t> parts_missing;  // by sequence modulo credits
  std::uint64_t next_received = 0;
  std::uint64_t released = 0;

  std::uint32_t pair_of(std::uint64_t sequence) const noexcept {
    return static_cast<std::uint32_t>(sequence % pairs.size());
  }
};

/// A NIC that traffic uses: its port and who greets there. One message's payload serves all.
struct PortInUse {
  std::unique_ptr<Port> port;
  std::unique_ptr<Greeter> greeter;
  bool greeter_armed = false;
  RegisteredPiece source;   // of the largest message so far
  RegisteredPiece landing;  // … where payload is not verified
};

struct RdmaTransport::State {
  RdmaOptions options;
  const VerbsApi* api = nullptr;
  int epoll = -1;
  std::vector<PortInUse> ports;  // by NicIndex; opened when first needed
  std::vector<Connection> connections;
  struct PairPlace {
    std::uint32_t connection = 0;
    std::uint32_t pair = 0;
  };
  std::vector<PairPlace> pairs_by_number;
  std::size_t setting_up = 0;
  Instant next_greeting = kNever;
  Instant next_housekeeping = kAtOnce;
  Instant next_arming = kAtOnce;

  Ring<Completion> completions;        // not taken by poll() yet
  std::vector<std::uint32_t> watched;  // connections whose clear-to-sends are looked at
  bool armed = false;                  // all queues are
  Instant turn{};                      // when the poll that is on began

  // Staging: requests are chained here and posted together.
  std::vector<ibv_send_wr> send_requests;
  std::vector<ibv_recv_wr> receive_requests;
  std::vector<ibv_sge> places;
  std::size_t sends_staged = 0;
  std::size_t receives_staged = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> dirty;  // connection, pair
  RdmaStatistics statistics;

  ~State();

  // Set-up (rdma_setup.cpp).
  Result<PortInUse*> use_port(NicIndex nic);
  Result<Connection*> add_connection(const replay::ConnectionSpec& spec, bool outgoing);
  Result<void> make_pairs(Connection& connection);
  Result<void> make_receive_memory(Connection& connection);
  Result<void> make_send_memory(Connection& connection);
  Result<RegisteredPiece> shared_piece(PortInUse& used, RegisteredPiece& piece,
                                       std::uint64_t bytes);
  Result<void> post_first_receives(Connection& connection);
  PeerAddress address_of(const Connection& connection) const;
  Result<void> join(const replay::ConnectionSpec& spec, const replay::Address& address);
  Result<void> check_peer(const Connection& connection) const;
  Result<void> make_ready(Connection& connection);
  Result<void> make_ready(Connection& connection, Pair& pair, std::uint32_t peer_number);
  /// Zero: as the drill's settings say.
  Result<void> limit_rate(Connection& connection, BitRate wanted);
  Result<void> set_planned_rate(Connection& connection, Pair& pair);
  int set_rate(Pair& pair, BitRate rate) noexcept;
  bool polls() const noexcept { return options.settings.completions == plan::CompletionMode::poll; }

  // Enhanced connection establishment (ece.cpp).
  Result<std::optional<Ece>> query_ece(Connection& connection);
  Result<bool> set_ece(Connection& connection, const Ece& wanted);
  Result<void> join_with_ece(Connection& connection);
  Result<void> answered_ece(Connection& connection);
  std::string ece_of(std::size_t port) const;

  // Greeting (greeting.cpp).
  std::uint32_t path_mtu(const Connection& connection) const noexcept;
  void begin_greeting(Connection& connection) noexcept;
  void greet(Connection& connection, Instant now) noexcept;
  void become_ready(Connection& connection) noexcept;
  void hear(PortInUse& used) noexcept;
  void hear(Connection& connection, const Greeting& greeting) noexcept;
  void continue_greeting(Instant now) noexcept;
  void give_up_greeting(Connection& connection) noexcept;

  // Data path (rdma_data_path.cpp).
  bool stage(const replay::Request& request) noexcept;
  bool stage_send(Connection& connection, const replay::Request& request) noexcept;
  bool stage_release(Connection& connection, const replay::Request& request) noexcept;
  void stage_part(Connection& connection, std::uint32_t pair, std::uint64_t sequence,
                  std::uint64_t offset, std::uint64_t part, std::uint64_t whole) noexcept;
  void stage_clear_to_send(Connection& connection, std::uint64_t sequence) noexcept;
  void stage_receive(Connection& connection, std::uint32_t pair, std::uint64_t sequence) noexcept;
  ibv_send_wr& next_send_request(Connection& connection, std::uint32_t pair) noexcept;
  void mark_dirty(Connection& connection, std::uint32_t pair) noexcept;
  bool has_room(std::size_t sends, std::size_t receives) const noexcept;
  void flush() noexcept;
  void flush(Connection& connection, Pair& pair) noexcept;
  std::size_t take_completions() noexcept;
  void take(const ibv_wc& completion) noexcept;
  void on_sent(Connection& connection, std::uint32_t pair, std::uint32_t count) noexcept;
  void on_arrival(Connection& connection, std::uint32_t pair, std::uint32_t bytes) noexcept;
  void deliver(Connection& connection) noexcept;
  void on_credit(Connection& connection) noexcept;
  void look_for_credits() noexcept;
  void watch(Connection& connection) noexcept;
  void complete(Completion completion) noexcept { completions.push(completion); }

  // Events and failures (failures.cpp).
  void housekeep(Instant at) noexcept;
  void hear_all() noexcept;
  void take_device_events(PortInUse& used) noexcept;
  bool arm() noexcept;
  void disarm_all() noexcept;
  bool take_channel_events() noexcept;
  static void disarm(PortInUse& used, const ibv_cq* queue) noexcept;
  /// `error_number`: zero where no errno is the cause.
  void fail_connection(Connection& connection, std::string reason, int error_number = 0) noexcept;
  void fail_request(Connection& connection, std::size_t pair, const ibv_wc& completion) noexcept;
  void fail_to_post(Connection& connection, const Pair& pair, int error) noexcept;
  void fail_protocol(Connection& connection, std::string_view what) noexcept;
  void fail_payload(Connection& connection) noexcept;
  void silence(Connection& connection) noexcept;
  std::string ends_of(const Connection& connection, std::size_t pair) const;
  std::string reason_of(const Connection& connection, std::size_t pair,
                        const ibv_wc& completion) const;
};

}  // namespace rehearsal::rdma

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.hpp"
#include "core/collective/choice.hpp"
#include "core/collective/forced.hpp"
#include "core/collective/settings.hpp"
#include "core/fault/fraction.hpp"

namespace rehearsal::plan {

/// How collectives become messages.
using CollectiveSettings = collective::Settings;

enum class TransportKind : std::uint8_t { loopback, tcp, rdma };
inline constexpr TransportKind kTransportKindLast = TransportKind::rdma;
std::string_view to_string(TransportKind kind);

/// What a TCP receiver does with payload: copy it to user space, or let the kernel drop it
/// (MSG_TRUNC). Said in the report.
enum class ReceiveMode : std::uint8_t { copy, discard };
std::string_view to_string(ReceiveMode mode);

/// Which verb carries a message: RDMA WRITE WITH IMMEDIATE into a slot of the receiver, as NCCL
/// does, or SEND into a posted receive.
enum class RdmaOperation : std::uint8_t { write, send };
std::string_view to_string(RdmaOperation operation);

/// How the queue pairs of a connection share its messages: whole ones in turn, or each in parts.
enum class QueuePairUse : std::uint8_t { round_robin, split };
std::string_view to_string(QueuePairUse use);

/// How a worker learns of completions: it polls, which wants a core, or it sleeps until an event.
enum class CompletionMode : std::uint8_t { poll, event };
std::string_view to_string(CompletionMode mode);

/// What queue pairs are made with. Defaults are NCCL's (nccl src/transport/net_ib: timeout 20,
/// retry 7, RNR retry 7, minimal RNR timer 12, one queue pair, hop limit 255).
struct RdmaSettings {
  RdmaOperation operation = RdmaOperation::write;
  std::uint32_t queue_pairs = 1;  ///< of one connection
  QueuePairUse queue_pair_use = QueuePairUse::round_robin;
  CompletionMode completions = CompletionMode::poll;
  std::uint32_t traffic_class = 0;  ///< the IP header's: DSCP × 4 + ECN
  std::uint32_t service_level = 0;
  std::uint32_t hop_limit = 255;
  std::uint32_t flow_label = 0;    ///< 0: the provider chooses the UDP source port
  std::uint32_t ack_timeout = 20;  ///< exponent n: 4.096 µs × 2^n; 0: never
  std::uint32_t retry_count = 7;
  std::uint32_t rnr_retry = 7;   ///< 7: for ever
  std::uint32_t rnr_timer = 12;  ///< code of the InfiniBand specification (12: 0.64 ms)
  std::uint32_t path_mtu = 0;    ///< bytes; 0: the smaller of both ports' active MTU
  BitRate rate_limit = {};       ///< of one queue pair, where the device can; zero: none
  /// Enhanced connection establishment: both ends agree on the provider's own options, where both
  /// providers know it.
  bool ece = true;

  bool operator==(const RdmaSettings&) const = default;
};

struct TransportSettings {
  TransportKind kind = TransportKind::tcp;
  std::string congestion_control =
      {};  ///< tcp: empty = the host's default (recorded in the report)
  ReceiveMode receive = ReceiveMode::copy;
  /// The sender stamps connection and sequence into each message, the receiver checks them before
  /// the slot is free again. Costs slots of their own on rdma, and copying on tcp.
  bool verify_payload = false;
  RdmaSettings rdma = {};

  bool operator==(const TransportSettings&) const = default;
};

/// Ranks of one agent hand over in memory; this is how long that is taken to last.
struct LocalSettings {
  BitRate rate{2'400'000'000'000};  ///< 300 GB/s, one direction of an A100's NVLink
  Duration latency = std::chrono::microseconds{2};

  bool operator==(const LocalSettings&) const = default;
};

/// What a drill says of handing over; the rest comes from the nodes of its jobs, or LocalSettings.
struct LocalWishes {
  std::optional<BitRate> rate;
  std::optional<Duration> latency;

  bool operator==(const LocalWishes&) const = default;
};

/// What a drill takes out of the model's hands, for jobs whose node is known: how NCCL's variables
/// are set, and sizes that no variable of NCCL sets.
struct ForcedChoices {
  collective::Forced nccl;
  /// An algorithm for all ops that can take it; those of other libraries too.
  std::optional<collective::Algorithm> algorithm;
  std::optional<Bytes> chunk;           ///< all but broadcast, reduce and messages of pairs
  std::optional<Bytes> pipeline_chunk;  ///< broadcast, reduce
  std::optional<std::uint32_t> slices_per_chunk;
  std::optional<std::uint32_t> credits;
  std::optional<std::uint32_t> point_to_point_channels;  ///< for one peer, and in all
  /// A key that was written and means something on known nodes alone; empty: none.
  std::string needs_node;

  bool operator==(const ForcedChoices&) const = default;
};

/// Ways of keeping in step: docs/architecture.md, "Time and phases".
enum class SyncMode : std::uint8_t { free, iteration, phase };
std::string_view to_string(SyncMode mode);

struct Limits {
  Duration duration = std::chrono::minutes{10};  ///< of the whole run, from the first start
  Duration progress =
      std::chrono::seconds{30};  ///< nothing moved (no op, no message) for this long: timed out
  Duration start_skew = Duration::zero();  ///< zero: no limit; over it: verdict warn

  bool operator==(const Limits&) const = default;
};

/// The stages of a drill with faults: the steady state before them, while they act, after the last.
enum class Stage : std::uint8_t { before, during, after };
std::string_view to_string(Stage stage);
std::optional<Stage> stage_from(std::string_view name);

/// What the operator expects of a run; a miss is verdict `fail`. Which members count is for its
/// metric to say (docs/drill-format.md); the others are zero.
struct Expectation {
  /// "iteration_p50", "start_skew_max" (at most), "all_reduce_busbw" (at least), "recovery" …
  std::string metric;
  Duration at_most{0};
  BitRate at_least{0};
  /// Of the iterations of this stage; nothing: of all.
  std::optional<Stage> stage = {};
  /// The bound as a part of the same figure before the faults.
  fault::Fraction at_most_of_before = {};
  fault::Fraction within = {};   ///< recovery: so near to the median before
  std::uint32_t iterations = 0;  ///< notice, recovery: in at most so many
  std::string of_fault = {};     ///< found: its name; empty: every one that can be

  bool operator==(const Expectation&) const = default;
};

/// What counts as recovered where the drill does not say: within 5 % of the median before.
inline constexpr fault::Fraction kRecoveredWithin{50'000};

}  // namespace rehearsal::plan

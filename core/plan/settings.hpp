#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.hpp"
#include "core/collective/choice.hpp"
#include "core/collective/forced.hpp"
#include "core/collective/settings.hpp"

namespace rehearsal::plan {

/// How collectives become messages.
using CollectiveSettings = collective::Settings;

enum class TransportKind : std::uint8_t { loopback, tcp };
std::string_view to_string(TransportKind kind);

/// What a TCP receiver does with payload: copy it to user space, or let the kernel drop it
/// (MSG_TRUNC). Said in the report.
enum class ReceiveMode : std::uint8_t { copy, discard };
std::string_view to_string(ReceiveMode mode);

struct TransportSettings {
  TransportKind kind = TransportKind::tcp;
  std::string congestion_control =
      {};  ///< tcp: empty = the host's default (recorded in the report)
  ReceiveMode receive = ReceiveMode::copy;

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

/// What the operator expects of a job; a miss is verdict `fail`.
struct Expectation {
  /// "iteration_p50", "iteration_p99", "start_skew_max" (durations, at most) or "<kind>_busbw"
  /// ("all_reduce_busbw"; a rate, at least).
  std::string metric;
  Duration at_most{0};
  BitRate at_least{0};

  bool operator==(const Expectation&) const = default;
};

}  // namespace rehearsal::plan

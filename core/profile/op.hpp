#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/units.hpp"

namespace rehearsal::profile {

/// Spelled as in the YAML.
enum class OpKind : std::uint8_t {
  compute,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  send,
  recv,
  barrier,
};

std::string_view to_string(OpKind kind);
std::optional<OpKind> op_kind(std::string_view name);

constexpr bool is_communication(OpKind kind) { return kind != OpKind::compute; }
/// send and recv: ordered per pair of ranks. All other communication is ordered per communicator.
constexpr bool is_point_to_point(OpKind kind) {
  return kind == OpKind::send || kind == OpKind::recv;
}

/// Index of an op in its rank class.
using OpIndex = std::uint32_t;

/// One thing a rank does. Ops of one stream run one after the other in list order; `after` adds
/// dependencies on earlier ops of the same rank on other streams. An op starts when all of these
/// are done, and (collectives) when the communicator's previous collective on this rank is done.
struct Op {
  OpKind kind = OpKind::compute;
  /// For people ("ddp bucket 3"); not part of what is sent.
  std::string name;
  /// Index into Profile::streams.
  std::uint32_t stream = 0;
  /// Index into Profile::phases: the phase that issues the op.
  std::uint32_t phase = 0;
  /// Indices of earlier ops of this rank class, ascending.
  std::vector<OpIndex> after;

  /// compute: how long it takes.
  Duration duration{0};

  /// communication: index into Profile::communicators.
  CommunicatorIndex communicator;
  /// S as nccl-tests counts it. all_reduce, broadcast, reduce: the buffer. all_gather,
  /// reduce_scatter: the full array. all_to_all: one rank's send buffer (with `peer_bytes`: unused,
  /// zero). gather, scatter: the full array at the root. send, recv: the message. barrier: zero.
  Bytes bytes;
  /// broadcast, reduce, gather, scatter: position of the root in the communicator.
  /// send, recv: position of the peer.
  std::uint32_t peer = 0;
  /// all_to_all with per-peer sizes: index into Profile::peer_bytes.
  std::optional<std::uint32_t> peer_bytes;
  /// communication: its true duration in the capture (the shortest over the ranks; start times
  /// differ, end times agree). Zero: not known. For comparison only, never replayed.
  Duration captured{0};

  bool operator==(const Op&) const = default;
};

}  // namespace rehearsal::profile

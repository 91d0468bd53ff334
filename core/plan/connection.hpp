#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "core/base/ids.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::plan {

/// What a connection is for; ops of different uses never share one. NCCL keeps what passes between
/// two ranks directly apart from rings and trees, as that takes other NICs (src/enqueue.cc,
/// connIndex), and sends and receives may run beside an all_to_all of their communicator.
enum class ConnectionUse : std::uint8_t {
  collective,      ///< rings, trees
  point_to_point,  ///< send, recv
  exchange,        ///< all_to_all, gather, scatter
  background,      ///< of a fault, not of a job: see background.hpp for what its key says
};
inline constexpr ConnectionUse kConnectionUseLast = ConnectionUse::background;
/// Uses by the ops of jobs.
inline constexpr std::size_t kConnectionUsesOfOps =
    static_cast<std::size_t>(ConnectionUse::exchange) + 1;

constexpr ConnectionUse use_of(profile::OpKind kind) {
  using profile::OpKind;
  switch (kind) {
    case OpKind::send:
    case OpKind::recv:
      return ConnectionUse::point_to_point;
    case OpKind::all_to_all:
    case OpKind::gather:
    case OpKind::scatter:
      return ConnectionUse::exchange;
    default:
      return ConnectionUse::collective;
  }
}

/// Who a connection is: one direction, source → destination, with its own credits. Unique in a run.
struct ConnectionKey {
  JobIndex job;
  CommunicatorIndex communicator;
  Rank source;
  Rank destination;
  std::uint16_t channel = 0;
  ConnectionUse use = ConnectionUse::collective;

  constexpr auto operator<=>(const ConnectionKey&) const = default;
};

/// What a transport needs to know of a connection, from either end.
struct ConnectionSpec {
  ConnectionIndex index;  ///< handle on this agent, used in requests and completions
  ConnectionKey key;
  NicIndex nic;               ///< the local NIC its traffic uses
  std::uint32_t credits = 0;  ///< messages that may be sent and not yet released
  std::uint64_t message_bytes_max = 0;
};

}  // namespace rehearsal::plan

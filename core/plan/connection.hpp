#pragma once

#include <compare>
#include <cstdint>

#include "core/base/ids.hpp"
#include "core/profile/op.hpp"

namespace rehearsal::plan {

/// Collectives and point-to-point ops have connections of their own, as in NCCL.
enum class ConnectionUse : std::uint8_t { collective, point_to_point };
constexpr ConnectionUse use_of(profile::OpKind kind) {
  return profile::is_point_to_point(kind) ? ConnectionUse::point_to_point
                                          : ConnectionUse::collective;
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

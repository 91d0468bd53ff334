#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace rehearsal {

/// A whole number that cannot be mixed up with another kind of number.
template <typename Tag, typename Representation = std::uint32_t>
struct Id {
  Representation value{};
  constexpr auto operator<=>(const Id&) const = default;
};

/// A rank of a job: 0 … size − 1. Inside a communicator a *position* counts (see Communicator).
using Rank = Id<struct RankTag>;
/// Index of an agent in a plan's list of hosts.
using HostIndex = Id<struct HostTag>;
/// Index of a NIC in its host's list (the rail).
using NicIndex = Id<struct NicTag>;
/// Index of a communicator in a profile.
using CommunicatorIndex = Id<struct CommunicatorTag>;
/// Index of a job in a plan.
using JobIndex = Id<struct JobTag>;
/// Handle of one connection on one agent: index into that agent's connection table.
using ConnectionIndex = Id<struct ConnectionTag>;

}  // namespace rehearsal

template <typename Tag, typename Representation>
struct std::hash<rehearsal::Id<Tag, Representation>> {
  std::size_t operator()(const rehearsal::Id<Tag, Representation>& id) const noexcept {
    return std::hash<Representation>{}(id.value);
  }
};

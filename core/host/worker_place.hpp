#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/host/core_list.hpp"

namespace rehearsal::host {

/// Where a NIC stands, as the kernel says.
struct NicPlace {
  std::string nic;
  std::optional<std::uint32_t> numa_node = {};
  Cores near = {};  ///< empty: not known (no hardware, one node)
  /// How many of the host's NICs near the same cores come before it by name: agents that each have
  /// one of them take cores of their own.
  std::uint32_t before = 0;

  bool operator==(const NicPlace&) const = default;
};

/// What the operator wants (`worker_cores` of the agent's configuration).
struct CoreWish {
  enum class Kind : std::uint8_t { automatic, none, named };

  Kind kind = Kind::automatic;
  Cores cores = {};  ///< with `named`

  bool operator==(const CoreWish&) const = default;
};
/// "auto", "none" or a list of cores ("4" or "4-7").
Result<CoreWish> parse_core_wish(std::string_view text);

/// Cores that the worker's thread is to be bound to, and why these.
struct WorkerPlace {
  Cores cores = {};  ///< empty: it stays where the scheduler puts it
  std::string why = {};
  bool hindered = false;  ///< some are near, but this process may use none of them

  bool operator==(const WorkerPlace&) const = default;
};

/// Where the worker goes. `automatic`: near the NICs, within what the process may use (its affinity
/// mask): to one core of its own if it polls, to all of them if it sleeps. Where no NIC says which
/// cores are near, or none of them may be used, it stays unbound. `named`: there; an error if the
/// process may not use them.
///
/// Data that crosses from one socket to the other on its way to the NIC costs memory bandwidth on
/// both; interrupts go to low cores first, so that the highest one is taken, isolated ones before
/// others.
Result<WorkerPlace> choose_worker_place(const CoreWish& wish, const std::vector<NicPlace>& nics,
                                        const Cores& allowed, const Cores& isolated, bool polls);

}  // namespace rehearsal::host

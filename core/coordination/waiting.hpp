#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/coordination/run_agent.hpp"

namespace rehearsal::coordination {

/// Whom a run waits for, and how that is known.
struct Waiting {
  std::vector<std::string> hosts;  ///< the stragglers; all that are missing if none stands out
  std::string text;                ///< "host2 (silent for 1.20 s; host0, host1 wait for it)"
  bool stands_out = false;         ///< there is a reason to name just these
};

/// Of the agents in `missing`, those that hold the others up: the ones that have been silent for
/// `silent_after` or longer; if there are none, those that others wait for and that themselves wait
/// for none of the missing ones.
Waiting waiting_for(std::span<const RunAgent> agents, std::span<const HostIndex> missing,
                    Instant now, Duration silent_after);

}  // namespace rehearsal::coordination

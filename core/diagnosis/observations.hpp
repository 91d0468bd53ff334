#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/time.hpp"

namespace rehearsal::diagnosis {

/// NICs of a run, numbered through all its hosts.
using NicNumber = std::uint32_t;

/// What passed from one NIC to another during one window of iterations. Both ends are in it.
struct Passage {
  std::uint64_t messages = 0;
  double bytes = 0;
  /// Time in which messages were on their way and the receiver had none to work on, summed over
  /// connections: posted until the credit is back, less here until consumed. Needs no common clock.
  /// What is on its way behind a message that still waits to be consumed is hidden: it held nobody
  /// up.
  Duration exposed{0};
  Duration starved{0};  ///< the receiver stood still for a message
  Duration blocked{0};  ///< the sender stood still for a credit
  /// Arrived less posted, summed over messages: with what the clocks of the two hosts are apart for
  /// each. Where a sender has its credits back before messages have arrived (TCP), `exposed` does
  /// not know how long they are under way. Nothing: the ends do not agree on the messages.
  std::optional<Duration> under_way = Duration::zero();
};

struct Flow {
  NicNumber source = 0;
  NicNumber destination = 0;
  /// Flows of the same kind do the same work at like places of their job, on other hosts: what one
  /// takes, the others should.
  std::uint32_t kind = 0;
  std::vector<Passage> windows = {};
};

/// What one rank computed.
struct RankWork {
  JobIndex job = {};
  Rank rank = {};
  HostIndex host = {};
  Duration planned{0};  ///< in one iteration
  /// By window: what it took, with what its agent was late to begin.
  std::vector<Duration> taken = {};
};

struct Window {
  std::uint32_t iterations = 0;
  /// Mean, of three and more without the longest: one that is late is an accident. Zero: not known.
  Duration iteration_time{0};
};

/// All that a diagnosis looks at: measurements only, nothing of what was meant to happen but the
/// computing that the profile asks for.
struct Observations {
  std::vector<HostIndex> host_of_nic = {};
  std::vector<Window> windows = {};
  std::vector<Flow> flows = {};
  std::vector<RankWork> ranks = {};
};

}  // namespace rehearsal::diagnosis

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/collective/expansion.hpp"
#include "core/plan/placement.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::replay {

/// What one rank does in every iteration, made ready once: ops with all that they wait for as a
/// count and all that waits for them as a list.
struct Program {
  struct Op {
    profile::OpKind kind = profile::OpKind::compute;
    std::uint32_t stream = 0;
    std::uint32_t phase = 0;  ///< the op's own, or a later one that it depends on
    Duration duration{0};
    CommunicatorIndex communicator;
    plan::ConnectionUse use = plan::ConnectionUse::collective;
    collective::Expansion expansion;
    std::uint32_t credits = 0;   ///< of its messages that may be under way on one connection
    std::uint32_t instance = 0;  ///< see measure::OpRecord
    std::uint32_t waits = 0;     ///< predecessors
    std::uint32_t successors_begin = 0;
    std::uint32_t successors_end = 0;
  };

  Program(const plan::Plan& plan, JobIndex job, Rank rank);

  std::shared_ptr<const profile::Profile> profile;  ///< expansions look into it
  plan::Shapes shapes;                              ///< and into these
  std::vector<Op> ops;
  std::vector<profile::OpIndex> successors;
  std::uint32_t streams = 0;
  std::uint32_t phases = 1;
  std::uint32_t communication_ops = 0;
  std::vector<std::uint32_t> lanes_max;  ///< by stream: of its widest op
};

}  // namespace rehearsal::replay

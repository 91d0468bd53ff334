#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/expansion.hpp"
#include "core/plan/placement.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// An op that a rank class does `count` times in an iteration.
struct RepeatedOp {
  const profile::Op* op = nullptr;
  std::uint64_t count = 0;
};

/// The communication ops of a class, those that put the same on the wire counted together, ordered
/// by communicator.
std::vector<RepeatedOp> distinct_communication(const profile::RankClass& rank_class);

/// Expands ops of one job; remembers what is the same for all ranks.
class OpExpander {
 public:
  OpExpander(const Plan& plan, JobIndex job);

  /// Lives no longer than the expander.
  collective::Expansion expand(const profile::Op& op, Rank rank);
  /// Of the op, which the plan has.
  const collective::Choice& choice(const profile::Op& op);
  /// The rank's position in the op's communicator.
  std::uint32_t position(const profile::Op& op, Rank rank);
  /// How the op's communicator stands on nodes and rails.
  const collective::Shape& shape(const profile::Op& op) { return shapes_.of(op.communicator); }
  /// The rank at a position of the op's communicator.
  Rank rank_at(const profile::Op& op, std::uint32_t position) const;

 private:
  const Plan& plan_;
  JobIndex job_;
  const profile::Profile& profile_;
  Shapes shapes_;
  // The last position that was looked up: ops come ordered by communicator.
  CommunicatorIndex communicator_;
  Rank rank_;
  std::uint32_t position_ = 0;
  bool known_ = false;
  const profile::Op* chosen_ = nullptr;
  collective::Choice choice_;  // of `chosen_`
};

}  // namespace rehearsal::plan

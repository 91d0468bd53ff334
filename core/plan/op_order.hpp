#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/profile/profile.hpp"

namespace rehearsal::plan {

/// Finds, op by op, the earlier ops of the rank that an op has to wait for: those of its `after`,
/// the one before it on its stream, and the one before it on its communicator (send and recv: with
/// its peer). docs/decisions/0006-order-of-ops.md says why.
class Predecessors {
 public:
  explicit Predecessors(std::uint32_t streams) : of_stream_(streams, kNone) {}

  /// Puts them into `out`, in no particular order, some perhaps twice; call in order of ops.
  void of(const profile::Op& op, profile::OpIndex index, std::vector<profile::OpIndex>& out);

 private:
  static constexpr profile::OpIndex kNone = static_cast<profile::OpIndex>(-1);

  static void remember(profile::OpIndex& last, profile::OpIndex index,
                       std::vector<profile::OpIndex>& out);

  std::vector<profile::OpIndex> of_stream_;
  std::map<CommunicatorIndex, profile::OpIndex> of_communicator_;
  std::map<std::tuple<CommunicatorIndex, std::uint32_t, profile::OpKind>, profile::OpIndex>
      of_pair_;
};

/// Finds the op of one rank class that is the same instance as an op of another: the n-th
/// collective of a communicator on every rank, the n-th recv from a rank and its n-th send to us.
class OpInstances {
 public:
  explicit OpInstances(const profile::RankClass& rank_class);

  /// Which instance the op is: of its communicator, or of its pair of ranks.
  std::uint32_t of(profile::OpIndex op) const { return instance_[op]; }
  /// The op of this class that is instance `instance` of a communicator's collectives.
  profile::OpIndex collective(CommunicatorIndex communicator, std::uint32_t instance) const {
    return collectives_.at(communicator)[instance];
  }
  /// The recv from (`kind` recv) or send to (send) the position `peer`.
  profile::OpIndex point_to_point(CommunicatorIndex communicator, profile::OpKind kind,
                                  std::uint32_t peer, std::uint32_t instance) const {
    return pairs_.at({communicator, peer, kind})[instance];
  }

 private:
  std::vector<std::uint32_t> instance_;  // by op
  std::map<CommunicatorIndex, std::vector<profile::OpIndex>> collectives_;
  std::map<std::tuple<CommunicatorIndex, std::uint32_t, profile::OpKind>,
           std::vector<profile::OpIndex>>
      pairs_;
};

}  // namespace rehearsal::plan

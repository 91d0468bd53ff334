#pragma once

#include <bit>
#include <cstdint>

namespace rehearsal::collective {

/// In which order a rank meets its peers in all_to_all, as NCCL schedules grouped sends and
/// receives (src/init.cc, ncclP2pSchedule). Ranks stand in groups (the ranks of a node); groups are
/// met at distances along the quadratic sequence (x² + x) / 2 mod 2^k, which visits every residue
/// once, and inside a group at distances 0, 1, 2 …. In a round a rank sends to +distance and
/// receives from −distance, so both ends of a pair meet in the same round.
///
/// 16 ranks, one a group: distances 0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8.
class PeerOrder {
 public:
  /// `group` must divide `ranks`.
  PeerOrder(std::uint32_t ranks, std::uint32_t group) noexcept
      : group_(group), groups_(ranks / group), modulus_(std::bit_ceil(groups_)) {}

  /// One round: how far away the peers are.
  struct Round {
    std::uint32_t group_index = 0;     ///< counts the distances between groups: 0, 1, 2 …
    std::uint32_t group_distance = 0;  ///< in groups
    std::uint32_t local_distance = 0;  ///< inside the group
  };

  /// Where an iteration stands; starts before the first round.
  class Iterator {
   public:
    /// False after the last round.
    bool next(const PeerOrder& order, Round& round) noexcept {
      if (started_ && ++round_.local_distance < order.group_) {
        round = round_;
        return true;
      }
      if (started_) ++round_.group_index;
      round_.local_distance = 0;
      while (candidate_ < order.modulus_) {
        const std::uint64_t x = candidate_++;
        round_.group_distance = static_cast<std::uint32_t>((x * x + x) / 2 % order.modulus_);
        if (round_.group_distance >= order.groups_) continue;
        started_ = true;
        round = round_;
        return true;
      }
      started_ = false;
      return false;
    }

   private:
    Round round_;
    std::uint32_t candidate_ = 0;
    bool started_ = false;
  };

  std::uint32_t group() const noexcept { return group_; }

  /// Whom `position` sends to in this round.
  std::uint32_t to(std::uint32_t position, const Round& round) const noexcept {
    return (position / group_ + round.group_distance) % groups_ * group_ +
           (position % group_ + round.local_distance) % group_;
  }
  /// From whom `position` receives in this round.
  std::uint32_t from(std::uint32_t position, const Round& round) const noexcept {
    return (position / group_ + groups_ - round.group_distance) % groups_ * group_ +
           (position % group_ + group_ - round.local_distance) % group_;
  }

 private:
  std::uint32_t group_;
  std::uint32_t groups_;
  std::uint32_t modulus_;
};

}  // namespace rehearsal::collective

#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/pair_cut.hpp"
#include "core/collective/partition.hpp"
#include "core/collective/peer_order.hpp"
#include "core/collective/shape.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::collective {

/// How much each rank sends to each other in one op.
struct PairBytes {
  enum class Kind : std::uint8_t { all_to_all, per_peer, gather, scatter, single };

  Kind kind = Kind::all_to_all;
  std::uint32_t size = 1;
  std::uint64_t bytes = 0;
  std::uint32_t root = 0;         ///< gather, scatter; single: the sender
  std::uint32_t destination = 0;  ///< single: the receiver
  const profile::PeerBytes* per_peer = nullptr;

  /// Zero where source and destination are the same: that part is a copy in memory.
  std::uint64_t from_to(std::uint32_t source, std::uint32_t to) const noexcept;
};

/// Whom a rank meets in which round, and how what passes between them is cut.
class PairSchedule {
 public:
  /// What one rank sends another, or receives from it.
  struct Meeting {
    std::uint32_t peer = 0;
    std::uint32_t base = 0;  ///< decides on the channels (PairRules)
    std::uint64_t bytes = 0;
    PairCut cut;

    Range part(std::uint32_t index) const noexcept {
      const std::uint64_t begin = index * cut.part_bytes;
      return {begin, std::min(begin + cut.part_bytes, bytes)};
    }
  };

  PairSchedule(PairBytes pairs, std::uint32_t position, const Shape& shape,
               const Choice& choice) noexcept;

  /// False after the last round.
  bool next(PeerOrder::Iterator& rounds, bool sent, Meeting& meeting) const noexcept;

  const PairBytes& pairs() const noexcept { return pairs_; }
  const PairRules& rules() const noexcept { return rules_; }
  Protocol protocol() const noexcept { return protocol_; }

 private:
  std::uint32_t base_of(const PeerOrder::Round& round) const noexcept;

  PairBytes pairs_;
  PeerOrder order_;
  PairRules rules_;
  const Shape* shape_;
  std::uint32_t position_;
  Protocol protocol_;
};

/// all_to_all, gather, scatter, send, recv: grouped sends and receives in NCCL's peer order
/// (PeerOrder). A channel serves at most 8 peers at a time in each direction
/// (NCCL_MAX_DEV_WORK_P2P_PER_BATCH): a lane is a direction, a channel and one of these slots, and
/// takes every eighth peer of its channel, in order of rounds. That order is the same at both ends
/// of every pair, so the earliest round that is not done can always move.
class PairExchange {
 public:
  static constexpr std::uint32_t kPeersPerChannel = 8;

  /// `shape` outlives the expansion and its cursors.
  PairExchange(PairBytes pairs, std::uint32_t position, const Shape& shape,
               const Choice& choice) noexcept;

  class Cursor {
   public:
    Cursor(const PairExchange& algorithm, std::uint32_t lane) noexcept;
    bool next(Step& step) noexcept;

   private:
    bool next_part() noexcept;

    PairSchedule schedule_;
    PeerOrder::Iterator rounds_;
    std::uint32_t slots_;
    std::uint32_t slot_;
    std::uint32_t peers_seen_ = 0;  // on this channel
    Step step_;                     // of the current peer
    std::uint64_t chunk_ = 0;
    std::uint64_t end_ = 0;  // of the part
  };

  std::uint32_t lane_count() const noexcept { return directions() * channels() * slots_; }
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  void append_sent(std::vector<Traffic>& out) const;
  void append_received(std::vector<Traffic>& out) const;

  /// How many peers a channel serves at a time for the op.
  static std::uint32_t slots(PairBytes::Kind kind, std::uint32_t size) noexcept;

 private:
  std::uint32_t directions() const noexcept { return (sends_ ? 1U : 0U) + (receives_ ? 1U : 0U); }
  std::uint32_t channels() const noexcept { return schedule_.rules().channels(); }
  void append(bool sent, std::vector<Traffic>& out) const;

  PairSchedule schedule_;
  std::uint32_t slots_;
  bool sends_ = false;
  bool receives_ = false;
};

}  // namespace rehearsal::collective

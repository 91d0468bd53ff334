#pragma once

#include <cstdint>

namespace rehearsal::collective {

/// The order of messages of NCCL's PAT, parallel aggregated trees (nccl src/include/collectives.h,
/// PatRSAlgorithm and PatAGAlgorithm; S. Jeaugey, "PAT: a new algorithm for all-gather and
/// reduce-scatter operations at scale", 2025).
///
/// Every rank's block has a binomial tree of its own, all alike: at distance s from its owner
/// (owner − rank, modulo n) a block goes on by the lowest set bit of s. So a rank talks to those at
/// distance 2^k only, and does the same as every other rank but for the numbers of the blocks.
/// reduce_scatter sends up (to rank + 2^k), all_gather down (to rank − 2^k). Messages between the
/// same two ranks may hold pieces of several blocks.

/// What a message holds: of the end farther from the owners, pieces at the distances first,
/// first + stride, … (the nearer end has distances smaller by 2^k).
struct PatGroup {
  std::uint32_t first = 0;
  std::uint32_t stride = 0;
  std::uint32_t count = 0;
  /// Room in the message, in pieces. Where ranks are no power of two, reduce_scatter sends room for
  /// blocks that do not exist.
  std::uint32_t slots = 0;

  /// Of `slots` distances those below `ranks`.
  static PatGroup of(std::uint32_t first, std::uint32_t stride, std::uint32_t slots,
                     std::uint32_t ranks) noexcept;
  bool operator==(const PatGroup&) const = default;
};

/// What a rank does next: it receives, sends, or does both, the receive first.
struct PatMove {
  bool receives = false;
  bool sends = false;
  std::uint8_t from = 0;  ///< k of the peer at distance 2^k
  std::uint8_t to = 0;
  PatGroup received;
  PatGroup sent;
};

/// How pieces are put together.
struct PatAggregation {
  /// Blocks are walked in `factor` trees at once that hang together at their tops; a power of two.
  std::uint32_t factor = 1;
  /// Pieces in one message; a power of two.
  std::uint32_t per_message = 1;

  /// As many pieces as fit in a chunk, and on top of this as many messages one after the other as a
  /// connection has credits (rounded down to a power of two; NCCL has 8 steps).
  static PatAggregation of(std::uint64_t chunk, std::uint64_t piece, std::uint32_t credits,
                           std::uint32_t ranks) noexcept;

  bool operator==(const PatAggregation&) const = default;
};

inline constexpr std::uint32_t kPatDimensionsMax = 20;  ///< up to 2^20 ranks

/// One chunk of every block for reduce_scatter: the far ends of the trees first, at their tops
/// last.
class PatScatterOrder {
 public:
  PatScatterOrder() = default;
  PatScatterOrder(std::uint32_t ranks, PatAggregation aggregation) noexcept;
  /// False at the end.
  bool next(PatMove& move) noexcept;

 private:
  enum class Phase : std::uint8_t { leaves, relays, tops_pass, tops_join, own, done };

  void act(PatMove& move) noexcept;
  void advance() noexcept;
  void start(Phase phase) noexcept;
  PatGroup group(std::uint32_t count, std::uint32_t index, std::uint32_t stride,
                 std::uint32_t offset) const noexcept;
  void receive(PatMove& move, std::uint32_t dimension, const PatGroup& group, bool closes) noexcept;

  std::uint32_t ranks_ = 1;
  std::uint32_t factor_ = 1;
  std::uint32_t per_message_ = 1;
  std::uint32_t delta_ = 1;  // between the trees that are walked at once
  std::uint32_t below_ = 0;  // where in each of them: delta − 1 … 1
  std::uint32_t scale_ = 1;  // among the tops: 1 … factor / 2
  std::uint32_t index_ = 0;  // of the tree: 0 … count − 1
  std::uint32_t count_ = 1;
  std::uint32_t open_ = 0;  // by dimension: a message is received and not used up
  Phase phase_ = Phase::done;
};

/// One chunk of every block for all_gather: the tops of the trees first.
class PatGatherOrder {
 public:
  PatGatherOrder() = default;
  PatGatherOrder(std::uint32_t ranks, PatAggregation aggregation) noexcept;
  /// False at the end.
  bool next(PatMove& move) noexcept;

 private:
  enum class Phase : std::uint8_t { leaves, relays, tops, done };

  void act(PatMove& move) noexcept;
  void pass_from_top(PatMove& move, std::uint32_t distance, bool last_use) noexcept;
  void advance() noexcept;
  void start(Phase phase) noexcept;
  std::uint32_t next_below() noexcept;
  PatGroup group(std::uint32_t index, std::uint32_t stride, std::uint32_t offset) const noexcept;
  bool closes(std::uint32_t index, std::uint32_t next_distance) const noexcept;
  void receive(PatMove& move, std::uint32_t dimension, std::uint32_t ahead, const PatGroup& group,
               bool closes) noexcept;

  std::uint32_t ranks_ = 1;
  std::uint32_t factor_ = 1;
  std::uint32_t per_message_ = 1;
  std::uint32_t delta_ = 1;
  std::uint32_t below_ = 0;
  std::uint32_t scale_ = 0;
  std::uint32_t index_ = 0;
  std::uint32_t count_ = 1;
  std::uint8_t open_[kPatDimensionsMax] = {};  // messages received and not used up
  Phase phase_ = Phase::done;
  // The walk over the places in a tree, bit by bit (PatAGAlgorithm::nextAs).
  std::uint32_t bits_ = 0;
  std::uint32_t value_ = 0;
  std::int32_t left_[kPatDimensionsMax] = {};         // turns until the bit changes
  std::uint32_t zero_turns_[kPatDimensionsMax] = {};  // how often it became zero, from 1
};

}  // namespace rehearsal::collective

#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/direct_all_reduce.hpp"
#include "core/collective/direct_blocks.hpp"
#include "core/collective/halving_doubling.hpp"
#include "core/collective/pair_exchange.hpp"
#include "core/collective/pat_blocks.hpp"
#include "core/collective/ring_all_reduce.hpp"
#include "core/collective/ring_blocks.hpp"
#include "core/collective/ring_pipeline.hpp"
#include "core/collective/settings.hpp"
#include "core/collective/shape.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"
#include "core/collective/tree_all_reduce.hpp"
#include "core/profile/op.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::collective {

/// The steps of one lane of an op on one rank, one by one, strictly in order. A value; never
/// allocates.
class Cursor {
 public:
  Cursor() = default;
  template <typename Lane>
  explicit Cursor(const Lane& lane) noexcept : lane_(lane) {}

  /// False at the end.
  bool next(Step& step) noexcept;

 private:
  std::variant<std::monostate, RingAllReduce::Cursor, RingBlocks::Cursor, RingPipeline::Cursor,
               PairExchange::Cursor, TreeAllReduce::Cursor, DirectBlocks::Cursor, PatBlocks::Cursor,
               DirectAllReduce::Cursor, HalvingDoubling::Cursor>
      lane_;
};

/// An op on one rank, expanded: lanes that are independent of each other. A further algorithm is a
/// class with these four functions and a Cursor, in a file of its own, and a name in the two
/// variants.
class Expansion {
 public:
  /// Nothing to do: compute, and ops on a communicator of one.
  Expansion() = default;
  template <typename Algorithm>
  explicit Expansion(const Algorithm& algorithm) noexcept : algorithm_(algorithm) {}

  std::uint32_t lane_count() const noexcept;
  Cursor lane(std::uint32_t index) const noexcept;

  /// What this rank sends and receives in all, by peer and channel, without walking the steps.
  /// Appends only what is not empty; a pair and channel at most once.
  void append_sent(std::vector<Traffic>& out) const;
  void append_received(std::vector<Traffic>& out) const;

 private:
  std::variant<std::monostate, RingAllReduce, RingBlocks, RingPipeline, PairExchange, TreeAllReduce,
               DirectBlocks, PatBlocks, DirectAllReduce, HalvingDoubling>
      algorithm_;
};

/// What is picked for an op where nobody else picks: rings and Simple, as `settings` say, with as
/// many channels as the op is worth; for all_to_all, gather, scatter, send and recv their own
/// channels and chunk.
Choice default_choice(const profile::Op& op, const Settings& settings) noexcept;

/// Whether expand() knows how to do ops of `kind` that way on this shape. Those without a choice
/// (all_to_all, gather, scatter, send, recv, compute) it does whatever the algorithm.
bool can_expand(profile::OpKind kind, Algorithm algorithm, const Shape& shape) noexcept;

/// What the rank at `position` does for the op, which can_expand() as `choice` says. `shape` and
/// `peer_bytes` (nullptr where the op has none) are looked at as long as the expansion and its
/// cursors live.
Expansion expand(const profile::Op& op, std::uint32_t position, const Shape& shape,
                 const Choice& choice, const profile::PeerBytes* peer_bytes,
                 const Settings& settings) noexcept;

/// busbw / algbw for S as nccl-tests counts it (nccl-tests doc/PERFORMANCE.md): all_reduce
/// 2(n−1)/n; all_gather, reduce_scatter, all_to_all (n−1)/n; others 1.
double busbw_factor(profile::OpKind kind, std::uint32_t size);

}  // namespace rehearsal::collective

#pragma once

#include <cstdint>
#include <vector>

#include "core/collective/choice.hpp"
#include "core/collective/double_tree.hpp"
#include "core/collective/head_chunks.hpp"
#include "core/collective/shape.hpp"
#include "core/collective/step.hpp"
#include "core/collective/traffic.hpp"

namespace rehearsal::collective {

/// all_reduce over NCCL's double binary tree of nodes, reduced up and broadcast down at the same
/// time, chunk by chunk (nccl src/device/all_reduce.h, runTreeSplit and NVLSTree). What a node's
/// ranks do among themselves comes in two forms.
///
/// `chain` (algorithm tree): every channel's data goes through all ranks of a node, along a chain
/// that starts at the channel's head and counts up (nccl src/graph/connect.cc, with the balanced
/// tree pattern): the head holds the parent and the upper child, the next rank of the chain the
/// lower child. The first half of the channels uses tree 0, the other half tree 1.
///
/// `star` (algorithms nvls and nvls_tree): the chunks of a channel are spread over the heads of all
/// rails; a head collects its chunks from the node's other ranks, which is the work of the NVSwitch
/// and never on the wire, and reduces them over the tree with the same rail's heads of the other
/// nodes. Even channels use tree 0, odd ones tree 1. A (channel, head) counts as a channel of its
/// own here: number channel · heads + head, so that it belongs to the head's rail.
///
/// On each of these channels the root has one lane, every other rank two: up and down. Of several
/// children one is served after the other; the last receive up is fused with the send.
class TreeAllReduce {
 public:
  enum class Inside : std::uint8_t { chain, star };

  /// `shape` outlives the expansion. A chunk is a message.
  TreeAllReduce(Inside inside, std::uint64_t bytes, std::uint32_t position, const Shape& shape,
                const Choice& choice) noexcept;

  /// Whom a rank of a tree reduces to and whom it receives from on the way.
  class Links {
   public:
    static constexpr std::uint32_t kNone = TreeNode::kNone;

    bool is_root() const noexcept { return up_ == kNone; }
    std::uint32_t up() const noexcept { return up_; }
    std::uint32_t children() const noexcept { return star_ + count_; }
    std::uint32_t child(std::uint32_t index) const noexcept;

   private:
    friend class TreeAllReduce;
    void add(std::uint32_t child) noexcept { down_[count_++] = child; }

    const Shape* shape_ = nullptr;
    std::uint32_t up_ = kNone;
    std::uint32_t down_[3] = {};  // NCCL_MAX_TREE_ARITY
    std::uint32_t count_ = 0;
    std::uint32_t node_ = 0;  // star: the other ranks of this node come before `down_`
    std::uint32_t head_ = 0;
    std::uint32_t star_ = 0;
  };

  /// `channel` counts lanes' channels: up to channel_count().
  Links links(std::uint32_t channel) const noexcept;
  std::uint32_t channel_count() const noexcept { return channels_ * heads_; }

  class Cursor {
   public:
    Cursor(const TreeAllReduce& algorithm, std::uint32_t lane) noexcept;
    bool next(Step& step) noexcept;

   private:
    enum class Direction : std::uint8_t { up, down, both };

    std::uint32_t stages() const noexcept;
    void fill(Step& step) const noexcept;

    Links links_;
    HeadChunks chunks_;
    Range chunk_;
    std::uint32_t stage_ = 0;  // in the chunk
    std::uint16_t channel_;
    Direction direction_;
    Protocol protocol_;
  };

  std::uint32_t lane_count() const noexcept;
  Cursor lane(std::uint32_t index) const noexcept { return Cursor{*this, index}; }
  void append_sent(std::vector<Traffic>& out) const { append(out); }
  void append_received(std::vector<Traffic>& out) const { append(out); }

 private:
  struct Lane {
    std::uint32_t channel = 0;
    bool second = false;
  };

  std::uint32_t tree_of(std::uint32_t channel) const noexcept;
  bool is_root(std::uint32_t channel) const noexcept;
  Lane lane_at(std::uint32_t index) const noexcept;
  void link_chain(std::uint32_t channel, Links& links) const noexcept;
  void link_star(std::uint32_t channel, Links& links) const noexcept;
  /// Every link carries the same both ways.
  void append(std::vector<Traffic>& out) const;
  HeadChunks chunks(std::uint32_t channel) const noexcept;

  Inside inside_;
  Protocol protocol_;
  std::uint64_t bytes_;
  std::uint64_t chunk_;
  std::uint32_t position_;
  std::uint32_t channels_;
  std::uint32_t heads_;
  std::uint32_t roots_[2];  // by tree
  const Shape* shape_;
};

}  // namespace rehearsal::collective

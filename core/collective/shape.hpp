#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rehearsal::collective {

/// How the ranks of a communicator stand on nodes and rails. Made once for a communicator and
/// shared by all its expansions; everything is found in constant time.
///
/// Nodes are numbered in the order in which the communicator first names one of their ranks, as
/// NCCL does; inside a node, ranks count in the communicator's order ("local").
///
/// A channel belongs to a rail: channel c to the (c mod k)-th of the k rails that stand nearest to
/// the communicator's ranks (nccl src/graph/search.cc starts each channel of a graph from another
/// NIC). The rank nearest to that rail is the channel's head in its node: the channel's ring enters
/// the node there and walks down through the other ranks (0 7 6 5 4 3 2 1, as NCCL prints them).
class Shape {
 public:
  struct Member {
    std::uint32_t node = 0;  ///< any number that tells nodes apart
    std::uint32_t rail = 0;  ///< the rail nearest to this rank
  };

  /// By which rails rings leave a node (rails.hpp).
  enum class Crossing : std::uint8_t {
    none,       ///< by the one they entered it by
    free,       ///< by their last rank's own
    alternate,  ///< the same, but pairs of channels run against each other and change places on odd
                ///< nodes, so that between nodes no ring changes its rail
  };

  /// `members` in the communicator's order. `alternate` where that does not keep rings on their
  /// rails (an odd number of them, ranks that share one) is `none`.
  explicit Shape(std::span<const Member> members, Crossing crossing = Crossing::none);
  /// The same, but all rings follow the communicator's order: nothing is known of the inside of
  /// nodes.
  static Shape in_order(std::span<const Member> members);
  /// One rank a node, one rail.
  static Shape flat(std::uint32_t size);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(members_.size()); }
  std::uint32_t nodes() const noexcept {
    return static_cast<std::uint32_t>(node_begin_.size()) - 1;
  }
  std::uint32_t node_of(std::uint32_t position) const noexcept { return members_[position].node; }
  std::uint32_t rail_of(std::uint32_t position) const noexcept { return members_[position].rail; }
  std::uint32_t local_of(std::uint32_t position) const noexcept { return local_[position]; }
  std::uint32_t node_size(std::uint32_t node) const noexcept {
    return node_begin_[node + 1] - node_begin_[node];
  }
  /// The position of a node's rank.
  std::uint32_t at(std::uint32_t node, std::uint32_t local) const noexcept {
    return by_node_[node_begin_[node] + local];
  }
  /// Ranks of one node that stand together for PeerOrder: the most that divides every node, at
  /// most 8 (NCCL_P2P_SCHEDULE_GROUP_SIZE); 1 if ranks of a node do not stand next to each other.
  std::uint32_t group() const noexcept { return group_; }

  /// Rails near ranks of this communicator, ascending.
  std::span<const std::uint32_t> rails() const noexcept { return rails_; }
  std::uint32_t rail_of_channel(std::uint32_t channel) const noexcept {
    return rails_[channel % rails_.size()];
  }
  /// The channel's head in a node, as a local index.
  std::uint32_t head(std::uint32_t node, std::uint32_t channel) const noexcept {
    return heads_[node * rails_.size() + channel % rails_.size()];
  }

  /// False: made by in_order().
  bool knows_nodes() const noexcept { return !in_order_; }
  Crossing crossing() const noexcept { return crossing_; }
  /// Whether a rank of the node stands nearest to the rail.
  bool stands_on(std::uint32_t node, std::uint32_t rail) const noexcept;

  /// Where a rank stands on the channel's ring (0 is the head of node 0), and back.
  std::uint32_t ring_index(std::uint32_t channel, std::uint32_t position) const noexcept;
  std::uint32_t ring_position(std::uint32_t channel, std::uint32_t index) const noexcept;
  std::uint32_t next(std::uint32_t channel, std::uint32_t position) const noexcept;
  std::uint32_t previous(std::uint32_t channel, std::uint32_t position) const noexcept;

 private:
  /// How a channel's ring goes through a node.
  struct Walk {
    std::uint32_t head = 0;
    bool up = false;
  };
  Walk walk(std::uint32_t node, std::uint32_t channel) const noexcept;
  bool alternates() const noexcept;

  std::vector<Member> members_;            // by position; nodes renumbered
  std::vector<std::uint32_t> local_;       // by position
  std::vector<std::uint32_t> by_node_;     // positions, node by node
  std::vector<std::uint32_t> node_begin_;  // in by_node_, and its end
  std::vector<std::uint32_t> rails_;
  std::vector<std::uint32_t> heads_;  // by node × rail
  std::uint32_t group_ = 1;
  Crossing crossing_ = Crossing::none;
  bool in_order_ = false;
};

}  // namespace rehearsal::collective

#pragma once

#include <cstdint>
#include <limits>

namespace rehearsal::collective {

/// What a node is in one tree of a double binary tree.
struct TreeNode {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t parent = kNone;  ///< kNone: the root
  /// The lower child and the upper one, before the tree is mirrored or shifted. The root has no
  /// lower child; who has an upper child has a lower one, but for the root.
  std::uint32_t children[2] = {kNone, kNone};
  /// Which of its parent's children it is: 0 or 1.
  std::uint32_t child_index = 0;

  bool operator==(const TreeNode&) const = default;
};

/// A node in tree 0 or 1 over `nodes` nodes, in time that grows with the number of bits.
///
/// Both trees together are NCCL's double binary tree (nccl src/graph/trees.cc, ncclGetDtree), after
/// Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan"
/// (2009): tree 0 stands on the bits of the node's number, with node 0 as its root; tree 1 is its
/// mirror image for an even number of nodes and is shifted by one for an odd number. With an even
/// number a node is a leaf of one tree and inside the other, so that with half of the data on each
/// tree every node sends and receives about as much.
TreeNode tree_node(std::uint32_t tree, std::uint32_t nodes, std::uint32_t node);

/// The node without a parent.
std::uint32_t tree_root(std::uint32_t tree, std::uint32_t nodes);

}  // namespace rehearsal::collective

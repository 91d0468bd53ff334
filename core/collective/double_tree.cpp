#include "core/collective/double_tree.hpp"

namespace rehearsal::collective {

namespace {

constexpr std::uint32_t kNone = TreeNode::kNone;

/// The tree on bits: the parent of …x10…0 has the lowest set bit moved up (or cleared where that
/// is out of range), the children have it moved down, once below and once above.
TreeNode on_bits(std::uint64_t nodes, std::uint64_t node) {
  const auto narrow = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  TreeNode result;
  if (node == 0) {
    std::uint64_t largest = 1;
    while (largest * 2 < nodes) largest *= 2;
    if (nodes > 1) result.children[1] = narrow(largest);
    return result;
  }
  const std::uint64_t bit = node & (~node + 1);
  std::uint64_t parent = (node ^ bit) | (bit << 1);
  if (parent >= nodes) parent = node ^ bit;
  result.parent = narrow(parent);
  result.child_index = node < parent ? 0 : 1;
  std::uint64_t half = bit >> 1;
  if (half == 0) return result;
  result.children[0] = narrow(node - half);
  while (half > 0 && node + half >= nodes) half >>= 1;
  if (half > 0) result.children[1] = narrow(node + half);
  return result;
}

}  // namespace

TreeNode tree_node(std::uint32_t tree, std::uint32_t nodes, std::uint32_t node) {
  if (tree == 0) return on_bits(nodes, node);
  const bool mirrored = nodes % 2 == 0;
  TreeNode result = on_bits(nodes, mirrored ? nodes - 1 - node : (node + nodes - 1) % nodes);
  const auto back = [&](std::uint32_t& other) {
    if (other == kNone) return;
    other = mirrored ? nodes - 1 - other : (other + 1) % nodes;
  };
  back(result.parent);
  back(result.children[0]);
  back(result.children[1]);
  return result;
}

std::uint32_t tree_root(std::uint32_t tree, std::uint32_t nodes) {
  if (tree == 0) return 0;
  return nodes % 2 == 0 ? nodes - 1 : 1 % nodes;
}

}  // namespace rehearsal::collective

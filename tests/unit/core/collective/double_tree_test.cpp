#include "core/collective/double_tree.hpp"

#include <gmock/gmock.h>

#include <set>
#include <utility>

namespace rehearsal::collective {
namespace {

using testing::UnorderedElementsAre;

constexpr std::uint32_t kNone = TreeNode::kNone;
using Edge = std::pair<std::uint32_t, std::uint32_t>;  // parent, child

std::vector<Edge> edges(std::uint32_t tree, std::uint32_t nodes) {
  std::vector<Edge> all;
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (const std::uint32_t child : tree_node(tree, nodes, node).children)
      if (child != kNone) all.emplace_back(node, child);
  return all;
}

// Worked out by hand on nccl src/graph/trees.cc, ncclGetBtree and ncclGetDtree.
TEST(DoubleTree, EdgesOfSmallTrees) {
  EXPECT_THAT(edges(0, 1), UnorderedElementsAre());
  EXPECT_THAT(edges(1, 1), UnorderedElementsAre());
  EXPECT_THAT(edges(0, 2), UnorderedElementsAre(Edge{0, 1}));
  EXPECT_THAT(edges(1, 2), UnorderedElementsAre(Edge{1, 0}));
  EXPECT_THAT(edges(0, 3), UnorderedElementsAre(Edge{0, 2}, Edge{2, 1}));
  EXPECT_THAT(edges(1, 3), UnorderedElementsAre(Edge{1, 0}, Edge{0, 2}));
  EXPECT_THAT(edges(0, 4), UnorderedElementsAre(Edge{0, 2}, Edge{2, 1}, Edge{2, 3}));
  EXPECT_THAT(edges(1, 4), UnorderedElementsAre(Edge{3, 1}, Edge{1, 2}, Edge{1, 0}));
  EXPECT_THAT(edges(0, 5), UnorderedElementsAre(Edge{0, 4}, Edge{4, 2}, Edge{2, 1}, Edge{2, 3}));
  EXPECT_THAT(edges(1, 5), UnorderedElementsAre(Edge{1, 0}, Edge{0, 3}, Edge{3, 2}, Edge{3, 4}));
  EXPECT_THAT(edges(0, 8), UnorderedElementsAre(Edge{0, 4}, Edge{4, 2}, Edge{4, 6}, Edge{2, 1},
                                                Edge{2, 3}, Edge{6, 5}, Edge{6, 7}));
  EXPECT_THAT(edges(1, 8), UnorderedElementsAre(Edge{7, 3}, Edge{3, 5}, Edge{3, 1}, Edge{5, 6},
                                                Edge{5, 4}, Edge{1, 2}, Edge{1, 0}));
}

TEST(DoubleTree, PicturesInTreesCc) {
  // 12, 13 and 14 nodes as drawn there.
  EXPECT_EQ(tree_node(0, 14, 13), (TreeNode{.parent = 12, .child_index = 1}));
  EXPECT_EQ(tree_node(0, 14, 12), (TreeNode{.parent = 8, .children = {10, 13}, .child_index = 1}));
  EXPECT_EQ(tree_node(1, 12, 11), (TreeNode{.children = {kNone, 3}}));
  EXPECT_EQ(tree_node(1, 12, 3), (TreeNode{.parent = 11, .children = {7, 1}, .child_index = 1}));
  EXPECT_EQ(tree_node(1, 12, 7), (TreeNode{.parent = 3, .children = {9, 5}, .child_index = 0}));
  EXPECT_EQ(tree_node(1, 13, 0),
            (TreeNode{.parent = 9, .children = {11, kNone}, .child_index = 1}));
}

TEST(DoubleTree, EveryNodeButTheRootHasOneParentAndComesFromTheRoot) {
  for (std::uint32_t nodes = 1; nodes <= 70; ++nodes) {
    for (const std::uint32_t tree : {0U, 1U}) {
      SCOPED_TRACE(testing::Message() << nodes << " nodes, tree " << tree);
      EXPECT_EQ(edges(tree, nodes).size(), nodes - 1);
      std::uint32_t roots = 0;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        const TreeNode here = tree_node(tree, nodes, node);
        if (here.parent == kNone) {
          ++roots;
          EXPECT_EQ(tree_root(tree, nodes), node);
          continue;
        }
        EXPECT_EQ(tree_node(tree, nodes, here.parent).children[here.child_index], node);
        std::uint32_t up = node;
        for (std::uint32_t depth = 0; up != kNone; ++depth) {
          ASSERT_LT(depth, 12U) << "node " << node << " does not reach the root";
          up = tree_node(tree, nodes, up).parent;
        }
      }
      EXPECT_EQ(roots, 1U);
    }
  }
}

TEST(DoubleTree, WithAnEvenNumberOddNodesAreLeavesOfTheFirstAndEvenNodesOfTheSecond) {
  for (std::uint32_t nodes = 2; nodes <= 64; nodes += 2)
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const TreeNode leaf = tree_node(node % 2 == 0 ? 1 : 0, nodes, node);
      EXPECT_EQ(leaf.children[0], kNone) << node << " of " << nodes;
      EXPECT_EQ(leaf.children[1], kNone) << node << " of " << nodes;
    }
}

TEST(DoubleTree, LargeNumbersDoNotOverflow) {
  const std::uint32_t nodes = 4'000'000'000U;
  EXPECT_EQ(tree_node(0, nodes, 0).children[1], 1U << 31);
  EXPECT_EQ(tree_node(0, nodes, nodes - 1).parent, nodes - 2);
}

}  // namespace
}  // namespace rehearsal::collective

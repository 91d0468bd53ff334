#pragma once

#include <string>
#include <vector>

#include "core/base/random.hpp"
#include "core/collective/shape.hpp"

namespace rehearsal::test {

/// Nodes of `ranks` ranks in blocks, `ranks_a_rail` neighbours to a rail.
inline collective::Shape blocks(std::uint32_t nodes, std::uint32_t ranks,
                                std::uint32_t ranks_a_rail = 1) {
  std::vector<collective::Shape::Member> members;
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::uint32_t local = 0; local < ranks; ++local)
      members.push_back({.node = node, .rail = local / ranks_a_rail});
  return collective::Shape{members};
}

/// Up to `nodes_max` nodes of up to 5 ranks: alike and in blocks, or uneven and mixed, with some
/// rails that not every node has.
inline collective::Shape random_shape(Random& random, std::uint32_t nodes_max) {
  const auto pick = [&](std::uint32_t low, std::uint32_t high) {
    return static_cast<std::uint32_t>(random.between(low, high));
  };
  const std::uint32_t nodes = pick(1, nodes_max);
  if (random.chance(0.5)) {
    const std::uint32_t ranks = pick(1, 5);
    return blocks(nodes, ranks, pick(1, ranks));
  }
  std::vector<collective::Shape::Member> members;
  for (std::uint32_t left = nodes + pick(0, 3 * nodes); left > 0; --left)
    members.push_back({.node = pick(0, nodes - 1), .rail = pick(0, 3)});
  return collective::Shape{members};
}

/// "node.rail" of every rank.
inline std::string text(const collective::Shape& shape) {
  std::string result;
  for (std::uint32_t rank = 0; rank < shape.size(); ++rank)
    result += (rank > 0 ? " " : "") + std::to_string(shape.node_of(rank)) + "." +
              std::to_string(shape.rail_of(rank));
  return result;
}

}  // namespace rehearsal::test

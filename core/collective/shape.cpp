#include "core/collective/shape.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/base/check.hpp"

namespace rehearsal::collective {
namespace {

constexpr std::uint32_t kGroupMax = 8;

std::uint32_t group_of(std::span<const Shape::Member> members) {
  std::uint32_t group = kGroupMax;
  std::uint32_t run = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    ++run;
    if (i + 1 < members.size() && members[i].node == members[i + 1].node) continue;
    group = std::gcd(group, run);
    run = 0;
  }
  return group;
}

}  // namespace

Shape::Shape(std::span<const Member> members) : members_(members.begin(), members.end()) {
  CHECK(!members.empty(), "a communicator without ranks has no shape");
  group_ = group_of(members);

  std::unordered_map<std::uint32_t, std::uint32_t> number_of;
  std::vector<std::vector<std::uint32_t>> ranks_of;
  for (std::uint32_t position = 0; position < size(); ++position) {
    Member& member = members_[position];
    const auto [found, added] =
        number_of.try_emplace(member.node, static_cast<std::uint32_t>(ranks_of.size()));
    if (added) ranks_of.emplace_back();
    member.node = found->second;
    local_.push_back(static_cast<std::uint32_t>(ranks_of[member.node].size()));
    ranks_of[member.node].push_back(position);
    rails_.push_back(member.rail);
  }
  std::ranges::sort(rails_);
  rails_.erase(std::ranges::unique(rails_).begin(), rails_.end());

  for (const auto& ranks : ranks_of) {
    node_begin_.push_back(static_cast<std::uint32_t>(by_node_.size()));
    by_node_.insert(by_node_.end(), ranks.begin(), ranks.end());
    for (std::size_t i = 0; i < rails_.size(); ++i) {
      const auto nearest = std::ranges::find(
          ranks, rails_[i], [this](std::uint32_t position) { return members_[position].rail; });
      heads_.push_back(nearest != ranks.end() ? static_cast<std::uint32_t>(nearest - ranks.begin())
                                              : static_cast<std::uint32_t>(i % ranks.size()));
    }
  }
  node_begin_.push_back(static_cast<std::uint32_t>(by_node_.size()));
}

Shape Shape::flat(std::uint32_t size) {
  std::vector<Member> members(size);
  for (std::uint32_t i = 0; i < size; ++i) members[i].node = i;
  return Shape{members};
}

std::uint32_t Shape::ring_index(std::uint32_t channel, std::uint32_t position) const noexcept {
  const std::uint32_t node = node_of(position);
  const std::uint32_t ranks = node_size(node);
  return node_begin_[node] + (head(node, channel) + ranks - local_[position]) % ranks;
}

std::uint32_t Shape::ring_position(std::uint32_t channel, std::uint32_t index) const noexcept {
  // by_node_ stands in the order of nodes, so the index alone tells the node.
  const std::uint32_t node = node_of(by_node_[index]);
  const std::uint32_t ranks = node_size(node);
  const std::uint32_t depth = index - node_begin_[node];
  return at(node, (head(node, channel) + ranks - depth) % ranks);
}

std::uint32_t Shape::next(std::uint32_t channel, std::uint32_t position) const noexcept {
  const std::uint32_t index = ring_index(channel, position);
  return ring_position(channel, index + 1 == size() ? 0 : index + 1);
}

std::uint32_t Shape::previous(std::uint32_t channel, std::uint32_t position) const noexcept {
  const std::uint32_t index = ring_index(channel, position);
  return ring_position(channel, index == 0 ? size() - 1 : index - 1);
}

}  // namespace rehearsal::collective

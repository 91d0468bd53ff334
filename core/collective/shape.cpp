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

Shape::Shape(std::span<const Member> members, Crossing crossing)
    : members_(members.begin(), members.end()), crossing_(crossing) {
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
  if (crossing_ == Crossing::alternate && !alternates()) crossing_ = Crossing::none;
}

/// Does every channel end in every node on the rail where the other one of its pair begins?
bool Shape::alternates() const noexcept {
  if (rails_.size() % 2 != 0) return false;
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    for (std::uint32_t channel = 0; channel < rails_.size(); ++channel) {
      const auto [first, up] = walk(node, channel);
      const std::uint32_t ranks = node_size(node);
      const std::uint32_t last = (first + (up ? ranks - 1 : 1)) % ranks;
      const std::uint32_t other = walk(node, channel ^ 1).head;
      if (rail_of(at(node, last)) != rail_of(at(node, other))) return false;
    }
  }
  return true;
}

Shape::Walk Shape::walk(std::uint32_t node, std::uint32_t channel) const noexcept {
  if (crossing_ != Crossing::alternate) return {head(node, channel), false};
  const auto own = static_cast<std::uint32_t>(channel % rails_.size());
  const std::uint32_t taken = own ^ (node % 2);
  return {head(node, taken), taken % 2 == 1};
}

bool Shape::stands_on(std::uint32_t node, std::uint32_t rail) const noexcept {
  const auto found = std::ranges::lower_bound(rails_, rail);
  if (found == rails_.end() || *found != rail) return false;
  const auto channel = static_cast<std::uint32_t>(found - rails_.begin());
  return rail_of(at(node, head(node, channel))) == rail;
}

Shape Shape::in_order(std::span<const Member> members) {
  Shape shape{members};
  shape.in_order_ = true;
  return shape;
}

Shape Shape::flat(std::uint32_t size) {
  std::vector<Member> members(size);
  for (std::uint32_t i = 0; i < size; ++i) members[i].node = i;
  return Shape{members};
}

std::uint32_t Shape::ring_index(std::uint32_t channel, std::uint32_t position) const noexcept {
  if (in_order_) return position;
  const std::uint32_t node = node_of(position);
  const std::uint32_t ranks = node_size(node);
  const auto [first, up] = walk(node, channel);
  const std::uint32_t local = local_[position];
  return node_begin_[node] + (up ? local + ranks - first : first + ranks - local) % ranks;
}

std::uint32_t Shape::ring_position(std::uint32_t channel, std::uint32_t index) const noexcept {
  if (in_order_) return index;
  // by_node_ stands in the order of nodes, so the index alone tells the node.
  const std::uint32_t node = node_of(by_node_[index]);
  const std::uint32_t ranks = node_size(node);
  const std::uint32_t depth = index - node_begin_[node];
  const auto [first, up] = walk(node, channel);
  return at(node, (up ? first + depth : first + ranks - depth) % ranks);
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

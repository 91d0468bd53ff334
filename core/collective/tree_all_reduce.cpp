#include "core/collective/tree_all_reduce.hpp"

namespace rehearsal::collective {

namespace {

constexpr std::uint32_t kNone = TreeNode::kNone;

/// The rank of a node that stands `depth` after the channel's head on the chain.
std::uint32_t on_chain(const Shape& shape, std::uint32_t channel, std::uint32_t node,
                       std::uint32_t depth) {
  return shape.at(node, (shape.head(node, channel) + depth) % shape.node_size(node));
}

/// Where a node's tree connections attach: 0 for the parent and the upper child, 1 for the lower.
std::uint32_t attached(const Shape& shape, std::uint32_t channel, std::uint32_t node,
                       std::uint32_t child_index) {
  return on_chain(shape, channel, node, child_index == 0 && shape.node_size(node) > 1 ? 1 : 0);
}

}  // namespace

std::uint32_t TreeAllReduce::Links::child(std::uint32_t index) const noexcept {
  if (index >= star_) return down_[index - star_];
  return shape_->at(node_, (head_ + 1 + index) % shape_->node_size(node_));
}

TreeAllReduce::TreeAllReduce(Inside inside, std::uint64_t bytes, std::uint32_t position,
                             const Shape& shape, const Choice& choice) noexcept
    : inside_(inside),
      protocol_(choice.protocol),
      bytes_(bytes),
      chunk_(align_up(choice.chunk.count())),
      position_(position),
      channels_(choice.channels),
      heads_(inside == Inside::star ? static_cast<std::uint32_t>(shape.rails().size()) : 1),
      roots_{tree_root(0, shape.nodes()), tree_root(1, shape.nodes())},
      shape_(&shape) {}

std::uint32_t TreeAllReduce::tree_of(std::uint32_t channel) const noexcept {
  if (inside_ == Inside::star) return channel / heads_ % 2;
  return channel < divide_up(channels_, 2) ? 0 : 1;
}

HeadChunks TreeAllReduce::chunks(std::uint32_t channel) const noexcept {
  return {channel_part(bytes_, channels_, channel / heads_), chunk_, heads_, channel % heads_};
}

TreeAllReduce::Links TreeAllReduce::links(std::uint32_t channel) const noexcept {
  Links links;
  links.shape_ = shape_;
  links.node_ = shape_->node_of(position_);
  links.head_ = shape_->head(links.node_, channel);
  inside_ == Inside::chain ? link_chain(channel, links) : link_star(channel, links);
  return links;
}

void TreeAllReduce::link_chain(std::uint32_t channel, Links& links) const noexcept {
  const std::uint32_t ranks = shape_->node_size(links.node_);
  const std::uint32_t depth = (shape_->local_of(position_) + ranks - links.head_) % ranks;
  const TreeNode node = tree_node(tree_of(channel), shape_->nodes(), links.node_);
  if (depth > 0)
    links.up_ = on_chain(*shape_, channel, links.node_, depth - 1);
  else if (node.parent != kNone)
    links.up_ = attached(*shape_, channel, node.parent, node.child_index);
  if (depth + 1 < ranks) links.add(on_chain(*shape_, channel, links.node_, depth + 1));
  for (const std::uint32_t index : {0U, 1U})
    if (node.children[index] != kNone &&
        attached(*shape_, channel, links.node_, index) == position_)
      links.add(on_chain(*shape_, channel, node.children[index], 0));
}

void TreeAllReduce::link_star(std::uint32_t channel, Links& links) const noexcept {
  if (shape_->local_of(position_) != links.head_) {
    links.up_ = shape_->at(links.node_, links.head_);
    return;
  }
  links.star_ = shape_->node_size(links.node_) - 1;
  const TreeNode node = tree_node(tree_of(channel), shape_->nodes(), links.node_);
  const auto head_of = [&](std::uint32_t other) {
    return shape_->at(other, shape_->head(other, channel));
  };
  if (node.parent != kNone) links.up_ = head_of(node.parent);
  for (const std::uint32_t child : node.children)
    if (child != kNone) links.add(head_of(child));
}

bool TreeAllReduce::is_root(std::uint32_t channel) const noexcept {
  const std::uint32_t node = shape_->node_of(position_);
  return node == roots_[tree_of(channel)] &&
         shape_->local_of(position_) == shape_->head(node, channel);
}

std::uint32_t TreeAllReduce::lane_count() const noexcept {
  if (shape_->size() < 2) return 0;
  std::uint32_t lanes = 0;
  for (std::uint32_t channel = 0; channel < channel_count(); ++channel)
    lanes += is_root(channel) ? 1 : 2;
  return lanes;
}

TreeAllReduce::Lane TreeAllReduce::lane_at(std::uint32_t index) const noexcept {
  const std::uint32_t node = shape_->node_of(position_);
  if (node != roots_[0] && node != roots_[1]) return {index / 2, index % 2 == 1};
  for (std::uint32_t channel = 0;; ++channel) {
    const std::uint32_t lanes = is_root(channel) ? 1 : 2;
    if (index < lanes) return {channel, index == 1};
    index -= lanes;
  }
}

TreeAllReduce::Cursor::Cursor(const TreeAllReduce& algorithm, std::uint32_t lane) noexcept
    : chunks_(Range{}, kAlignment, 1, 0), protocol_(algorithm.protocol_) {
  const Lane found = algorithm.lane_at(lane);
  links_ = algorithm.links(found.channel);
  chunks_ = algorithm.chunks(found.channel);
  channel_ = static_cast<std::uint16_t>(found.channel);
  direction_ = links_.is_root() ? Direction::both : found.second ? Direction::down : Direction::up;
  stage_ = stages();
}

std::uint32_t TreeAllReduce::Cursor::stages() const noexcept {
  const std::uint32_t children = links_.children();
  return direction_ == Direction::both ? 2 * children - 1 : std::max(children, 1U);
}

bool TreeAllReduce::Cursor::next(Step& step) noexcept {
  if (stage_ == stages()) {
    if (!chunks_.next(chunk_)) return false;
    stage_ = 0;
  }
  step = Step{.channel = channel_,
              .offset = chunk_.begin,
              .bytes = chunk_.size(),
              .wire = wire_bytes(protocol_, chunk_.size())};
  fill(step);
  ++stage_;
  return true;
}

void TreeAllReduce::Cursor::fill(Step& step) const noexcept {
  const std::uint32_t children = links_.children();
  const auto receive = [&](Action action, std::uint32_t from) {
    step.action = action;
    step.from = from;
  };
  const auto pass_on = [&](Action action, std::uint32_t from, std::uint32_t to) {
    receive(action, from);
    step.to = to;
  };
  const auto send = [&](std::uint32_t to) {
    step.action = Action::send;
    step.to = to;
  };
  const bool reduces = direction_ != Direction::down;
  if (reduces && stage_ + 1 < children) {
    receive(Action::recv_reduce, links_.child(stage_));
  } else if (direction_ == Direction::both) {
    const std::uint32_t sent = stage_ + 1 - children;
    if (sent == 0)
      pass_on(Action::recv_reduce_copy_send, links_.child(children - 1), links_.child(0));
    else
      send(links_.child(sent));
  } else if (reduces) {
    if (children == 0)
      send(links_.up());
    else
      pass_on(Action::recv_reduce_send, links_.child(children - 1), links_.up());
  } else if (children == 0) {
    receive(Action::recv, links_.up());
  } else if (stage_ == 0) {
    pass_on(Action::recv_copy_send, links_.up(), links_.child(0));
  } else {
    send(links_.child(stage_));
  }
}

void TreeAllReduce::append(std::vector<Traffic>& out) const {
  for (std::uint32_t channel = 0; channel < channel_count(); ++channel) {
    const HeadChunks its = chunks(channel);
    Traffic traffic{.channel = static_cast<std::uint16_t>(channel),
                    .amount = its.amount(protocol_),
                    .message_bytes_max = wire_bytes(protocol_, its.bytes_max())};
    if (traffic.amount.messages == 0) continue;
    const Links its_links = links(channel);
    const auto add = [&](std::uint32_t peer) {
      traffic.peer = peer;
      out.push_back(traffic);
    };
    if (!its_links.is_root()) add(its_links.up());
    for (std::uint32_t i = 0; i < its_links.children(); ++i) add(its_links.child(i));
  }
}

}  // namespace rehearsal::collective

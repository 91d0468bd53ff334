#include "core/plan/flow_list.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace rehearsal::plan {

FlowList::FlowList(const Plan& plan) : plan_(plan) {
  if (!plan_.jobs.empty()) job_.emplace(plan_, job_index_);
}

FlowList::Job::Job(const Plan& plan, JobIndex index)
    : expander(plan, index),
      rails(plan, index),
      class_of_rank(plan.jobs[index.value].bindings.size()) {
  const profile::Profile& profile = *plan.jobs[index.value].profile;
  for (const profile::RankClass& rank_class : profile.classes) {
    for (const Rank rank : rank_class.ranks)
      class_of_rank[rank.value] = static_cast<std::uint32_t>(classes.size());
    ClassOrder& order = classes.emplace_back(ClassOrder{{}, OpInstances{rank_class}});
    Predecessors predecessors{static_cast<std::uint32_t>(profile.streams.size())};
    for (profile::OpIndex op = 0; op < rank_class.ops.size(); ++op) {
      std::vector<profile::OpIndex>& after = order.ops.emplace_back().after;
      predecessors.of(rank_class.ops[op], op, after);
      std::ranges::sort(after);
      after.erase(std::ranges::unique(after).begin(), after.end());
    }
  }
}

bool FlowList::next(FlowLine& line) {
  if (!job_) return false;
  while (true) {
    if (!in_lane_ && !next_lane()) return false;
    if (after_sent_) after_.clear();
    after_sent_ = false;
    collective::Step step;
    if (!cursor_.next(step)) {
      in_lane_ = false;
      continue;
    }
    if (receives(step.action)) received(step.from, step.channel);
    if (!sends(step.action)) continue;
    fill(line, step);
    after_sent_ = true;
    return true;
  }
}

bool FlowList::next_lane() {
  while (!op_ || lane_ == expansion_.lane_count())
    if (!next_op()) return false;
  cursor_ = expansion_.lane(lane_++);
  after_.clear();
  in_lane_ = true;
  return true;
}

bool FlowList::next_op() {
  op_ = op_ ? *op_ + 1 : 0;
  while (!rank_ || *op_ == rank_class(*rank_).ops.size())
    if (!next_rank()) return false;
  const profile::Op& op = rank_class(*rank_).ops[*op_];
  lane_ = 0;
  expansion_ = {};
  sent_.clear();
  received_.clear();
  if (!profile::is_communication(op.kind)) return true;
  position_ = planned().profile->communicators[op.communicator.value].position(*rank_);
  expansion_ = job_->expander.expand(op, *rank_);
  return true;
}

bool FlowList::next_rank() {
  op_ = 0;
  rank_ = Rank{rank_ ? rank_->value + 1 : 0};
  while (rank_->value == planned().bindings.size()) {
    if (++job_index_.value == plan_.jobs.size()) {
      job_.reset();
      return false;
    }
    job_.emplace(plan_, job_index_);
    rank_ = Rank{0};
  }
  return true;
}

// The op of `rank` that is the other side of the current one.
profile::OpIndex FlowList::op_of(Rank rank) const {
  using enum profile::OpKind;
  const profile::Op& op = rank_class(*rank_).ops[*op_];
  const std::uint32_t instance = order(*rank_).instances.of(*op_);
  const OpInstances& theirs = order(rank).instances;
  if (!profile::is_point_to_point(op.kind)) return theirs.collective(op.communicator, instance);
  return theirs.point_to_point(op.communicator, op.kind == send ? recv : send, position_, instance);
}

void FlowList::received(std::uint32_t position, std::uint16_t channel) {
  const profile::Op& op = rank_class(*rank_).ops[*op_];
  const Rank source = job_->expander.rank_at(op, position);
  const MessageId id{.job = job_index_,
                     .source = source,
                     .op = op_of(source),
                     .destination = *rank_,
                     .channel = channel,
                     .step = received_[{position, channel}]++};
  // Messages of a connection come in order: the latest stands for those before it.
  const auto same = std::ranges::find_if(after_, [&](const MessageId& earlier) {
    return earlier.source == source && earlier.channel == channel;
  });
  if (same == after_.end())
    after_.push_back(id);
  else
    *same = id;
}

void FlowList::fill(FlowLine& line, const collective::Step& step) {
  const profile::Op& op = rank_class(*rank_).ops[*op_];
  const Rank destination = job_->expander.rank_at(op, step.to);
  const Binding& source = planned().bindings[rank_->value];
  const Binding& target = planned().bindings[destination.value];
  line.id = {.job = job_index_,
             .source = *rank_,
             .op = *op_,
             .destination = destination,
             .channel = step.channel,
             .step = sent_[{step.to, step.channel}]++};
  line.destination_op = op_of(destination);
  line.op = &op;
  line.passage = job_->rails.passage(*rank_, destination);
  line.from = source;
  line.to = target;
  if (line.passage == Passage::wire) {
    const auto route = job_->rails.route(job_->expander.shape(op), use_of(op.kind), step.channel,
                                         {*rank_, position_}, {destination, step.to});
    line.from.nic = route.departure;
    line.to.nic = route.arrival;
  }
  line.bytes = Bytes{step.wire};
  line.after = after_;
  line.after_ops = order(*rank_).ops[*op_].after;
}

}  // namespace rehearsal::plan

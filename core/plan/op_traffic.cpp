#include "core/plan/op_traffic.hpp"

#include <algorithm>
#include <tuple>

namespace rehearsal::plan {

namespace {

/// Ops with the same signature put the same on the wire.
auto signature(const profile::Op& op) {
  return std::tuple{op.communicator, op.kind, op.bytes, op.peer, op.peer_bytes};
}

}  // namespace

std::vector<RepeatedOp> distinct_communication(const profile::RankClass& rank_class) {
  std::vector<RepeatedOp> ops;
  for (const profile::Op& op : rank_class.ops)
    if (profile::is_communication(op.kind)) ops.push_back({&op, 1});
  std::sort(ops.begin(), ops.end(), [](const RepeatedOp& a, const RepeatedOp& b) {
    return signature(*a.op) < signature(*b.op);
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (kept > 0 && signature(*ops[kept - 1].op) == signature(*ops[i].op))
      ++ops[kept - 1].count;
    else
      ops[kept++] = ops[i];
  }
  ops.resize(kept);
  return ops;
}

OpExpander::OpExpander(const Plan& plan, JobIndex job)
    : plan_(plan), job_(job), profile_(*plan.jobs[job.value].profile), shapes_(plan, job) {}

collective::Expansion OpExpander::expand(const profile::Op& op, Rank rank) {
  return collective::expand(op, position(op, rank), shapes_.of(op.communicator), choice(op),
                            peer_bytes_of(profile_, op), plan_.collectives);
}

const collective::Choice& OpExpander::choice(const profile::Op& op) {
  if (chosen_ != &op) choice_ = choice_of(plan_, job_, op);
  chosen_ = &op;
  return choice_;
}

std::uint32_t OpExpander::position(const profile::Op& op, Rank rank) {
  if (!known_ || communicator_ != op.communicator || rank_ != rank) {
    communicator_ = op.communicator;
    rank_ = rank;
    position_ = profile_.communicators[op.communicator.value].position(rank);
    known_ = true;
  }
  return position_;
}

Rank OpExpander::rank_at(const profile::Op& op, std::uint32_t position) const {
  return profile_.communicators[op.communicator.value].ranks[position];
}

}  // namespace rehearsal::plan

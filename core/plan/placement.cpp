#include "core/plan/placement.hpp"

#include "core/collective/expansion.hpp"

namespace rehearsal::plan {

Shapes::Shapes(const Plan& plan, JobIndex job)
    : job_(&plan.jobs[job.value]), rails_(plan), shapes_(job_->profile->communicators.size()) {}

const collective::Shape& Shapes::of(CommunicatorIndex communicator) {
  auto& shape = shapes_[communicator.value];
  if (shape == nullptr) {
    std::vector<collective::Shape::Member> members;
    for (const Rank rank : job_->profile->communicators[communicator.value].ranks) {
      const Binding& binding = job_->bindings[rank.value];
      members.push_back({.node = binding.host.value, .rail = rails_.rail_of(binding)});
    }
    shape = std::make_unique<const collective::Shape>(collective::Shape::in_order(members));
  }
  return *shape;
}

collective::Choice choice_of(const Plan& plan, const profile::Op& op) {
  return collective::default_choice(op, plan.collectives);
}

const profile::PeerBytes* peer_bytes_of(const profile::Profile& profile, const profile::Op& op) {
  return op.peer_bytes ? &profile.peer_bytes[*op.peer_bytes] : nullptr;
}

}  // namespace rehearsal::plan

#include "core/plan/placement.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/collective/expansion.hpp"
#include "core/collective/rails.hpp"
#include "core/plan/choices.hpp"

namespace rehearsal::plan {

Shapes::Shapes(const Plan& plan, JobIndex job)
    : job_(&plan.jobs[job.value]),
      crossing_(collective::crossing_of(plan.collectives)),
      shapes_(job_->profile->communicators.size()) {}

const collective::Shape& Shapes::of(CommunicatorIndex communicator) {
  auto& shape = shapes_[communicator.value];
  if (shape != nullptr) return *shape;
  using collective::Shape;
  std::vector<Shape::Member> members;
  for (const Rank rank : job_->profile->communicators[communicator.value].ranks) {
    if (job_->node) {
      const Seat& seat = job_->seats[rank.value];
      members.push_back({.node = seat.node, .rail = seat.rail});
    } else {
      const Binding& binding = job_->bindings[rank.value];
      members.push_back({.node = binding.host.value, .rail = binding.nic.value});
    }
  }
  shape = std::make_unique<const Shape>(job_->node ? Shape{members, crossing_}
                                                   : Shape::in_order(members));
  return *shape;
}

collective::Choice choice_of(const Plan& plan, JobIndex job, const profile::Op& op) {
  const PlannedJob& planned = plan.jobs[job.value];
  if (!planned.node) return collective::default_choice(op, plan.collectives);
  const OpKey key = op_key(op);
  const auto found = std::ranges::lower_bound(
      planned.choices, key, {}, [](const OpChoice& choice) { return op_key(choice); });
  CHECK(found != planned.choices.end() && op_key(*found) == key, "an op without a choice");
  return found->choice;
}

const profile::PeerBytes* peer_bytes_of(const profile::Profile& profile, const profile::Op& op) {
  return op.peer_bytes ? &profile.peer_bytes[*op.peer_bytes] : nullptr;
}

}  // namespace rehearsal::plan

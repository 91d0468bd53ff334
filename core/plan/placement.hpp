#pragma once

#include <memory>
#include <vector>

#include "core/base/ids.hpp"
#include "core/collective/choice.hpp"
#include "core/collective/shape.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

/// How the communicators of a job stand on its nodes and rails, each made when it is first asked
/// for. A shape stays where it is as long as this object lives.
class Shapes {
 public:
  Shapes(const Plan& plan, JobIndex job);

  const collective::Shape& of(CommunicatorIndex communicator);

 private:
  const PlannedJob* job_;
  collective::Shape::Crossing crossing_;
  std::vector<std::unique_ptr<const collective::Shape>> shapes_;  // by communicator
};

/// What is picked for an op of the plan: what stands in it, or where nothing is known of nodes what
/// its settings say.
collective::Choice choice_of(const Plan& plan, JobIndex job, const profile::Op& op);

/// The sizes of an all_to_all with per-peer sizes, nullptr for every other op.
const profile::PeerBytes* peer_bytes_of(const profile::Profile& profile, const profile::Op& op);

}  // namespace rehearsal::plan

#include "core/replay/program.hpp"

#include <algorithm>
#include <map>

#include "core/plan/op_order.hpp"

namespace rehearsal::replay {

namespace {

/// Numbers the instances of each communicator, collectives and point-to-point ops apart.
class Instances {
 public:
  std::uint32_t next(const profile::Op& op) {
    return counts_[{op.communicator, profile::is_point_to_point(op.kind)}]++;
  }

 private:
  std::map<std::pair<CommunicatorIndex, bool>, std::uint32_t> counts_;
};

Program::Op made(const plan::Plan& plan, JobIndex job, Rank rank, const profile::Op& op,
                 plan::Shapes& shapes) {
  const profile::Profile& profile = *plan.jobs[job.value].profile;
  Program::Op result;
  result.kind = op.kind;
  result.stream = op.stream;
  result.phase = op.phase;
  result.duration = op.duration;
  if (!profile::is_communication(op.kind)) return result;
  result.communicator = op.communicator;
  result.use = plan::use_of(op.kind);
  const collective::Choice choice = plan::choice_of(plan, job, op);
  result.credits = choice.credits;
  result.expansion = collective::expand(
      op, profile.communicators[op.communicator.value].position(rank), shapes.of(op.communicator),
      choice, plan::peer_bytes_of(profile, op), plan.collectives);
  return result;
}

}  // namespace

Program::Program(const plan::Plan& plan, JobIndex job, Rank rank)
    : profile(plan.jobs[job.value].profile),
      shapes(plan, job),
      streams(static_cast<std::uint32_t>(std::max<std::size_t>(profile->streams.size(), 1))),
      phases(static_cast<std::uint32_t>(std::max<std::size_t>(profile->phases.size(), 1))),
      lanes_max(streams, 0) {
  const auto& planned = profile->class_of(rank).ops;
  std::vector<std::vector<profile::OpIndex>> waiting(planned.size());
  plan::Predecessors predecessors{streams};
  Instances instances;
  std::vector<profile::OpIndex> before;
  for (profile::OpIndex i = 0; i < planned.size(); ++i) {
    Op op = made(plan, job, rank, planned[i], shapes);
    predecessors.of(planned[i], i, before);
    op.waits = static_cast<std::uint32_t>(before.size());
    for (const profile::OpIndex earlier : before) {
      waiting[earlier].push_back(i);
      op.phase = std::max(op.phase, ops[earlier].phase);
    }
    if (profile::is_communication(op.kind)) {
      op.instance = instances.next(planned[i]);
      ++communication_ops;
    }
    lanes_max[op.stream] = std::max(lanes_max[op.stream], op.expansion.lane_count());
    ops.push_back(op);
  }
  for (profile::OpIndex i = 0; i < planned.size(); ++i) {
    ops[i].successors_begin = static_cast<std::uint32_t>(successors.size());
    successors.insert(successors.end(), waiting[i].begin(), waiting[i].end());
    ops[i].successors_end = static_cast<std::uint32_t>(successors.size());
  }
}

}  // namespace rehearsal::replay

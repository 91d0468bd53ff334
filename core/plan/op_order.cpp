#include "core/plan/op_order.hpp"

namespace rehearsal::plan {

void Predecessors::of(const profile::Op& op, profile::OpIndex index,
                      std::vector<profile::OpIndex>& out) {
  out.assign(op.after.begin(), op.after.end());
  remember(of_stream_[op.stream], index, out);
  if (profile::is_point_to_point(op.kind)) {
    const auto key = std::tuple{op.communicator, op.peer, op.kind};
    remember(of_pair_.try_emplace(key, kNone).first->second, index, out);
  } else if (profile::is_communication(op.kind)) {
    remember(of_communicator_.try_emplace(op.communicator, kNone).first->second, index, out);
  }
}

void Predecessors::remember(profile::OpIndex& last, profile::OpIndex index,
                            std::vector<profile::OpIndex>& out) {
  if (last != kNone) out.push_back(last);
  last = index;
}

OpInstances::OpInstances(const profile::RankClass& rank_class) {
  for (profile::OpIndex index = 0; index < rank_class.ops.size(); ++index) {
    const profile::Op& op = rank_class.ops[index];
    std::vector<profile::OpIndex>* of_kind = nullptr;
    if (profile::is_point_to_point(op.kind))
      of_kind = &pairs_[{op.communicator, op.peer, op.kind}];
    else if (profile::is_communication(op.kind))
      of_kind = &collectives_[op.communicator];
    instance_.push_back(of_kind == nullptr ? 0 : static_cast<std::uint32_t>(of_kind->size()));
    if (of_kind != nullptr) of_kind->push_back(index);
  }
}

}  // namespace rehearsal::plan

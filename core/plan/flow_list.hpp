#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/plan/op_order.hpp"
#include "core/plan/op_traffic.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/rails.hpp"

namespace rehearsal::plan {

/// Names one message of an iteration. Unique in a plan.
struct MessageId {
  JobIndex job;
  Rank source;
  profile::OpIndex op = 0;  ///< of the source's program
  Rank destination;
  std::uint16_t channel = 0;
  std::uint32_t step = 0;  ///< counts the op's messages on this connection

  bool operator==(const MessageId&) const = default;
};

/// One point-to-point message of a plan.
struct FlowLine {
  MessageId id;
  profile::OpIndex destination_op = 0;  ///< the op that receives it, of the destination's program
  const profile::Op* op = nullptr;
  Passage passage = Passage::wire;
  Binding from;  ///< on the wire: the NIC it leaves by
  Binding to;    ///< on the wire: the NIC it arrives at
  Bytes bytes;   ///< of the message as it is sent, the protocol's flags included
  /// What the source must have received before: those it passes on, or that came before it in the
  /// same order of steps.
  std::span<const MessageId> after;
  /// Ops of the source that must be done before, ascending.
  std::span<const profile::OpIndex> after_ops;
};

/// Every message of one iteration of a plan, one by one: rank by rank, op by op, and in an op lane
/// by lane (messages of one lane leave in the order listed). Holds the state of one lane, however
/// large the plan, which it looks at as long as it lives.
class FlowList {
 public:
  explicit FlowList(const Plan& plan);

  /// False at the end. The line's spans hold until the next call.
  bool next(FlowLine& line);

 private:
  struct OpOfClass {
    std::vector<profile::OpIndex> after;
  };
  struct ClassOrder {
    std::vector<OpOfClass> ops;
    OpInstances instances;
  };
  struct Job {
    Job(const Plan& plan, JobIndex index);
    OpExpander expander;
    Rails rails;
    std::vector<ClassOrder> classes;
    std::vector<std::uint32_t> class_of_rank;
  };

  bool next_lane();
  bool next_op();
  bool next_rank();
  const PlannedJob& planned() const { return plan_.jobs[job_index_.value]; }
  const profile::RankClass& rank_class(Rank rank) const {
    return planned().profile->classes[job_->class_of_rank[rank.value]];
  }
  const ClassOrder& order(Rank rank) const {
    return job_->classes[job_->class_of_rank[rank.value]];
  }
  profile::OpIndex op_of(Rank rank) const;
  void received(std::uint32_t position, std::uint16_t channel);
  void fill(FlowLine& line, const collective::Step& step);

  const Plan& plan_;
  JobIndex job_index_{0};
  std::optional<Job> job_;
  std::optional<Rank> rank_;
  std::optional<profile::OpIndex> op_;
  std::uint32_t position_ = 0;  // of the rank in the op's communicator
  collective::Expansion expansion_;
  std::uint32_t lane_ = 0;
  bool in_lane_ = false;
  collective::Cursor cursor_;
  using Counts = std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint32_t>;
  Counts sent_;  // messages of this op, by peer and channel
  Counts received_;
  std::vector<MessageId> after_;  // received since the lane's last send
  bool after_sent_ = false;
};

}  // namespace rehearsal::plan

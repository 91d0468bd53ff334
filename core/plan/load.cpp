#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "core/plan/op_traffic.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/rails.hpp"

namespace rehearsal::plan {

namespace {

/// Numbers the NICs of a plan through, in order of hosts.
class NicNumbers {
 public:
  explicit NicNumbers(const Plan& plan) {
    for (const Inventory& host : plan.hosts) {
      first_.push_back(static_cast<std::uint32_t>(bindings_.size()));
      const auto index = static_cast<std::uint32_t>(first_.size() - 1);
      for (std::uint32_t nic = 0; nic < host.nics.size(); ++nic)
        bindings_.push_back({HostIndex{index}, NicIndex{nic}});
    }
  }

  std::size_t size() const { return bindings_.size(); }
  std::uint32_t of(HostIndex host, NicIndex nic) const { return first_[host.value] + nic.value; }
  const Binding& at(std::uint32_t number) const { return bindings_[number]; }

 private:
  std::vector<std::uint32_t> first_;  // by host
  std::vector<Binding> bindings_;
};

/// The longest sum of compute along one stream.
Duration compute_of(const profile::RankClass& rank_class) {
  std::map<std::uint32_t, Duration> by_stream;
  Duration longest{0};
  for (const profile::Op& op : rank_class.ops)
    if (op.kind == profile::OpKind::compute)
      longest = std::max(longest, by_stream[op.stream] += op.duration);
  return longest;
}

/// Tells the connections of one rank in one communicator apart, so that each is counted once
/// however many ops use it. Starts afresh in constant time.
class SeenConnections {
 public:
  void start(std::size_t peers, std::uint32_t channels) {
    channels_ = channels;
    const std::size_t needed = peers * channels * 2;
    if (needed > marks_.size()) marks_.resize(needed, 0);
    ++mark_;
  }
  /// True the first time.
  bool add(std::uint32_t peer, std::uint32_t channel, ConnectionUse use) {
    const std::size_t kind = use == ConnectionUse::point_to_point ? 1 : 0;
    std::uint32_t& mark = marks_[(std::size_t{peer} * channels_ + channel) * 2 + kind];
    return std::exchange(mark, mark_) != mark_;
  }

 private:
  std::vector<std::uint32_t> marks_;
  std::uint32_t mark_ = 0;
  std::uint32_t channels_ = 1;
};

/// Adds up all jobs, NIC by NIC: what one NIC sends is complete before the next one's turn, so
/// memory grows with the number of NICs and never with the number of pairs.
class Adder {
 public:
  explicit Adder(const Plan& plan) : plan_(plan), rails_(plan), nics_(plan), to_nic_(nics_.size()) {
    for (std::uint32_t i = 0; i < nics_.size(); ++i) {
      const Binding& nic = nics_.at(i);
      load_.nics.push_back({.host = nic.host, .nic = nic.nic, .sent = {}, .received = {}});
    }
    load_.connections.resize(plan.hosts.size());
  }

  void add_job(JobIndex job) {
    const PlannedJob& planned = plan_.jobs[job.value];
    job_load_ = {};
    std::vector<std::uint32_t> class_of_rank(planned.bindings.size());
    std::vector<std::vector<RepeatedOp>> ops_of_class;
    for (const profile::RankClass& rank_class : planned.profile->classes) {
      for (const Rank rank : rank_class.ranks)
        class_of_rank[rank.value] = static_cast<std::uint32_t>(ops_of_class.size());
      const auto& ops = ops_of_class.emplace_back(distinct_communication(rank_class));
      job_load_.compute_max = std::max(job_load_.compute_max, compute_of(rank_class));
      for (const RepeatedOp& repeated : ops)
        job_load_.ops += repeated.count * rank_class.ranks.size();
    }
    std::vector<std::uint32_t> ranks(planned.bindings.size());
    std::iota(ranks.begin(), ranks.end(), 0U);
    const auto nic_of = [&](std::uint32_t rank) {
      return nics_.of(planned.bindings[rank].host, planned.bindings[rank].nic);
    };
    std::ranges::stable_sort(ranks, {}, nic_of);
    OpExpander expander{plan_, job};
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      add_rank(planned, expander, Rank{ranks[i]}, ops_of_class[class_of_rank[ranks[i]]]);
      if (i + 1 == ranks.size() || nic_of(ranks[i]) != nic_of(ranks[i + 1]))
        end_nic(job, nics_.at(nic_of(ranks[i])));
    }
    load_.jobs.push_back(job_load_);
    load_.expected_iteration = std::max(load_.expected_iteration, job_load_.compute_max);
  }

  Load finish() && {
    for (const NicLoad& nic : load_.nics) {
      const BitRate rate = plan_.hosts[nic.host.value].nics[nic.nic.value].line_rate;
      load_.expected_iteration = std::max(
          load_.expected_iteration, transmission_time(std::max(nic.sent, nic.received), rate));
    }
    return std::move(load_);
  }

 private:
  struct Amount {
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
  };

  void add_rank(const PlannedJob& planned, OpExpander& expander, Rank rank,
                const std::vector<RepeatedOp>& ops) {
    std::optional<CommunicatorIndex> communicator;
    for (const RepeatedOp& repeated : ops) {
      const profile::Op& op = *repeated.op;
      if (communicator != op.communicator) {  // ops come ordered by communicator
        communicator = op.communicator;
        seen_.start(
            planned.profile->communicators[op.communicator.value].size(),
            std::max(plan_.collectives.channels, plan_.collectives.point_to_point_channels));
      }
      traffic_.clear();
      expander.expand(op, rank).append_sent(traffic_);
      const ConnectionUse use = use_of(op.kind);
      for (const collective::Traffic& traffic : traffic_) {
        const Rank peer = expander.rank_at(op, traffic.peer);
        const bool first = seen_.add(traffic.peer, traffic.channel, use);
        add(planned.bindings[rank.value], planned.bindings[peer.value], traffic, repeated.count,
            first);
      }
    }
  }

  void add(const Binding& source, const Binding& destination, const collective::Traffic& traffic,
           std::uint64_t times, bool first) {
    const std::uint64_t bytes = traffic.amount.wire * times;
    if (source.host == destination.host) {
      job_load_.local += Bytes{bytes};
      if (first) ++load_.connections[source.host.value].local;
      return;
    }
    if (first) {
      ++load_.connections[source.host.value].outgoing;
      ++load_.connections[destination.host.value].incoming;
    }
    const std::uint32_t nic = nics_.of(destination.host, rails_.arrival(source, destination));
    if (to_nic_[nic].messages == 0) touched_.push_back(nic);
    to_nic_[nic].bytes += bytes;
    to_nic_[nic].messages += traffic.amount.messages * times;
  }

  /// All that `source` sends for this job is known: its flows.
  void end_nic(JobIndex job, const Binding& source) {
    std::ranges::sort(touched_);
    load_.flow_count += touched_.size();
    const bool listed = load_.flow_count <= kFlowsListedMax;
    if (!listed) load_.flows = {};
    for (const std::uint32_t number : touched_) {
      const Amount amount = std::exchange(to_nic_[number], {});
      const Binding& destination = nics_.at(number);
      const Bytes bytes{amount.bytes};
      job_load_.on_wire += bytes;
      load_.nics[nics_.of(source.host, source.nic)].sent += bytes;
      load_.nics[number].received += bytes;
      if (!listed) continue;
      load_.flows.push_back({.job = job,
                             .source_host = source.host,
                             .source_nic = source.nic,
                             .destination_host = destination.host,
                             .destination_nic = destination.nic,
                             .messages = amount.messages,
                             .bytes = bytes});
    }
    touched_.clear();
  }

  const Plan& plan_;
  Rails rails_;
  NicNumbers nics_;
  Load load_;
  JobLoad job_load_;
  std::vector<Amount> to_nic_;          // from the NIC whose turn it is, by number
  std::vector<std::uint32_t> touched_;  // those that get something
  SeenConnections seen_;
  std::vector<collective::Traffic> traffic_;
};

}  // namespace

Load expand_load(const Plan& plan) {
  Adder adder{plan};
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) adder.add_job(JobIndex{job});
  return std::move(adder).finish();
}

}  // namespace rehearsal::plan

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "core/plan/background.hpp"
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
    const std::size_t needed = peers * channels * kUses;
    if (needed > marks_.size()) marks_.resize(needed, 0);
    ++mark_;
  }
  /// True the first time.
  bool add(std::uint32_t peer, std::uint32_t channel, ConnectionUse use) {
    const std::size_t connection =
        (std::size_t{peer} * channels_ + channel) * kUses + static_cast<std::size_t>(use);
    return std::exchange(marks_[connection], mark_) != mark_;
  }

 private:
  static constexpr std::size_t kUses = kConnectionUsesOfOps;

  std::vector<std::uint32_t> marks_;
  std::uint32_t mark_ = 0;
  std::uint32_t channels_ = 1;
};

/// What the NICs of one host send, to each NIC of the plan: a row for every NIC that sends. Memory
/// grows with the number of NICs and never with the number of pairs.
class SentByHost {
 public:
  struct Amount {
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
  };

  explicit SentByHost(std::size_t nics) : nics_(nics) {}

  void add(NicIndex from, std::uint32_t to, std::uint64_t bytes, std::uint64_t messages) {
    if (from.value >= rows_.size()) rows_.resize(from.value + 1);
    Row& row = rows_[from.value];
    if (row.amounts.empty()) row.amounts.resize(nics_);
    Amount& amount = row.amounts[to];
    if (amount.messages == 0) row.touched.push_back(to);
    amount.bytes += bytes;
    amount.messages += messages;
  }

  /// Calls `take(from, to, amount)` in order of NICs, and starts afresh.
  template <typename Take>
  void drain(Take take) {
    for (std::uint32_t from = 0; from < rows_.size(); ++from) {
      Row& row = rows_[from];
      std::ranges::sort(row.touched);
      for (const std::uint32_t to : row.touched)
        take(NicIndex{from}, to, std::exchange(row.amounts[to], {}));
      row.touched.clear();
    }
  }

  /// NICs that something is sent to.
  std::size_t count() const {
    std::size_t total = 0;
    for (const Row& row : rows_) total += row.touched.size();
    return total;
  }

 private:
  struct Row {
    std::vector<Amount> amounts;  // by number of the NIC; empty until the first
    std::vector<std::uint32_t> touched;
  };
  std::size_t nics_;
  std::vector<Row> rows_;
};

/// Channels are numbered below this.
std::uint32_t channels_end(const Plan& plan, const PlannedJob& job) {
  std::uint32_t end = std::max(plan.collectives.channels, plan.collectives.point_to_point_channels);
  for (const OpChoice& picked : job.choices) {
    // A (channel, head) of NVLS counts as a channel, and there is a head for each rail.
    const bool heads = picked.choice.algorithm == collective::Algorithm::nvls ||
                       picked.choice.algorithm == collective::Algorithm::nvls_tree;
    end = std::max(end, picked.choice.channels * (heads ? job.node->rails : 1));
  }
  return end;
}

/// Adds up all jobs, host by host.
class Adder {
 public:
  explicit Adder(const Plan& plan) : plan_(plan), nics_(plan), sent_(nics_.size()) {
    for (std::uint32_t i = 0; i < nics_.size(); ++i) {
      const Binding& nic = nics_.at(i);
      load_.nics.push_back({.host = nic.host, .nic = nic.nic, .sent = {}, .received = {}});
    }
    load_.connections.resize(plan.hosts.size());
  }

  void add_job(JobIndex job) {
    const PlannedJob& planned = plan_.jobs[job.value];
    job_load_ = {};
    channels_end_ = channels_end(plan_, planned);
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
    const auto host_of = [&](std::uint32_t rank) { return planned.bindings[rank].host; };
    std::ranges::stable_sort(ranks, {}, host_of);
    OpExpander expander{plan_, job};
    const Rails rails{plan_, job};
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const Rank rank{ranks[i]};
      add_rank(planned, expander, rails, rank, ops_of_class[class_of_rank[rank.value]]);
      if (i + 1 == ranks.size() || host_of(ranks[i]) != host_of(ranks[i + 1]))
        end_host(job, host_of(ranks[i]));
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
  void add_rank(const PlannedJob& planned, OpExpander& expander, const Rails& rails, Rank rank,
                const std::vector<RepeatedOp>& ops) {
    std::optional<CommunicatorIndex> communicator;
    const HostIndex here = planned.bindings[rank.value].host;
    for (const RepeatedOp& repeated : ops) {
      const profile::Op& op = *repeated.op;
      if (communicator != op.communicator) {  // ops come ordered by communicator
        communicator = op.communicator;
        seen_.start(planned.profile->communicators[op.communicator.value].size(), channels_end_);
      }
      traffic_.clear();
      expander.expand(op, rank).append_sent(traffic_);
      const ConnectionUse use = use_of(op.kind);
      const Rails::End source{rank, expander.position(op, rank)};
      for (const collective::Traffic& traffic : traffic_) {
        const Rails::End destination{expander.rank_at(op, traffic.peer), traffic.peer};
        const HostIndex there = planned.bindings[destination.rank.value].host;
        const Passage passage = rails.passage(rank, destination.rank);
        count_connection(here, there, seen_.add(traffic.peer, traffic.channel, use));
        const std::uint64_t bytes = traffic.amount.wire * repeated.count;
        if (passage != Passage::wire) {
          job_load_.local += Bytes{bytes};
          if (passage == Passage::between_nodes) job_load_.local_between_nodes += Bytes{bytes};
          continue;
        }
        const auto route =
            rails.route(expander.shape(op), use, traffic.channel, source, destination);
        sent_.add(route.departure, nics_.of(there, route.arrival), bytes,
                  traffic.amount.messages * repeated.count);
      }
    }
  }

  void count_connection(HostIndex here, HostIndex there, bool is_new) {
    if (!is_new) return;
    if (here == there) {
      ++load_.connections[here.value].local;
      return;
    }
    ++load_.connections[here.value].outgoing;
    ++load_.connections[there.value].incoming;
  }

  /// All that `host` sends for this job is known: its flows.
  void end_host(JobIndex job, HostIndex host) {
    load_.flow_count += sent_.count();
    const bool listed = load_.flow_count <= kFlowsListedMax;
    if (!listed) load_.flows = {};
    sent_.drain([&](NicIndex from, std::uint32_t to, const SentByHost::Amount& amount) {
      const Bytes bytes{amount.bytes};
      job_load_.on_wire += bytes;
      load_.nics[nics_.of(host, from)].sent += bytes;
      load_.nics[to].received += bytes;
      if (!listed) return;
      load_.flows.push_back({.job = job,
                             .source_host = host,
                             .source_nic = from,
                             .destination_host = nics_.at(to).host,
                             .destination_nic = nics_.at(to).nic,
                             .messages = amount.messages,
                             .bytes = bytes});
    });
  }

  const Plan& plan_;
  NicNumbers nics_;
  Load load_;
  JobLoad job_load_;
  SentByHost sent_;  // by the host whose turn it is
  std::uint32_t channels_end_ = 1;
  SeenConnections seen_;
  std::vector<collective::Traffic> traffic_;
};

}  // namespace

Load expand_load(const Plan& plan) {
  Adder adder{plan};
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) adder.add_job(JobIndex{job});
  Load load = std::move(adder).finish();
  add_background(plan, load);
  return load;
}

}  // namespace rehearsal::plan

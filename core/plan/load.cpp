#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "core/plan/op_traffic.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/rails.hpp"

namespace rehearsal::plan {

namespace {

/// A NIC of the plan as one number, so that pairs of NICs make a key.
constexpr std::uint64_t endpoint(const Binding& binding) {
  return std::uint64_t{binding.host.value} << 8 | binding.nic.value;
}
constexpr HostIndex host_of(std::uint64_t endpoint) {
  return HostIndex{static_cast<std::uint32_t>(endpoint >> 8)};
}
constexpr NicIndex nic_of(std::uint64_t endpoint) {
  return NicIndex{static_cast<std::uint32_t>(endpoint & 0xff)};
}

struct Amount {
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
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

/// Adds up one job.
class JobAdder {
 public:
  JobAdder(const Plan& plan, const Rails& rails, JobIndex job)
      : planned_(plan.jobs[job.value]), rails_(rails), expander_(plan, job), job_(job) {}

  void add_class(const profile::RankClass& rank_class) {
    const auto ops = distinct_communication(rank_class);
    load.compute_max = std::max(load.compute_max, compute_of(rank_class));
    for (const RepeatedOp& repeated : ops) load.ops += repeated.count * rank_class.ranks.size();
    for (const Rank rank : rank_class.ranks)
      for (const RepeatedOp& repeated : ops) add_op(rank, repeated);
  }

  std::vector<Flow> flows() const {
    std::vector<Flow> result;
    for (const auto& [pair, amount] : amounts_) {
      const std::uint64_t source = pair >> 32;
      const std::uint64_t destination = pair & 0xffff'ffff;
      result.push_back({.job = job_,
                        .source_host = host_of(source),
                        .source_nic = nic_of(source),
                        .destination_host = host_of(destination),
                        .destination_nic = nic_of(destination),
                        .messages = amount.messages,
                        .bytes = Bytes{amount.bytes}});
    }
    std::sort(result.begin(), result.end(), [](const Flow& a, const Flow& b) {
      return std::tie(a.source_host, a.source_nic, a.destination_host, a.destination_nic) <
             std::tie(b.source_host, b.source_nic, b.destination_host, b.destination_nic);
    });
    return result;
  }

  JobLoad load;

 private:
  void add_op(Rank rank, const RepeatedOp& repeated) {
    traffic_.clear();
    expander_.expand(*repeated.op, rank).append_sent(traffic_);
    const Binding& source = planned_.bindings[rank.value];
    for (const collective::Traffic& traffic : traffic_) {
      const Rank peer = expander_.rank_at(*repeated.op, traffic.peer);
      const Binding& destination = planned_.bindings[peer.value];
      const std::uint64_t bytes = traffic.amount.wire * repeated.count;
      if (source.host == destination.host) {
        load.local += Bytes{bytes};
        continue;
      }
      load.on_wire += Bytes{bytes};
      const Binding arrival{.host = destination.host, .nic = rails_.arrival(source, destination)};
      Amount& amount = amounts_[endpoint(source) << 32 | endpoint(arrival)];
      amount.bytes += bytes;
      amount.messages += traffic.amount.messages * repeated.count;
    }
  }

  const PlannedJob& planned_;
  const Rails& rails_;
  OpExpander expander_;
  JobIndex job_;
  std::unordered_map<std::uint64_t, Amount> amounts_;
  std::vector<collective::Traffic> traffic_;
};

/// What each NIC of the plan carries, also those that carry nothing.
std::vector<NicLoad> nic_loads(const Plan& plan, const std::vector<Flow>& flows) {
  std::map<std::pair<HostIndex, NicIndex>, NicLoad> loads;
  const auto at = [&](HostIndex host, NicIndex nic) -> NicLoad& {
    NicLoad& load = loads[{host, nic}];
    load.host = host;
    load.nic = nic;
    return load;
  };
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host)
    for (std::uint32_t nic = 0; nic < plan.hosts[host].nics.size(); ++nic)
      at(HostIndex{host}, NicIndex{nic});
  for (const Flow& flow : flows) {
    at(flow.source_host, flow.source_nic).sent += flow.bytes;
    at(flow.destination_host, flow.destination_nic).received += flow.bytes;
  }
  std::vector<NicLoad> result;
  for (const auto& [name, load] : loads) result.push_back(load);
  return result;
}

Duration busiest_nic(const Plan& plan, const std::vector<NicLoad>& loads) {
  Duration longest{0};
  for (const NicLoad& load : loads) {
    const auto& nics = plan.hosts[load.host.value].nics;
    if (load.nic.value >= nics.size()) continue;
    longest = std::max(longest, transmission_time(std::max(load.sent, load.received),
                                                  nics[load.nic.value].line_rate));
  }
  return longest;
}

}  // namespace

Load expand_load(const Plan& plan) {
  Load result;
  const Rails rails{plan};
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    JobAdder adder{plan, rails, JobIndex{job}};
    for (const profile::RankClass& rank_class : plan.jobs[job].profile->classes)
      adder.add_class(rank_class);
    result.jobs.push_back(adder.load);
    const auto flows = adder.flows();
    result.flows.insert(result.flows.end(), flows.begin(), flows.end());
    result.expected_iteration = std::max(result.expected_iteration, adder.load.compute_max);
  }
  result.nics = nic_loads(plan, result.flows);
  result.expected_iteration = std::max(result.expected_iteration, busiest_nic(plan, result.nics));
  return result;
}

}  // namespace rehearsal::plan

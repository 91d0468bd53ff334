#include "core/report/observe.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace rehearsal::report {
namespace {

using diagnosis::Flow;
using diagnosis::NicNumber;
using diagnosis::Observations;
using diagnosis::Passage;
using measure::FlowTimes;

// Numbers of NICs, and back to their names.
class Nics {
 public:
  explicit Nics(const plan::Plan& plan) : plan_(plan) {
    for (const plan::Inventory& host : plan.hosts) {
      first_.push_back(count_);
      count_ += static_cast<NicNumber>(host.nics.size());
    }
  }
  NicNumber number(HostIndex host, NicIndex nic) const { return first_[host.value] + nic.value; }
  NicNumber count() const { return count_; }
  const std::string& name(HostIndex host, NicIndex nic) const {
    return plan_.hosts[host.value].nics[nic.value].name;
  }

 private:
  const plan::Plan& plan_;
  std::vector<NicNumber> first_;
  NicNumber count_ = 0;
};

// Two ranks, and what both agents saw pass between them: by NIC, as seldom there is more than one.
struct Pair {
  std::vector<const FlowTimes*> sent;
  std::vector<const FlowTimes*> received;
};
using PairKey = std::tuple<JobIndex, Rank, Rank>;

// Ends by the same NIC's name belong together; what is left over does in order of NICs.
void put_in_step(const Nics& nics, HostIndex source, HostIndex destination, Pair& pair) {
  for (std::size_t i = 0; i < pair.sent.size(); ++i) {
    for (std::size_t j = i; j < pair.received.size(); ++j) {
      if (nics.name(source, pair.sent[i]->nic) != nics.name(destination, pair.received[j]->nic))
        continue;
      std::swap(pair.received[i], pair.received[j]);
      break;
    }
  }
}

// Numbers are those that agents sent: sums of durations stop at their limit.
void add(Passage& passage, const measure::FlowFigures& sent, const measure::FlowFigures& received) {
  passage.messages += sent.messages;
  passage.bytes += static_cast<double>(sent.bytes.count());
  passage.exposed = saturated_sum(passage.exposed, sent.held - received.held);
  passage.blocked = saturated_sum(passage.blocked, sent.stood);
  passage.starved = saturated_sum(passage.starved, received.stood);
  if (!passage.under_way || sent.messages != received.messages) {
    passage.under_way.reset();
    return;
  }
  // Sums of instants wrap: only the difference of all is a duration.
  const auto before = static_cast<std::uint64_t>(passage.under_way->count());
  const std::uint64_t sum = before + received.instants - sent.instants;
  passage.under_way = Duration{static_cast<std::int64_t>(sum)};
}

Duration planned_compute(const profile::RankClass& rank_class) {
  Duration sum{0};
  for (const profile::Op& op : rank_class.ops) {
    if (op.kind == profile::OpKind::compute) sum += op.duration;
  }
  return sum;
}

void add_ranks(const plan::Plan& plan, const AgentFlows& agent, Observations& observations) {
  for (const measure::ComputeTimes& rank : agent.measurements->ranks) {
    diagnosis::RankWork work{
        .job = rank.job,
        .rank = rank.rank,
        .host = agent.host,
        .planned = planned_compute(plan.jobs[rank.job.value].profile->class_of(rank.rank))};
    for (const measure::ComputeFigures& figures : rank.windows) {
      work.taken.push_back(figures.computed + figures.late);
    }
    observations.ranks.push_back(std::move(work));
  }
}

// As diagnosis::Window wants it.
Duration usual_of(std::span<const Duration> times) {
  if (times.empty()) return Duration::zero();
  Duration sum = std::accumulate(times.begin(), times.end(), Duration::zero(), saturated_sum);
  auto count = static_cast<std::int64_t>(times.size());
  if (count >= 3) {
    sum -= *std::ranges::max_element(times);
    --count;
  }
  return sum / count;
}

std::vector<diagnosis::Window> windows_of(const std::vector<std::uint32_t>& begins,
                                          std::uint32_t iterations,
                                          std::span<const measure::IterationTime> times) {
  std::vector<diagnosis::Window> windows(begins.size());
  std::vector<std::vector<Duration>> of_window(begins.size());
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::uint32_t end = i + 1 < begins.size() ? begins[i + 1] : iterations;
    windows[i].iterations = end - begins[i];
  }
  for (const measure::IterationTime& time : times) {
    const std::size_t window = measure::window_of(begins, time.iteration);
    of_window[window].push_back(time.time);
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    windows[i].iteration_time = usual_of(of_window[i]);
    // Of iterations that were not completed nothing is known.
    if (of_window[i].empty() && !times.empty()) windows[i].iterations = 0;
  }
  return windows;
}

std::map<PairKey, Pair> pairs_of(std::span<const AgentFlows> agents,
                                 const std::vector<std::uint32_t>& windows) {
  std::map<PairKey, Pair> pairs;
  for (const AgentFlows& agent : agents) {
    if (agent.measurements->windows != windows) continue;
    for (const FlowTimes& flow : agent.measurements->flows) {
      if (flow.local) continue;
      Pair& pair = pairs[{flow.job, flow.source, flow.destination}];
      (flow.outgoing ? pair.sent : pair.received).push_back(&flow);
    }
  }
  return pairs;
}

// What both ends of all flows between two NICs saw.
struct Joined {
  JobIndex job;  // the first that uses it
  HostIndex from;
  NicIndex departure;
  HostIndex to;
  NicIndex arrival;
  std::vector<Passage> passages;
};

using JoinedFlows = std::map<std::pair<NicNumber, NicNumber>, Joined>;

JoinedFlows joined_flows(const plan::Plan& plan, const Nics& nics, std::map<PairKey, Pair> pairs,
                         std::size_t windows) {
  JoinedFlows flows;
  for (auto& [key, pair] : pairs) {
    const auto& [job, source, destination] = key;
    const auto& bindings = plan.jobs[job.value].bindings;
    const HostIndex from = bindings[source.value].host;
    const HostIndex to = bindings[destination.value].host;
    put_in_step(nics, from, to, pair);
    for (std::size_t i = 0; i < std::min(pair.sent.size(), pair.received.size()); ++i) {
      const NicIndex departure = pair.sent[i]->nic;
      const NicIndex arrival = pair.received[i]->nic;
      Joined& flow = flows
                         .try_emplace({nics.number(from, departure), nics.number(to, arrival)},
                                      Joined{job, from, departure, to, arrival, {}})
                         .first->second;
      flow.passages.resize(windows);
      for (std::size_t window = 0; window < windows; ++window) {
        add(flow.passages[window], pair.sent[i]->windows[window],
            pair.received[i]->windows[window]);
      }
    }
  }
  return flows;
}

double bytes_of(const Flow& flow) {
  double bytes = 0;
  for (const Passage& passage : flow.windows) bytes += passage.bytes;
  return bytes;
}

// Flows of a kind are of one job, between the same NICs of hosts that stand equally far apart in
// it, and carry about the same: sorted by bytes, each at most so many times the one before.
constexpr double kSameSize = 1.5;

void number_kinds(const plan::Plan& plan, const JoinedFlows& joined, Observations& observations) {
  std::vector<std::map<HostIndex, std::uint32_t>> places(plan.jobs.size());
  for (std::size_t job = 0; job < plan.jobs.size(); ++job) {
    for (const plan::Binding& binding : plan.jobs[job].bindings) {
      places[job].try_emplace(binding.host, static_cast<std::uint32_t>(places[job].size()));
    }
  }
  using Likeness = std::tuple<JobIndex, std::uint32_t, NicIndex, NicIndex>;
  std::map<Likeness, std::vector<Flow*>> alike;
  std::size_t i = 0;  // flows are in the order of `joined`
  for (const auto& [ends, flow] : joined) {
    const auto& place = places[flow.job.value];
    const auto hosts = static_cast<std::uint32_t>(place.size());
    const std::uint32_t distance = (place.at(flow.to) + hosts - place.at(flow.from)) % hosts;
    alike[{flow.job, distance, flow.departure, flow.arrival}].push_back(&observations.flows[i++]);
  }
  std::uint32_t kind = 0;
  for (auto& [likeness, flows] : alike) {
    std::ranges::stable_sort(flows, {}, [](const Flow* flow) { return bytes_of(*flow); });
    for (std::size_t at = 0; at < flows.size(); ++at) {
      if (at == 0 || bytes_of(*flows[at]) > kSameSize * bytes_of(*flows[at - 1])) ++kind;
      flows[at]->kind = kind;
    }
  }
}

}  // namespace

NicNumber nic_number(const plan::Plan& plan, HostIndex host, NicIndex nic) {
  return Nics(plan).number(host, nic);
}

std::string contradiction_of(const plan::Plan& plan, HostIndex host,
                             const measure::FlowMeasurements& measurements) {
  const auto is_rank = [&](JobIndex job, Rank rank) {
    return job.value < plan.jobs.size() && rank.value < plan.jobs[job.value].bindings.size();
  };
  const auto lives_here = [&](JobIndex job, Rank rank) {
    return is_rank(job, rank) && plan.jobs[job.value].bindings[rank.value].host == host;
  };
  for (const FlowTimes& flow : measurements.flows) {
    if (!is_rank(flow.job, flow.source) || !is_rank(flow.job, flow.destination) ||
        !lives_here(flow.job, flow.outgoing ? flow.source : flow.destination)) {
      return "a flow of a rank that is not on this host";
    }
    if (!flow.local && flow.nic.value >= plan.hosts[host.value].nics.size()) {
      return "a flow by a NIC that this host has not";
    }
  }
  for (const measure::ComputeTimes& rank : measurements.ranks) {
    if (!lives_here(rank.job, rank.rank)) return "compute of a rank that is not on this host";
  }
  if (!measurements.windows.empty() && measurements.windows.back() >= plan.iterations) {
    return "a window of iterations that are not in the plan";
  }
  return "";
}

Observations observe(const plan::Plan& plan, std::span<const AgentFlows> agents,
                     std::span<const measure::IterationTime> iterations) {
  Observations observations;
  const Nics nics(plan);
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    observations.host_of_nic.insert(observations.host_of_nic.end(), plan.hosts[host].nics.size(),
                                    HostIndex{host});
  }
  if (agents.empty() || agents.front().measurements->windows.empty()) return observations;
  const std::vector<std::uint32_t>& windows = agents.front().measurements->windows;
  observations.windows = windows_of(windows, plan.iterations, iterations);
  for (const AgentFlows& agent : agents) {
    if (agent.measurements->windows == windows) add_ranks(plan, agent, observations);
  }

  const JoinedFlows joined = joined_flows(plan, nics, pairs_of(agents, windows), windows.size());
  for (const auto& [ends, flow] : joined) {
    observations.flows.push_back(
        {.source = ends.first, .destination = ends.second, .kind = 0, .windows = flow.passages});
  }
  number_kinds(plan, joined, observations);
  return observations;
}

}  // namespace rehearsal::report

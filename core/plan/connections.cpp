#include <algorithm>

#include "core/plan/background.hpp"
#include "core/plan/op_traffic.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/rails.hpp"

namespace rehearsal::plan {

namespace {

/// One class's use of connections, from the side of its ranks on one host.
class Collector {
 public:
  Collector(const Plan& plan, HostIndex host) : plan_(plan), host_(host) {}

  void add_job(JobIndex job) {
    OpExpander expander{plan_, job};
    const Rails rails{plan_, job};
    const PlannedJob& planned = plan_.jobs[job.value];
    for (const profile::RankClass& rank_class : planned.profile->classes) {
      const auto ops = distinct_communication(rank_class);
      for (const Rank rank : rank_class.ranks)
        if (planned.bindings[rank.value].host == host_)
          for (const RepeatedOp& repeated : ops) add_op(job, expander, rails, rank, *repeated.op);
    }
  }

  Connections finish() && {
    merge(result_.outgoing);
    merge(result_.incoming);
    merge(result_.local);
    add_background();
    std::uint32_t index = 0;
    for (auto* specs : {&result_.outgoing, &result_.incoming, &result_.local,
                        &result_.background_outgoing, &result_.background_incoming})
      for (ConnectionSpec& spec : *specs) spec.index = ConnectionIndex{index++};
    return std::move(result_);
  }

 private:
  void add_op(JobIndex job, OpExpander& expander, const Rails& rails, Rank rank,
              const profile::Op& op) {
    const collective::Expansion expansion = expander.expand(op, rank);
    const auto& bindings = plan_.jobs[job.value].bindings;
    const ConnectionUse use = use_of(op.kind);
    const std::uint32_t credits = expander.choice(op).credits;
    const auto add = [&](bool sent) {
      traffic_.clear();
      sent ? expansion.append_sent(traffic_) : expansion.append_received(traffic_);
      for (const collective::Traffic& traffic : traffic_) {
        const Rank peer = expander.rank_at(op, traffic.peer);
        const bool local = bindings[peer.value].host == host_;
        if (local && !sent) continue;  // the source has it
        const Rails::End here{rank, expander.position(op, rank)};
        const Rails::End there{peer, traffic.peer};
        NicIndex nic = bindings[rank.value].nic;  // where it is handed over, no NIC is used
        if (!local) {
          const auto& shape = expander.shape(op);
          nic = sent ? rails.route(shape, use, traffic.channel, here, there).departure
                     : rails.route(shape, use, traffic.channel, there, here).arrival;
        }
        auto& specs = local ? result_.local : sent ? result_.outgoing : result_.incoming;
        specs.push_back({.index = {},
                         .key = {.job = job,
                                 .communicator = op.communicator,
                                 .source = sent ? rank : peer,
                                 .destination = sent ? peer : rank,
                                 .channel = traffic.channel,
                                 .use = use},
                         .nic = nic,
                         .credits = credits,
                         .message_bytes_max = traffic.message_bytes_max});
      }
    };
    add(true);
    add(false);
  }

  void add_background() {
    for (const BackgroundFlow& flow : background_flows(plan_)) {
      const fault::What& what = plan_.faults[flow.fault].what;
      ConnectionSpec spec{.index = {},
                          .key = key_of(flow),
                          .nic = flow.source.nic,
                          .credits = what.credits,
                          .message_bytes_max = what.message.count()};
      if (flow.source.host == host_) result_.background_outgoing.push_back(spec);
      spec.nic = flow.destination.nic;
      if (flow.destination.host == host_) result_.background_incoming.push_back(spec);
    }
    for (auto* specs : {&result_.background_outgoing, &result_.background_incoming})
      std::ranges::sort(*specs, {}, &ConnectionSpec::key);
  }

  /// Sorts by key and keeps one of each, with the largest message and the most credits of all: ops
  /// share a connection, and each keeps to its own credits.
  static void merge(std::vector<ConnectionSpec>& specs) {
    std::sort(specs.begin(), specs.end(),
              [](const ConnectionSpec& a, const ConnectionSpec& b) { return a.key < b.key; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (kept == 0 || specs[kept - 1].key != specs[i].key) {
        specs[kept++] = specs[i];
        continue;
      }
      ConnectionSpec& spec = specs[kept - 1];
      spec.message_bytes_max = std::max(spec.message_bytes_max, specs[i].message_bytes_max);
      spec.credits = std::max(spec.credits, specs[i].credits);
    }
    specs.resize(kept);
  }

  const Plan& plan_;
  HostIndex host_;
  Connections result_;
  std::vector<collective::Traffic> traffic_;
};

}  // namespace

Connections connections_of(const Plan& plan, HostIndex host) {
  Collector collector{plan, host};
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) collector.add_job(JobIndex{job});
  return std::move(collector).finish();
}

}  // namespace rehearsal::plan

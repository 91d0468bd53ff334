#include "core/plan/plan_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/base/table.hpp"
#include "core/plan/choices.hpp"
#include "core/plan/expectations.hpp"
#include "core/plan/plan_estimate.hpp"
#include "core/plan/plan_faults.hpp"
#include "core/plan/plan_warnings.hpp"
#include "core/profile/rank_list.hpp"

namespace rehearsal::plan {
namespace {

constexpr std::size_t kMatrixHostsMax = 7;  // more columns do not fit a screen
constexpr std::size_t kPairsShownMax = 20;
constexpr std::size_t kNicsShownMax = 64;

const Nic& nic_at(const Plan& plan, HostIndex host, NicIndex nic) {
  return plan.hosts[host.value].nics[nic.value];
}

std::string count_of(std::uint64_t count, std::string_view one) {
  return grouped(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

std::string rate_text(BitRate rate) {
  if (rate.bits_per_second() == 0) return "not known";
  return format_bit_rate(static_cast<double>(rate.bits_per_second()));
}

std::string bytes_text(Bytes bytes) { return bytes.count() == 0 ? "-" : format_bytes(bytes); }

std::string rdma_text(const RdmaSettings& rdma) {
  std::string text = rdma.operation == RdmaOperation::write ? ", RDMA WRITE WITH IMM" : ", SEND";
  text += ", " + count_of(rdma.queue_pairs, "queue pair") + " a connection";
  if (rdma.queue_pairs > 1)
    text += rdma.queue_pair_use == QueuePairUse::split ? " (messages split)" : " (in turn)";
  text += ", traffic class " + std::to_string(rdma.traffic_class);
  return text + (rdma.completions == CompletionMode::poll ? ", polled" : ", by events");
}

std::string transport_text(const TransportSettings& transport) {
  std::string text(to_string(transport.kind));
  if (transport.verify_payload) text += ", payload verified";
  if (transport.kind == TransportKind::rdma) return text + rdma_text(transport.rdma);
  if (transport.kind != TransportKind::tcp) return text;
  text += ", congestion control ";
  text +=
      transport.congestion_control.empty() ? "as the host has it" : transport.congestion_control;
  return text + (transport.receive == ReceiveMode::copy
                     ? ", payload copied to the receiver"
                     : ", payload dropped by the receiver's kernel");
}

std::string sync_text(const Plan& plan) {
  const std::string iterations = count_of(plan.iterations, "iteration");
  switch (plan.synchronisation) {
    case SyncMode::free:
      return iterations + ", kept in step by their data alone (free)";
    case SyncMode::iteration:
      return iterations + ", each started by appointment (iteration)";
    case SyncMode::phase:
      return iterations + ", every phase started by appointment (phase)";
  }
  return iterations;
}

std::string collectives_text(const CollectiveSettings& settings) {
  return count_of(settings.channels, "channel") + ", chunks of " +
         format_bytes_exact(settings.chunk) + " in " +
         count_of(settings.slices_per_chunk, "slice") + ", " + count_of(settings.credits, "credit");
}

std::string limits_text(const Limits& limits) {
  std::string text = format_duration_exact(limits.duration) + " in all, " +
                     format_duration_exact(limits.progress) + " without progress";
  if (limits.start_skew != Duration::zero()) {
    text += ", start skew " + format_duration_exact(limits.start_skew);
  }
  return text;
}

std::string duration_text(const Estimate& expected) {
  if (!expected.run) return "not known";
  return "at least " + format_duration(*expected.run) + ", " +
         format_duration(*expected.iteration) + " an iteration";
}

// "  name         value", the value broken between words where a line would get too wide.
void add_line(std::string& text, std::string_view name, std::string_view value) {
  constexpr std::size_t kNameWidth = 13;
  constexpr std::size_t kValueWidth = kTableWidthMax - kNameWidth - 2;
  text += "  " + std::string(name) + std::string(kNameWidth - name.size(), ' ');
  while (value.size() > kValueWidth) {
    const std::size_t space = value.rfind(' ', kValueWidth);
    if (space == std::string_view::npos) break;
    text += std::string(value.substr(0, space)) + "\n" + std::string(kNameWidth + 2, ' ');
    value.remove_prefix(space + 1);
  }
  text += std::string(value) + "\n";
}

std::string head(const Plan& plan, const Load& load) {
  const Estimate expected = estimate(plan, load);
  std::string text = "Plan of drill '" + plan.drill + "'. Nothing was sent.\n\n";
  add_line(text, "plan hash", plan_hash(plan));
  add_line(text, "in step", sync_text(plan));
  add_line(text, "duration", duration_text(expected));
  add_line(text, "", "by " + expected.basis);
  add_line(text, "transport", transport_text(plan.transport));
  if (std::ranges::any_of(plan.jobs, [](const PlannedJob& job) { return !job.node; }))
    add_line(text, "collectives", collectives_text(plan.collectives));
  add_line(text, "limits", limits_text(plan.limits));
  for (const std::string& warning : plan_warnings(plan, load)) add_line(text, "warning", warning);
  for (const Expectation& expectation : plan.expectations)
    add_line(text, "expected", describe(expectation));
  return text;
}

// "job moe: 4 nodes h100 of 8 ranks on 8 rails, 1 node a host; inside nodes …".
std::string nodes_lines(const Plan& plan, const Load& load) {
  std::string text;
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const PlannedJob& job = plan.jobs[i];
    if (!job.node) continue;
    const std::uint64_t nodes = job.seats.size() / job.node->ranks;
    text += "  " + job.name + ": " + count_of(nodes, "node") + " " + job.node->name + " of " +
            count_of(job.node->ranks, "rank") + " and " + count_of(job.node->rails, "rail");
    if (job.node->per_host > 1) {
      text += ", up to " + grouped(job.node->per_host) + " a host; of local " +
              bytes_text(load.jobs[i].local_between_nodes) + " between nodes";
    }
    text += "\n";
  }
  return text;
}

std::string choices_table(const Plan& plan) {
  using enum Table::Align;
  constexpr std::size_t kChoicesShownMax = 24;
  Table table({{"job"},
               {"communicator"},
               {"op"},
               {"bytes", right},
               {"algorithm"},
               {"protocol"},
               {"channels", right},
               {"chunk", right},
               {"credits", right}});
  std::size_t unshown = 0;
  for (const PlannedJob& job : plan.jobs) {
    for (const OpChoice& picked : job.choices) {
      if (table.rows() == kChoicesShownMax) {
        ++unshown;
        continue;
      }
      const collective::Choice& choice = picked.choice;
      table.add({job.name, job.profile->communicators[picked.communicator.value].name,
                 std::string(to_string(picked.kind)), bytes_text(picked.bytes),
                 goes_by_pairs(picked.kind) ? "pairs" : std::string(to_string(choice.algorithm)),
                 std::string(to_string(choice.protocol)), grouped(choice.channels),
                 format_bytes_exact(choice.chunk), grouped(choice.credits)});
    }
  }
  if (table.rows() == 0) return "";
  std::string text =
      "\nHow collectives are done (`rehearse plan --explain` says why)\n" + table.text("  ");
  if (unshown != 0) text += "  and " + count_of(unshown, "op") + " more, in plan.json\n";
  return text;
}

std::string jobs_table(const Plan& plan, const Load& load) {
  using enum Table::Align;
  Table table({{"job"},
               {"profile"},
               {"ranks", right},
               {"hosts", right},
               {"ops", right},
               {"on the wire", right},
               {"local", right},
               {"compute", right}});
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const PlannedJob& job = plan.jobs[i];
    const JobLoad& job_load = load.jobs[i];
    std::set<HostIndex> hosts;
    for (const Binding& binding : job.bindings) hosts.insert(binding.host);
    table.add({job.name, job.profile->name, grouped(job.profile->ranks), grouped(hosts.size()),
               grouped(job_load.ops), bytes_text(job_load.on_wire), bytes_text(job_load.local),
               format_duration(job_load.compute_max)});
  }
  return "\nJobs, one iteration\n" + table.text("  ") + nodes_lines(plan, load);
}

// "dlrm 0-1", over all jobs that have a rank on this NIC.
std::string ranks_text(const Plan& plan, const NicLoad& nic) {
  std::string text;
  for (const PlannedJob& job : plan.jobs) {
    std::vector<Rank> ranks;
    for (std::uint32_t rank = 0; rank < job.bindings.size(); ++rank) {
      if (job.bindings[rank] == Binding{nic.host, nic.nic}) ranks.push_back(Rank{rank});
    }
    if (ranks.empty()) continue;
    if (!text.empty()) text += "; ";
    text += job.name + " " + profile::format_ranks(ranks);
  }
  return text;
}

std::string nics_table(const Plan& plan, const Load& load) {
  using enum Table::Align;
  Table table({{"host"},
               {"NIC"},
               {"address"},
               {"line rate", right},
               {"sends", right},
               {"receives", right},
               {"sends in all", right},
               {"ranks"}});
  std::size_t idle = 0;
  std::size_t unshown = 0;
  for (const NicLoad& nic : load.nics) {
    if (nic.sent.count() == 0 && nic.received.count() == 0) {
      ++idle;
      continue;
    }
    if (table.rows() == kNicsShownMax) {
      ++unshown;
      continue;
    }
    const Nic& about = nic_at(plan, nic.host, nic.nic);
    table.add({plan.hosts[nic.host.value].host, about.name, about.address,
               rate_text(about.line_rate), bytes_text(nic.sent), bytes_text(nic.received),
               bytes_text(nic.sent * plan.iterations), ranks_text(plan, nic)});
  }
  std::string text = "\nNICs, one iteration\n";
  if (table.rows() != 0) text += table.text("  ");
  if (unshown != 0) text += "  and " + count_of(unshown, "NIC") + " more, in plan.json\n";
  if (idle != 0) text += "  " + count_of(idle, "NIC") + " without traffic\n";
  return text;
}

// "60 Gbit/s", or that nothing limits it but the network.
std::string background_text(std::optional<BitRate> rate) {
  if (!rate) return "as fast as it goes";
  return rate->bits_per_second() == 0 ? "-" : rate_text(*rate);
}

std::string background_table(const Plan& plan, const Load& load) {
  if (load.background.empty()) return "";
  using enum Table::Align;
  Table table({{"host"}, {"NIC"}, {"sends up to", right}, {"receives up to", right}});
  for (const NicBackground& nic : load.background) {
    if (table.rows() == kNicsShownMax) break;
    table.add({plan.hosts[nic.host.value].host, nic_at(plan, nic.host, nic.nic).name,
               background_text(nic.sent), background_text(nic.received)});
  }
  std::string text =
      "\nBackground traffic of faults, beside the jobs' bytes (`rehearse flows --background`)\n" +
      table.text("  ");
  const std::size_t unshown = load.background.size() - table.rows();
  if (unshown != 0) text += "  and " + count_of(unshown, "NIC") + " more, in plan.json\n";
  return text;
}

using HostPairs = std::map<std::pair<HostIndex, HostIndex>, Bytes>;

std::string matrix(const Plan& plan, const HostPairs& pairs) {
  std::vector<Table::Column> columns = {{"from \\ to"}};
  for (const Inventory& host : plan.hosts) columns.push_back({host.host, Table::Align::right});
  Table table(std::move(columns));
  for (std::uint32_t source = 0; source < plan.hosts.size(); ++source) {
    std::vector<std::string> row = {plan.hosts[source].host};
    for (std::uint32_t destination = 0; destination < plan.hosts.size(); ++destination) {
      const auto found = pairs.find({HostIndex{source}, HostIndex{destination}});
      row.push_back(found == pairs.end() ? "-" : bytes_text(found->second));
    }
    table.add(std::move(row));
  }
  return table.text("  ");
}

std::string largest(const Plan& plan, const HostPairs& pairs) {
  std::vector<std::pair<std::pair<HostIndex, HostIndex>, Bytes>> sorted(pairs.begin(), pairs.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  const std::size_t shown = std::min(sorted.size(), kPairsShownMax);
  Table table({{"from"}, {"to"}, {"bytes", Table::Align::right}});
  for (const auto& [hosts, bytes] : std::span(sorted).first(shown)) {
    table.add({plan.hosts[hosts.first.value].host, plan.hosts[hosts.second.value].host,
               bytes_text(bytes)});
  }
  std::string text = table.text("  ");
  if (shown < sorted.size()) {
    text += "  and " + count_of(sorted.size() - shown, "pair") + " more, in plan.json\n";
  }
  return text;
}

std::string flows_table(const Plan& plan, const Load& load) {
  if (load.flow_count > load.flows.size()) {
    return "\nWho sends to whom: " + grouped(load.flow_count) +
           " flows from NIC to NIC, too many to list; `rehearse flows` does.\n";
  }
  HostPairs pairs;
  for (const Flow& flow : load.flows) {
    pairs[{flow.source_host, flow.destination_host}] += flow.bytes;
  }
  if (pairs.empty()) return "\nNo host sends to another: all ranks are on one host.\n";
  const bool few = plan.hosts.size() <= kMatrixHostsMax;
  return "\nWho sends to whom, one iteration\n" +
         (few ? matrix(plan, pairs) : largest(plan, pairs));
}

std::string connections_line(const Load& load) {
  std::uint64_t between = 0;
  std::uint64_t local = 0;
  std::uint64_t most = 0;
  for (const HostConnections& host : load.connections) {
    between += host.outgoing;
    local += host.local;
    most = std::max(most, host.outgoing + host.incoming);
  }
  return "\n" + count_of(between, "connection") + " between hosts (at most " + grouped(most) +
         " at one host), " + grouped(local) + " inside agents.\n";
}

}  // namespace

std::string plan_table(const Plan& plan, const Load& load) {
  return head(plan, load) + jobs_table(plan, load) + choices_table(plan) + nics_table(plan, load) +
         flows_table(plan, load) + connections_line(load) + faults_table(plan) +
         background_table(plan, load);
}

}  // namespace rehearsal::plan

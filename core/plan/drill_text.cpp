#include "core/plan/drill_text.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "core/fabric/node.hpp"
#include "core/plan/checks.hpp"
#include "core/plan/collectives_text.hpp"
#include "core/plan/drill_keys.hpp"
#include "core/plan/fault_text.hpp"
#include "core/plan/host_list.hpp"
#include "core/plan/queue_pair_variables.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::plan {
namespace {

using yaml::Mapping;
using yaml::Node;

Result<std::vector<std::string>> read_names(const Node& node) {
  ASSIGN_OR_RETURN(const auto items, node.items());
  std::vector<std::string> names;
  for (const Node& item : items) {
    ASSIGN_OR_RETURN(names.emplace_back(), item.text());
  }
  return names;
}

Result<std::vector<std::string>> read_hosts(const Node& node) {
  std::vector<Node> items = {node};
  if (!node.is_scalar()) {
    ASSIGN_OR_RETURN(items, node.items());
  }
  return read_host_names(node, items);
}

Result<DrillJob> read_job(const Node& node) {
  ASSIGN_OR_RETURN(const Mapping mapping,
                   node.as_mapping({"name", "profile", "hosts", "ranks_per_host", "nics", "node",
                                    "ranks_per_node", "nodes_per_host"}));
  DrillJob job;
  ASSIGN_OR_RETURN(const Node profile, mapping.required("profile"));
  ASSIGN_OR_RETURN(const Node hosts, mapping.required("hosts"));
  ASSIGN_OR_RETURN(const Node name, mapping.required("name"));
  ASSIGN_OR_RETURN(job.name, name.text());
  ASSIGN_OR_RETURN(job.profile, profile.text());
  ASSIGN_OR_RETURN(job.hosts, read_hosts(hosts));
  RETURN_IF_ERROR(
      take(mapping, "ranks_per_host", job.ranks_per_host, count_up_to(kRanksPerHostMax)));
  RETURN_IF_ERROR(take(mapping, "nics", job.nics, read_names));
  RETURN_IF_ERROR(take(mapping, "node", job.node, &Node::text));
  RETURN_IF_ERROR(
      take(mapping, "ranks_per_node", job.ranks_per_node, count_up_to(fabric::kGpusMax)));
  RETURN_IF_ERROR(
      take(mapping, "nodes_per_host", job.nodes_per_host, count_up_to(kRanksPerHostMax)));
  RETURN_IF_ERROR(checked(job, mapping));
  return job;
}

Result<std::vector<DrillJob>> read_jobs(const Node& node) {
  ASSIGN_OR_RETURN(const auto items, node.items());
  std::vector<DrillJob> jobs;
  for (const Node& item : items) {
    ASSIGN_OR_RETURN(jobs.emplace_back(), read_job(item));
  }
  return jobs;
}

// Numbers with a bound that check() names: what verbs and NCCL's users know them by.
Result<std::uint32_t> any_number(const Node& node) {
  return node.integer32(0, std::numeric_limits<std::uint32_t>::max());
}

Result<std::uint32_t> read_mtu(const Node& node) {
  ASSIGN_OR_RETURN(const Bytes bytes, node.bytes());
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(bytes.count(), kMost));
}

Result<void> read_rdma(const Mapping& mapping, RdmaSettings& rdma) {
  RETURN_IF_ERROR(take(mapping, "operation", rdma.operation, [](const Node& node) {
    return node.one_of({RdmaOperation::write, RdmaOperation::send});
  }));
  RETURN_IF_ERROR(take(mapping, "queue_pair_use", rdma.queue_pair_use, [](const Node& node) {
    return node.one_of({QueuePairUse::round_robin, QueuePairUse::split});
  }));
  RETURN_IF_ERROR(take(mapping, "completions", rdma.completions, [](const Node& node) {
    return node.one_of({CompletionMode::poll, CompletionMode::event});
  }));
  const std::pair<std::string_view, std::uint32_t RdmaSettings::*> numbers[] = {
      {"queue_pairs", &RdmaSettings::queue_pairs},
      {"traffic_class", &RdmaSettings::traffic_class},
      {"service_level", &RdmaSettings::service_level},
      {"hop_limit", &RdmaSettings::hop_limit},
      {"flow_label", &RdmaSettings::flow_label},
      {"ack_timeout", &RdmaSettings::ack_timeout},
      {"retry_count", &RdmaSettings::retry_count},
      {"rnr_retry", &RdmaSettings::rnr_retry},
      {"rnr_timer", &RdmaSettings::rnr_timer}};
  for (const auto& [key, member] : numbers)
    RETURN_IF_ERROR(take(mapping, key, rdma.*member, any_number));
  RETURN_IF_ERROR(take(mapping, "path_mtu", rdma.path_mtu, read_mtu));
  RETURN_IF_ERROR(take(mapping, "ece", rdma.ece, &Node::boolean));
  return take(mapping, "rate_limit", rdma.rate_limit, &Node::bit_rate);
}

Result<TransportSettings> read_transport(const Node& node) {
  ASSIGN_OR_RETURN(
      const Mapping mapping,
      node.as_mapping({"kind", "congestion_control", "receive", "verify_payload", "operation",
                       "queue_pairs", "queue_pair_use", "completions", "traffic_class",
                       "service_level", "hop_limit", "flow_label", "ack_timeout", "retry_count",
                       "rnr_retry", "rnr_timer", "path_mtu", "ece", "rate_limit"}));
  TransportSettings transport;
  ASSIGN_OR_RETURN(const Node kind, mapping.required("kind"));
  ASSIGN_OR_RETURN(transport.kind,
                   kind.one_of({TransportKind::rdma, TransportKind::tcp, TransportKind::loopback}));
  RETURN_IF_ERROR(take(mapping, "congestion_control", transport.congestion_control, &Node::text));
  RETURN_IF_ERROR(take(mapping, "receive", transport.receive, [](const Node& mode) {
    return mode.one_of({ReceiveMode::copy, ReceiveMode::discard});
  }));
  RETURN_IF_ERROR(take(mapping, "verify_payload", transport.verify_payload, &Node::boolean));
  RETURN_IF_ERROR(read_rdma(mapping, transport.rdma));
  RETURN_IF_ERROR(checked(transport, mapping));
  return transport;
}

Result<LocalWishes> read_local(const Node& node) {
  ASSIGN_OR_RETURN(const Mapping mapping, node.as_mapping({"rate", "latency"}));
  LocalWishes local;
  RETURN_IF_ERROR(take(mapping, "rate", local.rate, &Node::bit_rate));
  RETURN_IF_ERROR(take(mapping, "latency", local.latency, &Node::duration));
  RETURN_IF_ERROR(checked(local, mapping));
  return local;
}

Result<Limits> read_limits(const Node& node) {
  ASSIGN_OR_RETURN(const Mapping mapping, node.as_mapping({"duration", "progress", "start_skew"}));
  Limits limits;
  RETURN_IF_ERROR(take(mapping, "duration", limits.duration, &Node::duration));
  RETURN_IF_ERROR(take(mapping, "progress", limits.progress, &Node::duration));
  RETURN_IF_ERROR(take(mapping, "start_skew", limits.start_skew, &Node::duration));
  RETURN_IF_ERROR(checked(limits, mapping));
  return limits;
}

// A duration, or with a percent sign a share of what it is before the faults.
Result<void> read_most(const Node& node, Expectation& expectation) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  if (text.ends_with('%')) {
    ASSIGN_OR_RETURN(expectation.at_most_of_before, read_fraction(node));
  } else {
    ASSIGN_OR_RETURN(expectation.at_most, node.duration());
  }
  return {};
}

Result<Expectation> read_expectation(const Node& node) {
  ASSIGN_OR_RETURN(const Mapping mapping, node.as_mapping({"metric", "at_most", "at_least", "stage",
                                                           "within", "iterations", "fault"}));
  Expectation expectation;
  ASSIGN_OR_RETURN(const Node metric, mapping.required("metric"));
  ASSIGN_OR_RETURN(expectation.metric, metric.text());
  if (const auto most = mapping.optional("at_most")) RETURN_IF_ERROR(read_most(*most, expectation));
  RETURN_IF_ERROR(take(mapping, "at_least", expectation.at_least, &Node::bit_rate));
  RETURN_IF_ERROR(take(mapping, "stage", expectation.stage, [](const Node& stage) {
    return stage.one_of({Stage::before, Stage::during, Stage::after});
  }));
  if (expectation.metric == "recovery") expectation.within = kRecoveredWithin;
  RETURN_IF_ERROR(take(mapping, "within", expectation.within, read_fraction));
  RETURN_IF_ERROR(take(mapping, "iterations", expectation.iterations, count_up_to(kIterationsMax)));
  RETURN_IF_ERROR(take(mapping, "fault", expectation.of_fault, &Node::text));
  RETURN_IF_ERROR(checked(expectation, mapping));
  return expectation;
}

Result<std::vector<Expectation>> read_expectations(const Node& node) {
  ASSIGN_OR_RETURN(const auto items, node.items());
  std::vector<Expectation> expectations;
  for (const Node& item : items) {
    ASSIGN_OR_RETURN(expectations.emplace_back(), read_expectation(item));
  }
  return expectations;
}

}  // namespace

Result<Drill> parse_drill(std::string_view text, std::string file_name) {
  ASSIGN_OR_RETURN(const yaml::Document document, yaml::parse(text, std::move(file_name)));
  ASSIGN_OR_RETURN(const Mapping mapping,
                   document.root().as_mapping({"drill", "jobs", "transport", "collectives", "local",
                                               "synchronisation", "iterations", "seed", "limits",
                                               "expectations", "faults"}));
  Drill drill;
  ASSIGN_OR_RETURN(const Node name, mapping.required("drill"));
  ASSIGN_OR_RETURN(const Node jobs, mapping.required("jobs"));
  ASSIGN_OR_RETURN(drill.name, name.text());
  ASSIGN_OR_RETURN(drill.jobs, read_jobs(jobs));
  RETURN_IF_ERROR(take(mapping, "transport", drill.transport, read_transport));
  if (const auto collectives = mapping.optional("collectives")) {
    ASSIGN_OR_RETURN(std::tie(drill.collectives, drill.forced), read_collectives(*collectives));
  }
  RETURN_IF_ERROR(take_queue_pair_variables(mapping, drill.transport));
  RETURN_IF_ERROR(take(mapping, "local", drill.local, read_local));
  RETURN_IF_ERROR(take(mapping, "synchronisation", drill.synchronisation, [](const Node& mode) {
    return mode.one_of({SyncMode::free, SyncMode::iteration, SyncMode::phase});
  }));
  RETURN_IF_ERROR(take(mapping, "iterations", drill.iterations, count_up_to(kIterationsMax)));
  RETURN_IF_ERROR(take(mapping, "seed", drill.seed, [](const Node& node) {
    return node.integer(0, std::numeric_limits<std::uint64_t>::max());
  }));
  RETURN_IF_ERROR(take(mapping, "limits", drill.limits, read_limits));
  RETURN_IF_ERROR(take(mapping, "expectations", drill.expectations, read_expectations));
  RETURN_IF_ERROR(take(mapping, "faults", drill.faults, read_faults));
  RETURN_IF_ERROR(checked(drill, mapping));
  return drill;
}

}  // namespace rehearsal::plan

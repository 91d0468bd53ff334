#include "core/plan/checks.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/text.hpp"

namespace rehearsal::plan {
namespace {

// Slices end on this boundary, so that a vectorised reduction never straddles two of them (NCCL).
constexpr std::uint64_t kAlignment = 16;
constexpr std::size_t kCongestionControlMax = 15;  // TCP_CA_NAME_MAX − 1

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::optional<Wrong> check_count(std::string_view key, std::uint32_t value, std::uint32_t most) {
  if (value >= 1 && value <= most) return std::nullopt;
  return Wrong{key, "is " + std::to_string(value), "expected 1 to " + std::to_string(most)};
}

std::optional<Wrong> wrong_name(std::string_view key, std::string_view name) {
  return Wrong{key, in_quotes(name) + " is no name", std::string(kNameRule)};
}

std::optional<Wrong> check_names(std::string_view key, std::string_view one,
                                 const std::vector<std::string>& names, std::size_t most) {
  if (names.size() > most) {
    return Wrong{key, std::to_string(names.size()) + " are listed",
                 "at most " + std::to_string(most)};
  }
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!is_name(name)) return wrong_name(key, name);
    if (!seen.insert(name).second) {
      return Wrong{key, std::string(one) + " " + in_quotes(name) + " is listed twice",
                   "every " + std::string(one) + " once"};
    }
  }
  return std::nullopt;
}

// A size that is cut into `parts` equal messages.
std::optional<Wrong> check_chunk(std::string_view key, Bytes chunk, std::uint32_t parts) {
  const std::uint64_t step = kAlignment * parts;
  if (chunk.count() != 0 && chunk <= kChunkMax && chunk.count() % step == 0) return std::nullopt;
  const std::string times =
      parts == 1 ? "" : " (" + std::to_string(parts) + " slices of whole 16 B)";
  return Wrong{key, "is " + format_bytes_exact(chunk),
               "expected a multiple of " + std::to_string(step) + "B" + times + " up to " +
                   format_bytes_exact(kChunkMax)};
}

std::optional<Wrong> check_span(std::string_view key, Duration value, Duration least,
                                Duration most) {
  if (value >= least && value <= most) return std::nullopt;
  return Wrong{key, "is " + format_duration_exact(value),
               "expected " + format_duration_exact(least) + " to " + format_duration_exact(most)};
}

template <typename Group>
Result<void> checked(const Group& group, const std::string& path) {
  const std::optional<Wrong> wrong = check(group);
  if (!wrong) return {};
  return invalid(path + std::string(wrong->key) + ": " + wrong->what + "; " + wrong->right);
}

bool is_congestion_control(std::string_view name) {
  return name.size() <= kCongestionControlMax && std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

std::optional<Wrong> check_up_to(std::string_view key, std::uint32_t value, std::uint32_t most) {
  if (value <= most) return std::nullopt;
  return Wrong{key, "is " + std::to_string(value), "expected 0 to " + std::to_string(most)};
}

// The fields of verbs that these numbers go into have so many bits.
std::optional<Wrong> check_rdma_numbers(const RdmaSettings& rdma) {
  if (auto wrong = check_count("queue_pairs", rdma.queue_pairs, kQueuePairsMax)) return wrong;
  if (auto wrong = check_up_to("traffic_class", rdma.traffic_class, 255)) return wrong;
  if (auto wrong = check_up_to("service_level", rdma.service_level, 15)) return wrong;
  if (auto wrong = check_count("hop_limit", rdma.hop_limit, 255)) return wrong;
  if (auto wrong = check_up_to("flow_label", rdma.flow_label, (1U << 20) - 1)) return wrong;
  if (auto wrong = check_up_to("ack_timeout", rdma.ack_timeout, 31)) return wrong;
  if (auto wrong = check_up_to("retry_count", rdma.retry_count, 7)) return wrong;
  if (auto wrong = check_up_to("rnr_retry", rdma.rnr_retry, 7)) return wrong;
  return check_up_to("rnr_timer", rdma.rnr_timer, 31);
}

std::optional<Wrong> check_rdma(const RdmaSettings& rdma) {
  if (auto wrong = check_rdma_numbers(rdma)) return wrong;
  constexpr std::array<std::uint32_t, 6> kMtus = {0, 256, 512, 1024, 2048, 4096};
  if (std::ranges::find(kMtus, rdma.path_mtu) == kMtus.end()) {
    return Wrong{"path_mtu", "is " + std::to_string(rdma.path_mtu) + "B",
                 "expected 256B, 512B, 1024B, 2048B or 4096B"};
  }
  if (rdma.operation == RdmaOperation::send && rdma.queue_pair_use == QueuePairUse::split &&
      rdma.queue_pairs > 1) {
    return Wrong{"queue_pair_use", "split needs to know where in a slot a part belongs",
                 "expected operation: write, or queue_pair_use: round_robin"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Wrong> check(const TransportSettings& transport) {
  if (!is_congestion_control(transport.congestion_control)) {
    return Wrong{"congestion_control",
                 in_quotes(transport.congestion_control) + " is no name of a congestion control",
                 "1 to 15 of a-z, 0-9 and '_', like reno, cubic or bbr"};
  }
  if (transport.kind == TransportKind::rdma) {
    if (auto wrong = check_rdma(transport.rdma)) return wrong;
  } else if (transport.rdma != RdmaSettings{}) {
    return Wrong{"kind", "is " + std::string(to_string(transport.kind)) + " with settings of rdma",
                 "leave them out, or use kind: rdma"};
  }
  if (transport.verify_payload && transport.receive == ReceiveMode::discard) {
    return Wrong{"verify_payload", "cannot check what the kernel drops",
                 "leave it out, or use receive: copy"};
  }
  if (transport.verify_payload && transport.kind == TransportKind::loopback) {
    return Wrong{"verify_payload", "has nothing to check: loopback moves no payload",
                 "leave it out, or use another kind"};
  }
  if (transport.kind == TransportKind::tcp) return std::nullopt;
  if (!transport.congestion_control.empty()) {
    return Wrong{"congestion_control", "is a setting of tcp", "leave it out, or use kind: tcp"};
  }
  if (transport.receive != ReceiveMode::copy) {
    return Wrong{"receive", "discard is a setting of tcp", "leave it out, or use kind: tcp"};
  }
  return std::nullopt;
}

std::optional<Wrong> check(const CollectiveSettings& collectives) {
  if (auto wrong = check_count("channels", collectives.channels, kChannelsMax)) return wrong;
  if (auto wrong =
          check_count("slices_per_chunk", collectives.slices_per_chunk, kSlicesPerChunkMax)) {
    return wrong;
  }
  if (auto wrong = check_chunk("chunk", collectives.chunk, collectives.slices_per_chunk)) {
    return wrong;
  }
  if (auto wrong = check_chunk("pipeline_chunk", collectives.pipeline_chunk, 1)) return wrong;
  if (auto wrong = check_chunk("point_to_point_chunk", collectives.point_to_point_chunk, 1)) {
    return wrong;
  }
  if (auto wrong = check_count("point_to_point_channels", collectives.point_to_point_channels,
                               kChannelsMax)) {
    return wrong;
  }
  if (auto wrong = check_count("credits", collectives.credits, kCreditsMax)) return wrong;
  if (collectives.credits < collectives.slices_per_chunk + 1) {
    const std::string least = std::to_string(collectives.slices_per_chunk + 1);
    return Wrong{"credits",
                 "is " + std::to_string(collectives.credits) + " with " +
                     std::to_string(collectives.slices_per_chunk) +
                     " slices per chunk: a ring's receive-reduce-send can then wait for itself",
                 "expected at least slices_per_chunk + 1 = " + least};
  }
  if (collectives.channel_bytes_min.count() == 0) {
    return Wrong{"channel_bytes_min", "is 0B", "expected at least 1B"};
  }
  if (collectives.cross_nic > collective::kCrossNicMax) {
    return Wrong{"cross_nic", "is " + std::to_string(collectives.cross_nic),
                 "expected 0, 1 or 2, as for NCCL_CROSS_NIC"};
  }
  if (collectives.pxn_level > collective::kPxnLevelMax) {
    return Wrong{"pxn_level", "is " + std::to_string(collectives.pxn_level),
                 "expected 0, 1 or 2, as for NCCL_P2P_PXN_LEVEL"};
  }
  return std::nullopt;
}

std::optional<Wrong> check(const ForcedChoices& forced) {
  using collective::Algorithm;
  if (forced.algorithm == Algorithm::collnet_direct ||
      forced.algorithm == Algorithm::collnet_chain) {
    return Wrong{"algorithm",
                 std::string(to_string(*forced.algorithm)) +
                     " needs a network plugin that reduces in the switches (SHARP), and there is "
                     "none here",
                 "another algorithm, like ring, tree or nvls_tree"};
  }
  const auto& nccl = forced.nccl;
  if (nccl.channels_min && nccl.channels_max && *nccl.channels_min > *nccl.channels_max) {
    return Wrong{"channels_min",
                 "is " + std::to_string(*nccl.channels_min) + ", more than channels_max",
                 "expected at most " + std::to_string(*nccl.channels_max)};
  }
  return std::nullopt;
}

std::optional<Wrong> check(const LocalWishes& local) {
  if (local.rate && local.rate->bits_per_second() == 0) {
    return Wrong{"rate", "is 0bit/s: nothing would ever be handed over",
                 "expected a rate, like 2400Gbit/s"};
  }
  return check_span("latency", local.latency.value_or(Duration::zero()), Duration::zero(),
                    std::chrono::seconds{1});
}

std::optional<Wrong> check(const Limits& limits) {
  const Duration least = std::chrono::milliseconds{100};
  if (auto wrong = check_span("duration", limits.duration, least, kRunDurationMax)) return wrong;
  if (auto wrong = check_span("progress", limits.progress, least, std::chrono::hours{1})) {
    return wrong;
  }
  return check_span("start_skew", limits.start_skew, Duration::zero(), std::chrono::seconds{60});
}

namespace {

bool is_printable(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::optional<Wrong> check_node(const DrillJob& job) {
  if (job.node.size() > kProfileNameMax || !is_printable(job.node)) {
    return Wrong{"node", in_quotes(job.node) + " can be no file or node",
                 "a file beside the drill, or the name of a usual node"};
  }
  if (!job.node.empty() && job.ranks_per_host != 0) {
    return Wrong{"ranks_per_host", "does not go with node", "ranks_per_node and nodes_per_host"};
  }
  if (!job.node.empty()) return std::nullopt;
  if (job.ranks_per_node != 0) {
    return Wrong{"ranks_per_node", "needs node", "name the node, like node: h100"};
  }
  if (job.nodes_per_host != 0) {
    return Wrong{"nodes_per_host", "needs node", "name the node, like node: h100"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Wrong> check(const DrillJob& job) {
  if (!is_name(job.name)) return wrong_name("name", job.name);
  if (job.profile.empty() || job.profile.size() > kProfileNameMax || !is_printable(job.profile)) {
    return Wrong{"profile", in_quotes(job.profile) + " can be no file or profile",
                 "a file beside the drill, or the name of a shipped profile"};
  }
  if (job.hosts.empty()) return Wrong{"hosts", "no host is listed", "at least one"};
  if (auto wrong = check_names("hosts", "host", job.hosts, kHostsMax)) return wrong;
  if (job.ranks_per_host > kRanksPerHostMax) {
    return Wrong{"ranks_per_host", "is " + std::to_string(job.ranks_per_host),
                 "expected 1 to " + std::to_string(kRanksPerHostMax)};
  }
  if (auto wrong = check_node(job)) return wrong;
  return check_names("nics", "NIC", job.nics, kNicsMax);
}

std::optional<Wrong> check(const Drill& drill) {
  if (!is_name(drill.name)) return wrong_name("drill", drill.name);
  if (drill.jobs.empty() || drill.jobs.size() > kJobsMax) {
    return Wrong{"jobs", std::to_string(drill.jobs.size()) + " jobs",
                 "expected 1 to " + std::to_string(kJobsMax)};
  }
  std::set<std::string_view> names;
  for (const DrillJob& job : drill.jobs) {
    if (names.insert(job.name).second) continue;
    return Wrong{"jobs", "two jobs are named " + in_quotes(job.name),
                 "every job a name of its own"};
  }
  const bool has_node =
      std::ranges::any_of(drill.jobs, [](const DrillJob& job) { return !job.node.empty(); });
  if (!drill.forced.needs_node.empty() && !has_node) {
    return Wrong{"collectives",
                 drill.forced.needs_node +
                     " means something on known nodes alone, and no job has "
                     "a node",
                 "name it in the job, like node: h100"};
  }
  if (drill.expectations.size() > kExpectationsMax) {
    return Wrong{"expectations", std::to_string(drill.expectations.size()) + " expectations",
                 "at most " + std::to_string(kExpectationsMax)};
  }
  if (drill.faults.size() > kFaultsMax) {
    return Wrong{"faults", std::to_string(drill.faults.size()) + " faults",
                 "at most " + std::to_string(kFaultsMax)};
  }
  std::set<std::string_view> faults;
  for (const fault::Fault& fault : drill.faults) {
    if (faults.insert(fault.name).second) continue;
    return Wrong{"faults", "two faults are named " + in_quotes(fault.name),
                 "every fault a name of its own"};
  }
  return check_count("iterations", drill.iterations, kIterationsMax);
}

Result<void> check_all(const Drill& drill) {
  RETURN_IF_ERROR(checked(drill, ""));
  for (std::size_t i = 0; i < drill.jobs.size(); ++i) {
    RETURN_IF_ERROR(checked(drill.jobs[i], "jobs[" + std::to_string(i) + "]."));
  }
  RETURN_IF_ERROR(checked(drill.transport, "transport."));
  RETURN_IF_ERROR(checked(drill.collectives, "collectives."));
  RETURN_IF_ERROR(checked(drill.forced, "collectives."));
  RETURN_IF_ERROR(checked(drill.local, "local."));
  RETURN_IF_ERROR(checked(drill.limits, "limits."));
  for (std::size_t i = 0; i < drill.expectations.size(); ++i) {
    RETURN_IF_ERROR(checked(drill.expectations[i], "expectations[" + std::to_string(i) + "]."));
  }
  for (std::size_t i = 0; i < drill.faults.size(); ++i) {
    const std::string path = "faults[" + std::to_string(i) + "].";
    RETURN_IF_ERROR(checked(drill.faults[i], path));
    RETURN_IF_ERROR(checked(drill.faults[i].what, path + "what."));
    RETURN_IF_ERROR(checked(drill.faults[i].where, path + "where."));
    RETURN_IF_ERROR(checked(drill.faults[i].when, path + "when."));
  }
  return {};
}

bool is_name(std::string_view name) {
  if (name.empty() || name.size() > kNameMax || !is_letter_or_digit(name.front())) return false;
  return std::ranges::all_of(name, [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == ':';
  });
}

}  // namespace rehearsal::plan

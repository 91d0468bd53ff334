#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/plan/connection.hpp"
#include "core/plan/drill.hpp"
#include "core/plan/rdma.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::plan {

/// What a live agent says of its host.
struct Nic {
  std::string name;
  std::string address;  ///< data address, text form ("10.79.1.3", "127.0.0.1")
  BitRate line_rate;    ///< zero: not known (veth, lo)
  std::uint32_t mtu = 0;
  std::optional<RdmaPort> rdma = {};  ///< the RDMA port of this NIC

  bool operator==(const Nic&) const = default;
};
struct Inventory {
  std::string host;       ///< the agent's name, unique in a cluster
  std::vector<Nic> nics;  ///< data NICs only, in rail order
  /// Several agents share these NICs (one `lo`): NIC counters mix them, figures are `posted`.
  bool shared_nics = false;
  /// Transports this agent can replay over; empty: it has not said.
  std::vector<TransportKind> transports = {};

  bool operator==(const Inventory&) const = default;
};

/// rank → host → NIC.
struct Binding {
  HostIndex host;
  NicIndex nic;

  bool operator==(const Binding&) const = default;
};

struct PlannedJob {
  std::string name;
  std::shared_ptr<const profile::Profile> profile;
  std::string profile_identity;
  std::vector<Binding> bindings;  ///< one a rank
};

/// Bytes of one iteration through one NIC.
struct NicLoad {
  HostIndex host;
  NicIndex nic;
  Bytes sent;
  Bytes received;
};

/// Who sends to whom, bytes of one iteration: host and NIC to host and NIC.
struct Flow {
  JobIndex job;
  HostIndex source_host;
  NicIndex source_nic;
  HostIndex destination_host;
  NicIndex destination_nic;
  std::uint64_t messages = 0;
  Bytes bytes;
};

/// Totals of one iteration of one job.
struct JobLoad {
  std::uint64_t ops = 0;    ///< communication ops, over all ranks
  Bytes on_wire;            ///< sent over the transport, summed over ranks
  Bytes local;              ///< handed over inside agents
  Duration compute_max{0};  ///< the longest sum of compute along one rank's streams
};

/// A drill made concrete. Pure value; the same on the coordinator and on each agent.
struct Plan {
  std::string drill;
  std::vector<Inventory> hosts;  ///< those that take part, in the order of the drill
  std::vector<PlannedJob> jobs;
  TransportSettings transport;
  CollectiveSettings collectives;
  LocalSettings local;
  SyncMode synchronisation = SyncMode::iteration;
  std::uint32_t iterations = 0;
  std::uint64_t seed = 0;
  Limits limits;
  std::vector<Expectation> expectations;
};

/// What reaches the wire, from expanding every op of every rank.
struct Load {
  std::vector<JobLoad> jobs;
  std::vector<NicLoad> nics;
  std::vector<Flow> flows;
  Duration expected_iteration{0};  ///< the longer of compute and the busiest known NIC at line rate
};

/// Connections one host may be at the end of (each costs a file descriptor and buffers).
inline constexpr std::uint64_t kConnectionsPerHostMax = 1U << 15;

/// Makes a plan, or says what is wrong with the drill (unknown host, too few ranks, credits below
/// slices per chunk + 1, a transport that is not offered, a bad profile …): "jobs[0].hosts: what is
/// wrong; what would be right". `profiles` by the name used in the drill.
Result<Plan> make_plan(
    const Drill& drill, std::span<const Inventory> inventories,
    const std::map<std::string, std::shared_ptr<const profile::Profile>>& profiles);

/// sha256 over what decides the traffic and its course: identities of profiles, bindings (by names
/// of hosts and NICs), transport, collective and local settings, synchronisation, iterations, seed
/// and limits. Left out: names of the drill and its jobs, expectations (they judge, they do not
/// act) and what agents report of their NICs (address, line rate, MTU).
std::string plan_hash(const Plan& plan);

Load expand_load(const Plan& plan);

/// The connections one agent needs: those where a rank of `host` is source (`outgoing`) or
/// destination on another host (`incoming`), and those between two ranks of the host (`local`).
/// Ordered by key, so that both ends agree; ConnectionIndex counts through outgoing, incoming,
/// local.
struct Connections {
  std::vector<ConnectionSpec> outgoing;
  std::vector<ConnectionSpec> incoming;
  std::vector<ConnectionSpec> local;
};
Connections connections_of(const Plan& plan, HostIndex host);

}  // namespace rehearsal::plan

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
#include "core/collective/choice.hpp"
#include "core/fabric/node.hpp"
#include "core/fault/fault.hpp"
#include "core/fault/kernel_fault.hpp"
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
  /// What its helper says that its kernel may be asked for. Not in a plan's bytes: each agent knows
  /// its own, and looks itself.
  fault::KernelOffer kernel = {};
  /// What its rehearsal-external says that may be run. Not in a plan's bytes either.
  fault::ExternalOffer external = {};
  /// Interfaces that carry the control connection or the default route: no fault of the kernel may
  /// touch them. Not in a plan's bytes either.
  std::vector<std::string> control_interfaces = {};

  bool operator==(const Inventory&) const = default;
};
/// As it stands in a plan's bytes.
Inventory without_kernel(Inventory inventory);

/// rank → host → NIC.
struct Binding {
  HostIndex host;
  NicIndex nic;

  bool operator==(const Binding&) const = default;
};

/// Where a rank stands in its job: on which node, and nearest to which of the node's rails.
struct Seat {
  std::uint32_t node = 0;
  std::uint32_t rail = 0;

  bool operator==(const Seat&) const = default;
};

/// The nodes that a job's ranks stand on, one like the other.
struct PlannedNode {
  std::string name;                  ///< of their description
  std::uint32_t ranks = 0;           ///< on each node
  std::uint32_t rails = 0;           ///< NICs that GPUs of a node use
  std::uint32_t per_host = 0;        ///< at most so many share a host
  std::vector<std::string> assumed;  ///< what the description left open, for people

  bool operator==(const PlannedNode&) const = default;
};

/// What was picked for the ops of one communicator that are alike.
struct OpChoice {
  CommunicatorIndex communicator;
  profile::OpKind kind = profile::OpKind::all_reduce;  ///< `send` stands for recv too
  Bytes bytes;                                         ///< with `peer_bytes`: zero
  std::optional<std::uint32_t> peer_bytes;
  collective::Choice choice;

  bool operator==(const OpChoice&) const = default;
};

struct PlannedJob {
  std::string name;
  std::shared_ptr<const profile::Profile> profile;
  std::string profile_identity;
  std::vector<Binding> bindings;  ///< one a rank; the NIC is that of its rail
  /// Nothing: each host counts as a node, and its NICs as rails.
  std::optional<PlannedNode> node;
  std::vector<Seat> seats;        ///< with `node`: one a rank
  std::vector<OpChoice> choices;  ///< with `node`: of all communication, ordered as op_key() orders
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

/// What faults of the plan may make a NIC carry beside the jobs: all of them at once, each at its
/// highest. Nothing: as fast as it goes.
struct NicBackground {
  HostIndex host;
  NicIndex nic;
  std::optional<BitRate> sent = BitRate{};
  std::optional<BitRate> received = BitRate{};
};

/// Totals of one iteration of one job.
struct JobLoad {
  std::uint64_t ops = 0;  ///< communication ops, over all ranks
  Bytes on_wire;          ///< sent over the transport, summed over ranks
  Bytes local;            ///< handed over inside agents
  /// Of these, what passes between nodes that share an agent: in the job it would be on the wire.
  Bytes local_between_nodes;
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
  std::vector<fault::PlannedFault> faults = {};
};

/// How many connections a host is an end of.
struct HostConnections {
  std::uint64_t outgoing = 0;
  std::uint64_t incoming = 0;
  std::uint64_t local = 0;       ///< between two ranks of the host
  std::uint64_t background = 0;  ///< of faults, at either end
};

/// More flows than this are counted, not listed.
inline constexpr std::size_t kFlowsListedMax = 65'536;

/// What reaches the wire, from expanding every op of every rank. Grows with the number of NICs, not
/// with the number of pairs.
struct Load {
  std::vector<JobLoad> jobs;
  std::vector<NicLoad> nics;                 ///< all of the plan's, in order
  std::vector<NicBackground> background;     ///< of NICs that may have some, in order
  std::vector<HostConnections> connections;  ///< by host
  std::uint64_t flow_count = 0;
  std::vector<Flow> flows;         ///< all of them, or none if they are more than kFlowsListedMax
  Duration expected_iteration{0};  ///< the longer of compute and the busiest known NIC at line rate
};

/// Descriptions of nodes, by the name that a drill uses.
using Nodes = std::map<std::string, fabric::Node>;

/// Connections one host may be at the end of (each costs a file descriptor and buffers).
inline constexpr std::uint64_t kConnectionsPerHostMax = 1U << 15;

/// Makes a plan, or says what is wrong with the drill (unknown host, too few ranks, credits below
/// slices per chunk + 1, a transport that is not offered, a bad profile …): "jobs[0].hosts: what is
/// wrong; what would be right". `profiles` and `nodes` by the name used in the drill; usual nodes
/// (fabric::usual_node) need not be given.
Result<Plan> make_plan(
    const Drill& drill, std::span<const Inventory> inventories,
    const std::map<std::string, std::shared_ptr<const profile::Profile>>& profiles,
    const Nodes& nodes = {});

/// sha256 over what decides the traffic and its course: identities of profiles, bindings (by names
/// of hosts and NICs), seats on nodes and what was picked for ops, transport, collective and local
/// settings, synchronisation, iterations, seed and limits. Left out: names of the drill, its jobs
/// and nodes, expectations (they judge, they do not act) and what agents report of their NICs
/// (address, line rate, MTU).
std::string plan_hash(const Plan& plan);

Load expand_load(const Plan& plan);

/// The connections one agent needs: those where a rank of `host` is source (`outgoing`) or
/// destination on another host (`incoming`), and those between two ranks of the host (`local`).
/// Then those of the plan's background traffic that begin or end at the host. Ordered by key, so
/// that both ends agree; ConnectionIndex counts through outgoing, incoming, local, and the two of
/// the background.
struct Connections {
  std::vector<ConnectionSpec> outgoing;
  std::vector<ConnectionSpec> incoming;
  std::vector<ConnectionSpec> local;
  std::vector<ConnectionSpec> background_outgoing = {};
  std::vector<ConnectionSpec> background_incoming = {};
};
Connections connections_of(const Plan& plan, HostIndex host);

}  // namespace rehearsal::plan

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/transport/rdma/rdma_transport.hpp"
#include "core/plan/rdma.hpp"

namespace rehearsal::rdma {

/// A port of this host and the network interfaces that stand on it.
struct HostPort {
  plan::RdmaPort port;
  std::vector<std::string> interfaces;  ///< "eth2", "bond0"
};

/// All RDMA ports of this host as the kernel lists them, in the order of their names. The active
/// path MTU, which only verbs tell, is that of `verbs`; null: zero.
std::vector<HostPort> list_ports(const VerbsApi* verbs,
                                 const std::filesystem::path& devices = kRdmaDevices);

/// The port that this interface stands on.
std::optional<plan::RdmaPort> port_of(const std::vector<HostPort>& ports,
                                      const std::string& interface);

}  // namespace rehearsal::rdma

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/host/finding.hpp"
#include "core/host/host_facts.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::host {

/// What the facts of a host mean for a run: memory that may be locked, the RDMA library, clock,
/// cores, and of each NIC where it stands and how it keeps packets from being lost.
std::vector<Finding> examine(const HostFacts& facts);

/// Looks at the RDMA port of a NIC; returns the GID that a plan would use.
std::optional<plan::RdmaGid> examine_port(const plan::Nic& nic, const std::string& subject,
                                          std::vector<Finding>& findings);

}  // namespace rehearsal::host

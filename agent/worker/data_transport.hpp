#pragma once

#include <memory>
#include <span>
#include <string>

#include "agent/transport/nic_meter.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::agent {

/// The transport that the plan asks for, on the NICs of this host. Null for `loopback`: there every
/// connection is local to the agent. `meters`: one for each NIC, outliving the transport.
Result<std::unique_ptr<replay::Transport>> make_data_transport(const plan::Plan& plan,
                                                               HostIndex host,
                                                               const std::string& token,
                                                               std::span<NicMeter> meters);

/// Adds to an inventory what this host can replay over: the transports, and the RDMA port that each
/// NIC stands on. Opens devices for a moment.
void describe_transports(plan::Inventory& inventory);

/// Why this host has no RDMA library; empty: it has one.
std::string missing_verbs();

}  // namespace rehearsal::agent

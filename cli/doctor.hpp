#pragma once

#include <vector>

#include "core/host/finding.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::cli {

using host::Finding;

/// What agents report of themselves, looked through: their clocks and programs, what each found on
/// its host, and of each data NIC its RDMA port, state, GID and path MTU, also against those of the
/// others.
std::vector<Finding> diagnose(const protocol::StatusReply& status);

}  // namespace rehearsal::cli

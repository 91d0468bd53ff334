#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::cli {

/// One thing that was looked at: how it is, and what to do where it is not well.
struct Finding {
  enum class Health : std::uint8_t { good, notable, bad };

  Health health = Health::good;
  std::string subject;  ///< "h1 eth2", "h1", "cluster"
  std::string what;
  std::string fix = {};  ///< empty where all is well
};

/// What agents report of themselves, looked through: their clocks and programs, and of each data
/// NIC its RDMA port, state, GID and path MTU, also against those of the others.
std::vector<Finding> diagnose(const protocol::StatusReply& status);

/// A line each, what is not well last.
std::string findings_text(const std::vector<Finding>& findings);
std::string findings_json(const std::vector<Finding>& findings);

}  // namespace rehearsal::cli

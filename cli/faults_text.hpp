#pragma once

#include <string>

#include "cli/exit_code.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::cli {

/// Faults of hosts' kernels that are on, a line each, and what is wrong.
std::string faults_text(const protocol::FaultsReply& reply);
std::string faults_json(const protocol::FaultsReply& reply);

/// Of `faults list` and `clear`: 2 something could not be undone, 1 somebody else changed what a
/// fault had changed, 3 a host did not answer, 0 none of these.
ExitCode faults_exit_code(const protocol::FaultsReply& reply);

}  // namespace rehearsal::cli

#pragma once

#include <string>

#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::cli {

/// What `rehearse status` prints: the run that is on, and a line for each agent.
std::string status_text(const protocol::StatusReply& status);

/// The same for programs: one JSON object, units in the names (docs/operations.md).
std::string status_json(const protocol::StatusReply& status);

}  // namespace rehearsal::cli

#pragma once

#include <string>

#include "core/base/result.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::cli {

/// What the coordinator says of itself, its agents and the run that is on.
Result<protocol::StatusReply> ask_for_status(const std::string& coordinator);

}  // namespace rehearsal::cli

#pragma once

#include <string>

#include "core/fault/keeper.hpp"

namespace rehearsal::agent {

/// One line to standard error. The helper has no thread for its log: it links as little as it can.
void log_line(fault::KeeperEvent::Severity severity, const std::string& text);

void log_events(fault::FaultKeeper& keeper);

}  // namespace rehearsal::agent

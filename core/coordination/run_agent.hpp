#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/coordination/coordinator.hpp"
#include "core/measure/iteration_table.hpp"
#include "core/protocol/parts.hpp"

namespace rehearsal::coordination {

/// What a run knows of one of its agents.
struct RunAgent {
  SessionId session;
  std::string host;
  Instant heard;  ///< its last word

  // How far it is.
  bool refused = false;  ///< did not let itself be reserved: not in this run
  bool reserved = false;
  bool prepared = false;
  bool connected = false;
  bool measured = false;  ///< its results are here
  bool stopped = false;
  bool released = false;
  std::size_t addresses = 0;  ///< that it gave
  std::uint32_t iterations_done = 0;
  std::uint64_t moved = 0;             ///< ops and messages, as it last said
  std::vector<HostIndex> waiting_for;  ///< as it last said

  std::vector<measure::ClockOffset> clocks;
  std::optional<protocol::PartAssembler> incoming_results;
  std::optional<std::string> results;

  std::string lost;  ///< not empty: gone, and why

  bool here() const { return lost.empty() && !refused; }
};

}  // namespace rehearsal::coordination

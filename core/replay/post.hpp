#pragma once

#include <span>

#include "core/replay/transport.hpp"

namespace rehearsal::replay {

/// Posts a replayer's requests in order, each to the transport that serves its connection:
/// connections from `first_local` on are between ranks of the agent (plan::Connections). Returns
/// how many were accepted.
inline std::size_t post_in_order(std::span<const Request> requests, ConnectionIndex first_local,
                                 Transport& wire, Transport& local, Instant now) noexcept {
  std::size_t accepted = 0;
  while (accepted < requests.size()) {
    const bool is_local = requests[accepted].connection >= first_local;
    std::size_t end = accepted + 1;
    while (end < requests.size() && (requests[end].connection >= first_local) == is_local) ++end;
    const auto batch = requests.subspan(accepted, end - accepted);
    const std::size_t taken = (is_local ? local : wire).post(batch, now);
    accepted += taken;
    if (taken < batch.size()) break;
  }
  return accepted;
}

}  // namespace rehearsal::replay

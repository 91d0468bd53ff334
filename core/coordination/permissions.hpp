#pragma once

#include <cstdint>

#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::coordination {

/// Who stands at the other end of a session, as far as it is known.
enum class Peer : std::uint8_t {
  unknown,  ///< before its hello
  agent,    ///< joined
  person,   ///< an operator, joined
};

/// The one table of what the coordinator takes from whom. Anything else ends the session. A message
/// of a run that the agent is not in is allowed and ignored: it may have been on its way.
bool may_send(Peer peer, protocol::Envelope::MessageCase message);

}  // namespace rehearsal::coordination

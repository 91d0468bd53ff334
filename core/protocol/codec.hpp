#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::protocol {

/// The payload of one frame. CHECKs that a message is set and that it is under the cap of a frame.
std::string encode(const Envelope& envelope);

/// One Envelope from the payload of a frame. Refuses (code `protocol`, source `control`) what is
/// over the cap, what protobuf cannot read, and an envelope without a message this version knows.
Result<Envelope> decode(std::string_view payload);

/// "step_done", as in rehearsal.proto; for logs and errors. "nothing" for an empty envelope.
std::string_view message_name(Envelope::MessageCase message);

}  // namespace rehearsal::protocol

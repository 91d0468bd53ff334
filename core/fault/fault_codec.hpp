#pragma once

#include "core/base/encoding.hpp"
#include "core/fault/change.hpp"
#include "core/fault/interface_state.hpp"
#include "core/fault/kernel_fault.hpp"

namespace rehearsal::fault {

// How faults, changes and states stand in messages to the helper and in its journal. What is read
// is within its limits (invalid_input otherwise), but need not make sense: see check().

void encode(Encoder& to, const KernelFault& fault);
void encode(Encoder& to, const InterfaceState& state);
void encode(Encoder& to, const Change& change);
void encode(Encoder& to, const ExternalCall& call);
void encode(Encoder& to, Duration duration);  ///< not negative

Result<KernelFault> decode_fault(Decoder& from);
Result<InterfaceState> decode_state(Decoder& from);
/// The act sets something, and the undo fits it.
Result<Change> decode_change(Decoder& from);
Result<ExternalCall> decode_call(Decoder& from);
Result<Duration> decode_duration(Decoder& from);
Result<std::uint32_t> decode_32(Decoder& from);
Result<bool> decode_flag(Decoder& from);

}  // namespace rehearsal::fault

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/coordination/agent_session.hpp"
#include "core/coordination/clock_estimator.hpp"
#include "core/host/finding.hpp"
#include "core/plan/plan.hpp"
#include "core/protocol/rehearsal.pb.h"

namespace rehearsal::coordination {

/// Values of the other rooms as they stand in messages, and back.

void to_message(const plan::Inventory& inventory, protocol::Inventory& message);
plan::Inventory from_message(const protocol::Inventory& message);
void to_message(const fault::KernelOffer& offer, protocol::KernelOffer& message);
void to_message(const fault::ExternalOffer& offer, protocol::ExternalOffer& message);
/// For people: of arguments only their names.
void to_summary(const fault::ExternalOffer& offer, protocol::ExternalOffer& message);
/// Kinds that this version does not know are left out; names and durations are cut to what a host
/// can have.
fault::KernelOffer from_message(const protocol::KernelOffer& message);
/// Commands and arguments that could not be any are left out, problems are cut.
fault::ExternalOffer from_message(const protocol::ExternalOffer& message);
/// Names of a host's interfaces; what cannot be one is left out.
std::vector<std::string> interfaces_of(
    const google::protobuf::RepeatedPtrField<std::string>& names);
void to_message(const plan::Nic& nic, protocol::Nic& message);
/// GIDs of types that this version does not know are left out.
plan::Nic from_message(const protocol::Nic& message);

void to_message(const host::Finding& finding, protocol::HostFinding& message);
/// A health that this version does not know is `notable`.
host::Finding from_message(const protocol::HostFinding& message);

void to_message(const std::optional<ClockOffset>& clock, protocol::ClockEstimate& message);
std::optional<ClockOffset> from_message(const protocol::ClockEstimate& message);

void to_message(const KeyedAddress& address, protocol::ConnectionAddress& message);
/// Nothing when a field is out of range.
std::optional<KeyedAddress> from_message(const protocol::ConnectionAddress& message);

/// Prepared or Connect messages that carry `addresses`, under the cap of a frame, `last` in the
/// last.
std::vector<protocol::Envelope> prepared_messages(const std::string& run,
                                                  const std::vector<KeyedAddress>& addresses);
std::vector<protocol::Envelope> connect_messages(const std::string& run,
                                                 const std::vector<KeyedAddress>& addresses);

inline std::int64_t nanoseconds(Instant instant) { return instant.time_since_epoch().count(); }
inline Instant instant_of(std::int64_t nanoseconds) { return Instant{Duration{nanoseconds}}; }

/// "host0, host2".
std::string joined(const std::vector<std::string>& names);

}  // namespace rehearsal::coordination

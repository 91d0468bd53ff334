#pragma once

#include <span>

#include "core/fault/schedule.hpp"
#include "core/measure/fault_times.hpp"
#include "core/replay/background_traffic.hpp"
#include "core/replay/device_rates.hpp"
#include "core/replay/faulted_transport.hpp"
#include "core/replay/replayer.hpp"

namespace rehearsal::replay {

// What faults of one agent did, for its measurements. All end faults that are still on at `now`,
// the end of the run; `clock` is what the agent's clock shows more than the one that `now` is of.

/// `schedule`: of faults that hit no single rank.
void log_faults(fault::Schedule& schedule, Instant now, Duration clock,
                measure::FaultMeasurements& log);
void log_faults(FaultedTransport& transport, Instant now, Duration clock,
                measure::FaultMeasurements& log);
void log_faults(BackgroundTraffic& traffic, Instant now, Duration clock,
                measure::FaultMeasurements& log);
void log_faults(DeviceRates& devices, Instant now, measure::FaultMeasurements& log);
/// The replayer's clock is the agent's.
void log_faults(Replayer& replayer, Instant now, measure::FaultMeasurements& log);

}  // namespace rehearsal::replay

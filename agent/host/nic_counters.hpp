#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/nics.hpp"
#include "core/base/units.hpp"
#include "core/measure/agent_measurements.hpp"

namespace rehearsal::agent {

/// What a NIC has counted since the kernel knows it, headers included.
struct NicCount {
  Bytes sent;
  Bytes received;

  bool operator==(const NicCount&) const = default;
};

/// One reading of all NICs, in their order; none where a NIC cannot be read.
using NicCounts = std::vector<std::optional<NicCount>>;
NicCounts read_nic_counts(const std::vector<plan::Nic>& nics,
                          const std::filesystem::path& devices = kNetworkDevices);

/// Puts the difference of two readings beside the figures of the same NICs. A counter that went
/// backwards (the device was made again) or is missing leaves no figure.
void add_nic_counts(const NicCounts& before, const NicCounts& after,
                    measure::AgentMeasurements& measurements);

}  // namespace rehearsal::agent

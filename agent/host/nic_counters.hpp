#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/nics.hpp"
#include "core/base/time.hpp"
#include "core/base/units.hpp"
#include "core/measure/agent_measurements.hpp"

namespace rehearsal::agent {

/// Where the kernel tells about RDMA devices.
inline constexpr const char* kInfinibandDevices = "/sys/class/infiniband";

/// What a NIC has counted since the kernel knows it, headers included.
struct NicCount {
  Bytes sent = {};
  Bytes received = {};
  std::map<std::string, std::uint64_t> device = {};  ///< counters of its RDMA port, by name

  bool operator==(const NicCount&) const = default;
};

/// One reading of all NICs, in their order; none where a NIC cannot be read.
struct NicCounts {
  std::vector<std::optional<NicCount>> nics;
  Instant taken{};
};
NicCounts read_nic_counts(const std::vector<plan::Nic>& nics, Instant now,
                          const std::filesystem::path& devices = kNetworkDevices,
                          const std::filesystem::path& rdma_devices = kInfinibandDevices);

/// Puts the difference of two readings beside the figures of the same NICs. A counter that went
/// backwards (the device was made again) or is missing leaves no figure.
void add_nic_counts(const NicCounts& before, const NicCounts& after,
                    measure::AgentMeasurements& measurements);

}  // namespace rehearsal::agent

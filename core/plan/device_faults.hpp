#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/drill.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::plan {

// Faults of a plan that RDMA devices do (kind rate): the rate that is left of a NIC is divided
// among its queue pairs that send, and the device keeps each to its part. The limit of a queue pair
// is all that verbs offers (ibv_modify_qp_rate_limit); devices have none for a port.

/// What a fault asks of one NIC's device.
struct DeviceCut {
  NicIndex nic;
  std::vector<ConnectionIndex> connections = {};  ///< whose sending ends are limited
  std::vector<BitRate> rates = {};                ///< of each of their queue pairs, by level
};

/// What a fault asks of the devices of a host, by NIC; `connections` are the host's.
std::vector<DeviceCut> device_cuts(const Plan& plan, const fault::PlannedFault& fault,
                                   HostIndex host, const Connections& connections);

/// Why the devices cannot do a fault.
struct DeviceRefusal {
  std::string key;    ///< of the drill's fault: "where.direction"
  std::string what;   ///< what is wrong
  std::string right;  ///< what would be right
};
/// Of one host, whose connections are given. Nothing: its devices can.
std::optional<DeviceRefusal> device_cannot(const Plan& plan, const fault::PlannedFault& fault,
                                           HostIndex host, const Connections& connections);
/// Nothing: each NIC's device of all the fault's places can, as its agent says. Looks at the
/// connections of the fault's hosts, so `plan` has all its faults.
std::optional<DeviceRefusal> devices_cannot(const Plan& plan, const fault::PlannedFault& fault);

/// The last step of planning faults: those that the drill gives to the devices are looked at, and
/// those of kind rate over rdma that name no mechanism get the devices where all of them can. An
/// error names the key and what would be right.
Result<void> give_to_devices(const Drill& drill, Plan& plan);

/// How the plan's devices do the fault ("h1 data0: 8 queue pairs at 625Mbit/s each"), or why they
/// do not do one that they might; empty: nothing is to be said.
std::string device_text(const Plan& plan, const fault::PlannedFault& fault);

}  // namespace rehearsal::plan

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::agent {

/// Where the kernel tells about network devices.
inline constexpr const char* kNetworkDevices = "/sys/class/net";

/// A network device that is up and has an address, as getifaddrs() lists it.
struct HostAddress {
  std::string device;   ///< "eth1"
  std::string address;  ///< "10.79.1.3"
  bool loopback = false;

  bool operator==(const HostAddress&) const = default;
};

/// All addresses of this host's devices that are up, IPv4 before IPv6, link-local ones left out.
Result<std::vector<HostAddress>> host_addresses();

/// A data NIC that the operator named; without an address the device's first one is taken.
struct NicChoice {
  std::string name;
  std::string address = {};

  bool operator==(const NicChoice&) const = default;
};

/// "eth1" or "eth1=10.79.1.3".
Result<NicChoice> parse_nic_choice(std::string_view text);

/// The data NICs, in rail order. Named ones: just these, each with an address that the device
/// really has. None named: every device with an address but loopback and the control interface (the
/// one with `control_address`), in the order of their names. Speed and MTU come from `devices`; an
/// unknown speed is zero.
Result<std::vector<plan::Nic>> find_nics(const std::vector<NicChoice>& named,
                                         const std::vector<HostAddress>& addresses,
                                         const std::string& control_address,
                                         const std::filesystem::path& devices = kNetworkDevices);

/// True when a NIC's counters would mix several agents or other traffic of the host: it is
/// loopback.
bool shared_by_nature(const std::vector<plan::Nic>& nics,
                      const std::vector<HostAddress>& addresses);

/// The address of this host from which `address` (numeric) is reached: that of the control
/// interface. Sends nothing.
Result<std::string> local_address_towards(const std::string& address, std::uint16_t port);

}  // namespace rehearsal::agent

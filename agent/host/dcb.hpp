#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/host/host_facts.hpp"

namespace rehearsal::agent {

/// Data centre bridging of an interface, as its driver says it (IEEE 802.1Qaz).
struct DcbSettings {
  struct DscpPriority {
    std::uint32_t dscp = 0;
    std::uint32_t priority = 0;

    bool operator==(const DscpPriority&) const = default;
  };

  std::uint8_t flow_control = 0;  ///< PFC: a bit a priority
  std::vector<DscpPriority> dscp = {};

  bool operator==(const DcbSettings&) const = default;
};

/// The kernel's answer to DCB_CMD_IEEE_GET: what stands behind its netlink header.
Result<DcbSettings> parse_dcb_answer(std::string_view body);

/// Asks the kernel; needs no right. `unsupported` where the driver has none of it.
Result<DcbSettings> read_dcb(const std::string& interface);

/// "priorities 3,4"; empty: none.
std::string priorities_text(std::uint8_t mask);
/// "26:3, 48:6"; empty: none.
std::string dscp_text(const DcbSettings& settings);

}  // namespace rehearsal::agent

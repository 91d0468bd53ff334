#pragma once

#include <cstdint>
#include <optional>

#include "agent/helper/netlink.hpp"
#include "core/fault/interface_state.hpp"

namespace rehearsal::agent {

/// The request that sets an interface's pause frames, of the generic netlink family with this
/// number (Documentation/networking/ethtool-netlink.rst, PAUSE_SET).
netlink::Message flow_control_message(std::uint16_t family, std::uint32_t interface_index,
                                      const fault::FlowControl& setting);

/// The answer to PAUSE_GET, without its head; nothing if it does not tell.
std::optional<fault::FlowControl> read_flow_control(std::string_view body);

/// The pause frames of interfaces, by the kernel's generic netlink family `ethtool`.
class FlowControlPort {
 public:
  static Result<FlowControlPort> open();

  /// Nothing where the kernel has no such family or the driver no such setting.
  Result<std::optional<fault::FlowControl>> read(std::uint32_t interface_index);
  /// Takes CAP_NET_ADMIN.
  Result<void> set(std::uint32_t interface_index, const fault::FlowControl& setting);

 private:
  FlowControlPort(netlink::Socket socket, std::uint16_t family)
      : socket_(std::move(socket)), family_(family) {}

  netlink::Socket socket_;
  std::uint16_t family_;  ///< 0: the kernel has none
};

}  // namespace rehearsal::agent

#pragma once

#include "agent/helper/flow_control.hpp"
#include "agent/helper/netlink.hpp"
#include "core/fault/ports.hpp"

namespace rehearsal::agent {

/// The network of the namespace that this process runs in, over rtnetlink and the generic family
/// `ethtool`. Changing it takes CAP_NET_ADMIN.
class KernelNetwork final : public fault::KernelPort {
 public:
  static Result<KernelNetwork> open();

  Result<fault::LinkTable> links() override;
  Result<fault::InterfaceState> read(std::uint32_t interface_index) override;
  Result<void> change(std::uint32_t interface_index, const fault::Act& act) override;

 private:
  KernelNetwork(netlink::Socket socket, FlowControlPort flow_control)
      : socket_(std::move(socket)), flow_control_(std::move(flow_control)) {}

  Result<void> add_default_routes(int family, fault::LinkTable& table);
  Result<void> read_link(fault::InterfaceState& state);
  Result<void> read_qdiscs(fault::InterfaceState& state);
  Result<void> read_what_a_link_loses(fault::InterfaceState& state);
  Result<void> set_root(std::uint32_t interface_index, const fault::SetRoot& set);
  Result<void> remove_root(std::uint32_t interface_index, std::uint32_t handle);
  Result<void> set_link(std::uint32_t interface_index, bool up);
  Result<void> set_mtu(std::uint32_t interface_index, std::uint32_t mtu_bytes);

  netlink::Socket socket_;
  FlowControlPort flow_control_;
};

}  // namespace rehearsal::agent

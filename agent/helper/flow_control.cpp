#include "agent/helper/flow_control.hpp"

#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace rehearsal::agent {
namespace {

genlmsghdr head_of(std::uint8_t command, std::uint8_t version) {
  return {.cmd = command, .version = version, .reserved = 0};
}

netlink::Message pause_message(std::uint16_t family, std::uint8_t command,
                               std::uint32_t interface_index) {
  netlink::Message message(family, 0, head_of(command, ETHTOOL_GENL_VERSION));
  const std::size_t begun = message.begin(ETHTOOL_A_PAUSE_HEADER | NLA_F_NESTED);
  message.put_value(ETHTOOL_A_HEADER_DEV_INDEX, interface_index);
  message.end(begun);
  return message;
}

/// 0 where the kernel has no such family.
Result<std::uint16_t> find_family(netlink::Socket& socket) {
  netlink::Message message(GENL_ID_CTRL, 0, head_of(CTRL_CMD_GETFAMILY, 1));
  message.put_text(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
  std::uint16_t family = 0;
  const auto found = socket.request(message, [&](auto type, auto body) {
    if (type != GENL_ID_CTRL || body.size() < sizeof(genlmsghdr)) return;
    const auto attributes = netlink::attributes_of<genlmsghdr>(body);
    family = attributes.template value<std::uint16_t>(CTRL_ATTR_FAMILY_ID).value_or(0);
  });
  if (!found && found.error().code != ErrorCode::unsupported) return tl::unexpected(found.error());
  return family;
}

}  // namespace

netlink::Message flow_control_message(std::uint16_t family, std::uint32_t interface_index,
                                      const fault::FlowControl& setting) {
  netlink::Message message = pause_message(family, ETHTOOL_MSG_PAUSE_SET, interface_index);
  message.put_value<std::uint8_t>(ETHTOOL_A_PAUSE_AUTONEG, setting.negotiated ? 1 : 0);
  message.put_value<std::uint8_t>(ETHTOOL_A_PAUSE_RX, setting.heeds ? 1 : 0);
  message.put_value<std::uint8_t>(ETHTOOL_A_PAUSE_TX, setting.sends ? 1 : 0);
  return message;
}

std::optional<fault::FlowControl> read_flow_control(std::string_view body) {
  if (body.size() < sizeof(genlmsghdr)) return std::nullopt;
  const auto attributes = netlink::attributes_of<genlmsghdr>(body);
  const auto negotiated = attributes.value<std::uint8_t>(ETHTOOL_A_PAUSE_AUTONEG);
  const auto heeds = attributes.value<std::uint8_t>(ETHTOOL_A_PAUSE_RX);
  const auto sends = attributes.value<std::uint8_t>(ETHTOOL_A_PAUSE_TX);
  if (!heeds || !sends) return std::nullopt;
  return fault::FlowControl{
      .negotiated = negotiated.value_or(0) != 0, .heeds = *heeds != 0, .sends = *sends != 0};
}

Result<FlowControlPort> FlowControlPort::open() {
  ASSIGN_OR_RETURN(netlink::Socket socket, netlink::Socket::open(NETLINK_GENERIC));
  ASSIGN_OR_RETURN(const std::uint16_t family, find_family(socket));
  return FlowControlPort(std::move(socket), family);
}

Result<std::optional<fault::FlowControl>> FlowControlPort::read(std::uint32_t interface_index) {
  std::optional<fault::FlowControl> setting;
  if (family_ == 0) return setting;
  const auto asked = socket_.request(pause_message(family_, ETHTOOL_MSG_PAUSE_GET, interface_index),
                                     [&](auto type, auto body) {
                                       if (type == family_) setting = read_flow_control(body);
                                     });
  if (!asked && asked.error().code != ErrorCode::unsupported) return tl::unexpected(asked.error());
  return setting;
}

Result<void> FlowControlPort::set(std::uint32_t interface_index,
                                  const fault::FlowControl& setting) {
  if (family_ == 0) {
    return fail(ErrorCode::unsupported, ErrorSource::host, "this kernel has no ethtool netlink");
  }
  return socket_.request(flow_control_message(family_, interface_index, setting));
}

}  // namespace rehearsal::agent

#include "agent/helper/kernel_network.hpp"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <set>

#include "agent/helper/queues.hpp"

namespace rehearsal::agent {
namespace {

using fault::InterfaceState;
using fault::Link;
using fault::LinkTable;
using fault::Qdisc;

/// What a journal's record can hold of a queueing discipline.
constexpr std::size_t kOptionsMax = 4096;
constexpr std::size_t kKindMax = 32;

std::uint32_t positive(int index) { return index > 0 ? static_cast<std::uint32_t>(index) : 0; }

ifinfomsg link_message(std::uint32_t index) {
  ifinfomsg family{};
  family.ifi_family = AF_UNSPEC;
  family.ifi_index = static_cast<int>(index);
  return family;
}

tcmsg qdisc_message(std::uint32_t index, std::uint32_t handle) {
  tcmsg family{};
  family.tcm_family = AF_UNSPEC;
  family.tcm_ifindex = static_cast<int>(index);
  family.tcm_parent = TC_H_ROOT;
  family.tcm_handle = handle;
  return family;
}

Link link_of(const ifinfomsg& head, const netlink::Attributes& attributes) {
  Link link;
  link.index = positive(head.ifi_index);
  link.name = attributes.text(IFLA_IFNAME);
  link.master = attributes.value<std::uint32_t>(IFLA_MASTER).value_or(0);
  // In another namespace the number means another interface.
  const bool is_here = !attributes.bytes(IFLA_LINK_NETNSID);
  const std::uint32_t lower = attributes.value<std::uint32_t>(IFLA_LINK).value_or(0);
  link.lower = is_here && lower != link.index ? lower : 0;
  link.is_loopback = (head.ifi_flags & IFF_LOOPBACK) != 0;
  return link;
}

/// All interfaces that a route leaves by: its own, or those of its hops.
std::set<std::uint32_t> interfaces_of(const netlink::Attributes& route) {
  std::set<std::uint32_t> found;
  if (const auto index = route.value<std::uint32_t>(RTA_OIF)) found.insert(*index);
  std::string_view hops = route.bytes(RTA_MULTIPATH).value_or("");
  while (const auto hop = netlink::family_of<rtnexthop>(hops)) {
    if (hop->rtnh_len < sizeof(rtnexthop)) break;
    found.insert(positive(hop->rtnh_ifindex));
    hops.remove_prefix(std::min<std::size_t>((hop->rtnh_len + 3U) / 4 * 4, hops.size()));
  }
  return found;
}

netlink::Message routes_message(int family) {
  rtmsg head{};
  head.rtm_family = static_cast<std::uint8_t>(family);
  return {RTM_GETROUTE, 0, head};
}

/// Made by the kernel itself or by router advertisements: they come back by themselves.
bool comes_back(const rtmsg& route) {
  return route.rtm_protocol == RTPROT_KERNEL || route.rtm_protocol == RTPROT_RA ||
         (route.rtm_flags & RTM_F_CLONED) != 0;
}

Qdisc qdisc_of(const tcmsg& head, const netlink::Attributes& attributes) {
  Qdisc qdisc;
  qdisc.kind = attributes.text(TCA_KIND).substr(0, kKindMax);
  qdisc.handle = head.tcm_handle;
  qdisc.parent = head.tcm_parent;
  const std::string_view options = attributes.bytes(TCA_OPTIONS).value_or("");
  qdisc.options = options.substr(0, kOptionsMax);
  qdisc.settings = read_settings(qdisc.kind, options);
  return qdisc;
}

}  // namespace

Result<KernelNetwork> KernelNetwork::open() {
  ASSIGN_OR_RETURN(netlink::Socket socket, netlink::Socket::open(NETLINK_ROUTE));
  ASSIGN_OR_RETURN(FlowControlPort flow_control, FlowControlPort::open());
  return KernelNetwork(std::move(socket), std::move(flow_control));
}

Result<LinkTable> KernelNetwork::links() {
  LinkTable table;
  RETURN_IF_ERROR(socket_.dump({RTM_GETLINK, 0, link_message(0)}, [&](auto type, auto body) {
    const auto head = netlink::family_of<ifinfomsg>(body);
    if (type != RTM_NEWLINK || !head) return;
    table.links.push_back(link_of(*head, netlink::attributes_of<ifinfomsg>(body)));
  }));
  RETURN_IF_ERROR(add_default_routes(AF_INET, table));
  RETURN_IF_ERROR(add_default_routes(AF_INET6, table));
  return table;
}

Result<void> KernelNetwork::add_default_routes(int family, LinkTable& table) {
  return socket_.dump(routes_message(family), [&](auto type, auto body) {
    const auto head = netlink::family_of<rtmsg>(body);
    // A kernel without IPv6 answers a question about it with all that it has.
    if (type != RTM_NEWROUTE || !head || head->rtm_family != family) return;
    if (head->rtm_dst_len != 0) return;
    const auto attributes = netlink::attributes_of<rtmsg>(body);
    const auto in = attributes.template value<std::uint32_t>(RTA_TABLE).value_or(head->rtm_table);
    // Other tables are for policy routing: a rail's own default is not the host's.
    const bool is_host = in == RT_TABLE_MAIN || in == RT_TABLE_DEFAULT;
    if (is_host && head->rtm_type == RTN_UNICAST) {
      table.default_route.merge(interfaces_of(attributes));
    }
  });
}

Result<InterfaceState> KernelNetwork::read(std::uint32_t interface_index) {
  InterfaceState state;
  state.index = interface_index;
  RETURN_IF_ERROR(read_link(state));
  RETURN_IF_ERROR(read_qdiscs(state));
  ASSIGN_OR_RETURN(state.flow_control, flow_control_.read(interface_index));
  RETURN_IF_ERROR(read_what_a_link_loses(state));
  return state;
}

Result<void> KernelNetwork::read_link(InterfaceState& state) {
  return socket_.request({RTM_GETLINK, 0, link_message(state.index)}, [&](auto type, auto body) {
    const auto head = netlink::family_of<ifinfomsg>(body);
    if (type != RTM_NEWLINK || !head) return;
    const auto attributes = netlink::attributes_of<ifinfomsg>(body);
    state.name = attributes.text(IFLA_IFNAME);
    state.is_up = (head->ifi_flags & IFF_UP) != 0;
    state.mtu_bytes = attributes.template value<std::uint32_t>(IFLA_MTU).value_or(0);
  });
}

Result<void> KernelNetwork::read_qdiscs(InterfaceState& state) {
  return socket_.dump({RTM_GETQDISC, 0, qdisc_message(0, 0)}, [&](auto type, auto body) {
    const auto head = netlink::family_of<tcmsg>(body);
    if (type != RTM_NEWQDISC || !head || positive(head->tcm_ifindex) != state.index) return;
    Qdisc qdisc = qdisc_of(*head, netlink::attributes_of<tcmsg>(body));
    // The leaves of a default mq are the kernel's own, and there may be hundreds.
    if (qdisc.is_root() || qdisc.handle != 0) state.qdiscs.push_back(std::move(qdisc));
  });
}

Result<void> KernelNetwork::read_what_a_link_loses(InterfaceState& state) {
  for (const int family : {AF_INET, AF_INET6}) {
    RETURN_IF_ERROR(socket_.dump(routes_message(family), [&](auto type, auto body) {
      const auto head = netlink::family_of<rtmsg>(body);
      if (type != RTM_NEWROUTE || !head || head->rtm_family != family) return;
      if (comes_back(*head)) return;
      const auto attributes = netlink::attributes_of<rtmsg>(body);
      if (interfaces_of(attributes).contains(state.index)) ++state.static_routes;
    }));
  }
  ifaddrmsg addresses{};
  addresses.ifa_family = AF_INET6;
  RETURN_IF_ERROR(socket_.dump({RTM_GETADDR, 0, addresses}, [&](auto type, auto body) {
    const auto head = netlink::family_of<ifaddrmsg>(body);
    if (type != RTM_NEWADDR || !head || head->ifa_family != AF_INET6) return;
    if (head->ifa_index != state.index) return;
    const bool is_permanent = (head->ifa_flags & IFA_F_PERMANENT) != 0;
    if (is_permanent && head->ifa_scope != RT_SCOPE_LINK) ++state.permanent_addresses;
  }));
  ndmsg neighbours{};
  neighbours.ndm_family = AF_UNSPEC;
  return socket_.dump({RTM_GETNEIGH, 0, neighbours}, [&](auto type, auto body) {
    const auto head = netlink::family_of<ndmsg>(body);
    if (type != RTM_NEWNEIGH || !head || positive(head->ndm_ifindex) != state.index) return;
    const bool is_ip = head->ndm_family == AF_INET || head->ndm_family == AF_INET6;
    if (is_ip && (head->ndm_state & NUD_PERMANENT) != 0) ++state.permanent_neighbours;
  });
}

Result<void> KernelNetwork::change(std::uint32_t interface_index, const fault::Act& act) {
  if (const auto* root = std::get_if<fault::SetRoot>(&act)) return set_root(interface_index, *root);
  if (const auto* root = std::get_if<fault::RemoveRoot>(&act)) {
    return remove_root(interface_index, root->handle);
  }
  if (const auto* link = std::get_if<fault::SetLink>(&act)) {
    return set_link(interface_index, link->up);
  }
  if (const auto* set = std::get_if<fault::SetFlowControl>(&act)) {
    return flow_control_.set(interface_index, set->setting);
  }
  if (const auto* set = std::get_if<fault::SetMtu>(&act)) {
    return set_mtu(interface_index, set->mtu_bytes);
  }
  return fail(ErrorCode::unsupported, ErrorSource::host, "the kernel runs no commands");
}

Result<void> KernelNetwork::set_root(std::uint32_t interface_index, const fault::SetRoot& set) {
  InterfaceState state;
  state.index = interface_index;
  RETURN_IF_ERROR(read_link(state));
  // NLM_F_EXCL: never in the place of one that somebody else put there.
  netlink::Message message(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL,
                           qdisc_message(interface_index, set.handle));
  put_qdisc(message, set.settings, state.mtu_bytes);
  auto done = socket_.request(message);
  const std::string kind = qdisc_kind(set.settings);
  if (!done && done.error().code == ErrorCode::unsupported) {
    return tl::unexpected(done.error().within("this kernel has no " + kind +
                                              "; ask for the fault inside our own sender"));
  }
  if (!done) return tl::unexpected(done.error().within("queueing discipline " + kind));
  return done;
}

Result<void> KernelNetwork::remove_root(std::uint32_t interface_index, std::uint32_t handle) {
  // The kernel deletes only if the root still has this handle.
  return socket_.request({RTM_DELQDISC, 0, qdisc_message(interface_index, handle)});
}

Result<void> KernelNetwork::set_link(std::uint32_t interface_index, bool up) {
  ifinfomsg head = link_message(interface_index);
  head.ifi_change = IFF_UP;
  head.ifi_flags = up ? IFF_UP : 0;
  return socket_.request({RTM_NEWLINK, 0, head});
}

Result<void> KernelNetwork::set_mtu(std::uint32_t interface_index, std::uint32_t mtu_bytes) {
  netlink::Message message(RTM_NEWLINK, 0, link_message(interface_index));
  message.put_value(IFLA_MTU, mtu_bytes);
  return socket_.request(message);
}

}  // namespace rehearsal::agent

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/units.hpp"
#include "core/fault/kernel_fault.hpp"

namespace rehearsal::fault {

/// The major numbers of our own queueing disciplines (tc prints them as 7e00: … 7eff:). Nobody else
/// may use them; ours are deleted by handle, and nothing else is.
inline constexpr std::uint32_t kHandleFirst = 0x7E00'0000;
inline constexpr std::uint32_t kHandleLast = 0x7EFF'0000;

/// Our handle for the fault with this number.
constexpr std::uint32_t handle_of(std::uint64_t id) {
  return kHandleFirst + static_cast<std::uint32_t>(id % 256) * 0x1'0000;
}
constexpr bool is_own_handle(std::uint32_t handle) {
  return handle >= kHandleFirst && handle <= kHandleLast;
}

/// The parent of a root (TC_H_ROOT).
inline constexpr std::uint32_t kRootParent = 0xFFFF'FFFF;

/// A queue that drops everything.
struct DropAll {
  bool operator==(const DropAll&) const = default;
};

/// What a root queueing discipline does, where it is of a kind that we set; else nothing.
using QueueSettings = std::variant<std::monostate, RateCap, Impairment, DropAll>;

/// A queueing discipline as the kernel tells of it, without statistics.
struct Qdisc {
  std::string kind;
  std::uint32_t handle = 0;
  std::uint32_t parent = 0;
  std::string options;  ///< the kernel's own bytes, to see that somebody changed them
  QueueSettings settings;
  bool operator==(const Qdisc&) const = default;

  bool is_root() const { return parent == kRootParent; }
  /// What the kernel attaches by itself: it alone has no handle.
  bool is_default() const;
};

/// Which pause frames an interface sends and heeds, as its driver says.
struct FlowControl {
  bool negotiated = false;  ///< agreed with its link partner, not fixed
  bool heeds = false;       ///< pauses when a pause frame arrives
  bool sends = false;       ///< sends some when it cannot take more
  bool operator==(const FlowControl&) const = default;
};

/// What a fault could touch of one interface.
struct InterfaceState {
  std::uint32_t index = 0;
  std::string name;
  bool is_up = false;  ///< administratively
  std::uint32_t mtu_bytes = 0;
  std::vector<Qdisc> qdiscs;
  std::optional<FlowControl> flow_control = {};  ///< nothing: its driver has no such setting
  /// What the kernel forgets for good when the interface goes down.
  std::uint32_t static_routes = 0;
  std::uint32_t permanent_addresses = 0;  ///< IPv6, not link-local
  std::uint32_t permanent_neighbours = 0;
  bool operator==(const InterfaceState&) const = default;

  const Qdisc* root() const;
};

/// One interface in the list of all, and what it stands on.
struct Link {
  std::uint32_t index = 0;
  std::string name;
  std::uint32_t master = 0;  ///< the bond or bridge that it is a part of; 0: none
  std::uint32_t lower = 0;   ///< the interface below (of a VLAN), or a veth's peer; 0: none here
  bool is_loopback = false;
  bool operator==(const Link&) const = default;
};

/// All interfaces of this host, and those by which a default route leaves.
struct LinkTable {
  std::vector<Link> links;
  std::set<std::uint32_t> default_route;
};

/// The interfaces that no fault may touch: loopback, those of a default route, those named
/// `control`, and all that these stand on (the ports of a bond or bridge, the device below a VLAN).
std::set<std::uint32_t> protected_interfaces(const LinkTable& table,
                                             const std::vector<std::string>& control);

}  // namespace rehearsal::fault

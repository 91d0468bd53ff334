#include "core/fault/interface_state.hpp"

#include <algorithm>
#include <array>

namespace rehearsal::fault {

bool Qdisc::is_default() const {
  // net/sched/sch_generic.c, attach_default_qdiscs(): the default is made without a handle,
  // whatever net.core.default_qdisc names; one that somebody added always has one.
  static constexpr std::array<std::string_view, 7> kKinds = {
      "noqueue", "pfifo_fast", "fq_codel", "fq", "mq", "pfifo", "cake"};
  return handle == 0 && std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

const Qdisc* InterfaceState::root() const {
  const auto found =
      std::find_if(qdiscs.begin(), qdiscs.end(), [](const Qdisc& q) { return q.is_root(); });
  return found == qdiscs.end() ? nullptr : &*found;
}

std::set<std::uint32_t> protected_interfaces(const LinkTable& table,
                                             const std::vector<std::string>& control) {
  std::set<std::uint32_t> found = table.default_route;
  for (const Link& link : table.links) {
    const bool is_control = std::find(control.begin(), control.end(), link.name) != control.end();
    if (is_control || link.is_loopback) found.insert(link.index);
  }
  for (bool grew = true; grew;) {
    const std::size_t before = found.size();
    for (const Link& link : table.links) {
      if (link.master != 0 && found.contains(link.master)) found.insert(link.index);
      if (link.lower != 0 && found.contains(link.index)) found.insert(link.lower);
    }
    grew = found.size() > before;
  }
  return found;
}

}  // namespace rehearsal::fault

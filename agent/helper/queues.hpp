#pragma once

#include <string>
#include <string_view>

#include "agent/helper/netlink.hpp"
#include "core/fault/interface_state.hpp"

namespace rehearsal::agent {

/// The kernel's name for a queueing discipline with these settings: tbf, netem, bfifo.
std::string qdisc_kind(const fault::QueueSettings& settings);

/// Adds kind and options to a request that makes a queueing discipline; `mtu_bytes` of the
/// interface. net/sched/sch_tbf.c, sch_netem.c, sch_fifo.c; iproute2's tc is the example for the
/// conversions.
void put_qdisc(netlink::Message& message, const fault::QueueSettings& settings,
               std::uint32_t mtu_bytes);

/// What the kernel tells of a queueing discipline, if it is of a kind that we set; nothing of
/// others.
fault::QueueSettings read_settings(std::string_view kind, std::string_view options);

}  // namespace rehearsal::agent

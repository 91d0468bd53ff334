#include "core/report/error_catalogue.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace rehearsal::report {
namespace {

constexpr std::string_view kPrefix = "REHEARSAL-";

constexpr std::array kCatalogue = {
    CatalogueEntry{"REHEARSAL-RDMA-001", "No RDMA library",
                   "The agent found no usable libibverbs, so it offers no RDMA.",
                   "libibverbs or the provider of the NIC is not installed\n"
                   "it is older than rdma-core 17",
                   "install libibverbs1 and ibverbs-providers (Debian), or the vendor's packages\n"
                   "restart the agent: it looks for the library when it starts"},
    CatalogueEntry{"REHEARSAL-RDMA-002", "No such RDMA device",
                   "The device that the plan binds is not on this host, or the NIC has none.",
                   "the driver was unloaded or the device renamed after the agent started\n"
                   "the device belongs to another network namespace or container",
                   "`rdma link` lists devices and the interfaces they stand on\n"
                   "restart the agent, so that it lists what is there now"},
    CatalogueEntry{"REHEARSAL-RDMA-003", "The device refuses to be set up",
                   "A verb of set-up failed; the message has its name and the system's reason.",
                   "no right to /dev/infiniband/uverbs*\n"
                   "the device has no queue pairs, completion queues or memory left\n"
                   "more is asked of a queue than the device has\n"
                   "the drill's rate_limit is none that the device can do",
                   "give the agent's user access to /dev/infiniband\n"
                   "`rdma resource show` tells who uses how much\n"
                   "use fewer channels, credits or queue pairs in the drill\n"
                   "`rehearse doctor` shows what each port can limit a queue pair to"},
    CatalogueEntry{
        "REHEARSAL-RDMA-004", "Memory cannot be registered",
        "The NIC may only touch memory that stays in place, and the agent may not lock so much.",
        "the limit of locked memory (memlock) is low: 8 MiB is usual\n"
        "the device's table of registrations is full",
        "LimitMEMLOCK=infinity in the agent's unit, or `ulimit -l unlimited`\n"
        "use smaller chunks or fewer credits; verify_payload needs much more memory"},
    CatalogueEntry{
        "REHEARSAL-RDMA-005", "The port is not active",
        "The RDMA port of a NIC that is used is not up.",
        "the link or the network interface is down\n"
        "InfiniBand: no subnet manager has configured the port",
        "`rdma link` and `ip link` show the state; set the interface up\n"
        "check cable and switch port; InfiniBand: start a subnet manager\n"
        "restart the agent if the plan says that it was not active when the agent started"},
    CatalogueEntry{
        "REHEARSAL-RDMA-006", "The port has no GID of the NIC's address",
        "RoCE addresses a port by a GID made of an IP address. The one of the NIC's data address "
        "is "
        "not in the port's table.",
        "the interface has lost or changed its address\n"
        "the address is not on the interface that the device stands on (bridge, other namespace)\n"
        "only RoCE v1 or link-local GIDs are there",
        "/sys/class/infiniband/DEVICE/ports/1/gids and gid_attrs list the table\n"
        "put the address on the interface itself, restart the agent\n"
        "name the NIC with its right address: --nic eth2=10.0.0.1"},
    CatalogueEntry{
        "REHEARSAL-RDMA-007", "The peer does not answer on the RDMA network",
        "Before load both ends greet each other by datagrams from device to device. None arrived, "
        "or those of one end alone.",
        "no path between the two: other VLAN or rail, switch port down, no route for RoCE v2\n"
        "a firewall or ACL drops UDP port 4791\n"
        "the peer's GID is not (or no more) that of its port",
        "`ping -I INTERFACE PEER` on the data address\n"
        "the switch: is UDP 4791 let through, are both ports in one VLAN or routed\n"
        "`rehearse status --json` shows the GIDs that agents reported"},
    CatalogueEntry{"REHEARSAL-RDMA-008", "The path does not carry the path MTU",
                   "Short datagrams arrive both ways, full ones do not: something on the way has a "
                   "smaller MTU than both ports.",
                   "a switch or bridge port has an MTU below the hosts' (RoCE needs the path MTU "
                   "and 74 bytes)\n"
                   "an interface in between was not set to jumbo frames",
                   "`ping -M do -s 4144 PEER` finds the bound\n"
                   "raise the MTU there, or set path_mtu: 1024B in the drill's transport"},
    CatalogueEntry{
        "REHEARSAL-RDMA-009", "No way to the peer",
        "The device could not resolve the way to the peer's GID when queue pairs were connected.",
        "no route to the peer's address from the NIC's address\n"
        "the neighbour does not answer (ARP, neighbour discovery)\n"
        "the device refuses the options that the peer's offers (ECE)",
        "`ip route get PEER from ADDRESS oif INTERFACE` and `ip neigh`\n"
        "set arp_ignore=1 and arp_announce=2 where several data NICs share a subnet\n"
        "transport.ece: false does without enhanced connection establishment"},
    CatalogueEntry{"REHEARSAL-RDMA-010", "The two ends do not fit",
                   "What the peer told of its end does not match this end.",
                   "agents of different versions\n"
                   "an Ethernet port was bound to an InfiniBand one",
                   "run the same version everywhere\n"
                   "look at the rails: which NIC of which host meets which"},
    CatalogueEntry{
        "REHEARSAL-RDMA-020", "The peer does not acknowledge",
        "The device sent a packet again and again and got no acknowledgement (transport retry "
        "counter exceeded).",
        "the link, a port or a switch on the way went down\n"
        "the peer's process or host died, or it aborted the run\n"
        "heavy loss, or a path that works in one direction only\n"
        "ack_timeout too short for a path under congestion",
        "look at the peer's agent first: its log says whether it gave up earlier\n"
        "`ethtool -S` and the port's counters on both sides: discards, errors, pause frames\n"
        "raise ack_timeout and retry_count (NCCL: 20 and 7)"},
    CatalogueEntry{
        "REHEARSAL-RDMA-021", "The peer's receive queue is full",
        "The peer had no receive posted for a message (receiver-not-ready retry counter exceeded).",
        "the peer's worker stands still: stopped, starved of CPU\n"
        "rnr_retry and rnr_timer are set very low",
        "look at the peer's CPU load and its longest turn in the report\n"
        "use rnr_retry: 7"},
    CatalogueEntry{"REHEARSAL-RDMA-022", "The peer refuses the request",
                   "The peer's device refused access to memory or the operation.",
                   "the peer has ended the run and released its memory\n"
                   "a queue pair of an earlier run is met (an address that was used again)",
                   "look at the peer's agent log for its own reason\n"
                   "if it repeats on a quiet fabric, send both logs: it is a bug"},
    CatalogueEntry{"REHEARSAL-RDMA-023", "The local device reports an error",
                   "The device or its driver failed a request, or reported a fatal error.",
                   "firmware or driver error, device reset\n"
                   "a bug of this program: a request the device cannot do",
                   "`dmesg` on this host at that time\n"
                   "reset the device, update its firmware"},
    CatalogueEntry{"REHEARSAL-RDMA-024", "The queue pair went into error",
                   "Requests were flushed, because the queue pair failed for another reason.",
                   "the peer's side failed first\n"
                   "the port or device was reset",
                   "look for the first error: in the peer's log and in `dmesg`"},
    CatalogueEntry{"REHEARSAL-RDMA-025", "The device takes no work request",
                   "Posting to a queue pair failed at once.",
                   "the device is gone or in error\n"
                   "its send queue holds less than it promised",
                   "`dmesg` and `rdma link` on this host\n"
                   "use fewer credits"},
    CatalogueEntry{"REHEARSAL-RDMA-026", "The peer broke the protocol",
                   "A message or clear-to-send came that the rules do not allow.",
                   "agents of different versions\n"
                   "a stray queue pair writes into this run",
                   "run the same version everywhere\n"
                   "if it repeats, send both logs: it is a bug"},
    CatalogueEntry{
        "REHEARSAL-RDMA-027", "A message is not what was sent",
        "With verify_payload the sender stamps every message; this one carried something else.",
        "memory or PCIe errors on one of the two hosts\n"
        "the device or its driver delivers wrong data\n"
        "a peer writes into the wrong slot",
        "run the drill with other pairs of hosts to find which host it follows\n"
        "look at ECC and PCIe AER counters of both"},
    CatalogueEntry{"REHEARSAL-RDMA-028", "The device does not change a rate limit",
                   "A fault with mechanism device changes what queue pairs are limited to while "
                   "the run is on; "
                   "the device refused one.",
                   "the device's table of rates is full: each different rate has a place in it\n"
                   "the queue pair went into error at that moment\n"
                   "the driver limits rates only while a queue pair is set up",
                   "look for an earlier error, in this agent's log and in `dmesg`\n"
                   "use fewer levels, or hosts with as many queue pairs, so that rates are alike\n"
                   "mechanism: sender does the same fault inside the agent, on any device"},
    CatalogueEntry{
        "REHEARSAL-TCP-027", "A message is not what was sent",
        "With verify_payload the sender stamps every message; this one carried something else.",
        "memory errors on one of the two hosts\n"
        "something between the two changes payload and its checksum",
        "run the drill with other pairs of hosts to find which host it follows"},
};

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

std::string bullets(std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    text += "  - " + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

}  // namespace

std::span<const CatalogueEntry> error_catalogue() { return kCatalogue; }

const CatalogueEntry* find_error(std::string_view id) {
  std::string wanted = upper(id);
  if (wanted.starts_with('[') && wanted.ends_with(']'))
    wanted = wanted.substr(1, wanted.size() - 2);
  if (!wanted.starts_with(kPrefix)) wanted = std::string(kPrefix) + wanted;
  const auto found = std::ranges::find(kCatalogue, wanted, &CatalogueEntry::id);
  return found == kCatalogue.end() ? nullptr : &*found;
}

std::string explain(const CatalogueEntry& entry) {
  return std::string(entry.id) + ": " + std::string(entry.title) + "\n\n" +
         std::string(entry.meaning) + "\n\nLikely causes\n" + bullets(entry.causes) +
         "\nWhat to try\n" + bullets(entry.advice);
}

}  // namespace rehearsal::report

#include "core/host/examine.hpp"

#include <algorithm>
#include <array>

#include "core/base/units.hpp"

namespace rehearsal::host {
namespace {

using Health = Finding::Health;

/// Slots of a few thousand connections; less is soon used up.
constexpr Bytes kLockWanted{std::uint64_t{256} << 20};
/// An IP packet of RoCE v2 with a path MTU of 4096 bytes, with all its headers.
constexpr std::uint32_t kInterfaceMtuMin = 4096 + 74;
/// Clock sources that are read in tens of nanoseconds.
constexpr std::array<std::string_view, 6> kFastSources = {
    "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen", "arch_sys_counter", "timebase"};

/// What the drill's `rate_limit` can be here, and whether the device can do a fault.
std::string rate_limit_of(const plan::RdmaPort& port) {
  if (!port.rate_limits.any())
    return port.device + " cannot limit the rate of a queue pair (transport.rate_limit)";
  return port.device + " limits the rate of a queue pair to " + to_string(port.rate_limits) +
         ", for transport.rate_limit and for faults of kind rate (mechanism: device)";
}

void examine_memory(const HostFacts& facts, std::vector<Finding>& findings) {
  if (!facts.lock_limit)
    return findings.push_back({Health::good, facts.host, "may lock memory without limit"});
  const std::string what = "may lock " + format_bytes(*facts.lock_limit) + " of memory (memlock)";
  if (*facts.lock_limit >= kLockWanted) return findings.push_back({Health::good, facts.host, what});
  findings.push_back({facts.rdma_devices ? Health::bad : Health::notable, facts.host, what,
                      "RDMA locks what NICs touch: LimitMEMLOCK=infinity in the agent's unit, or "
                      "`ulimit -l unlimited` before it (root)"});
}

void examine_verbs(const HostFacts& facts, std::vector<Finding>& findings) {
  if (facts.verbs_missing.empty())
    return findings.push_back({Health::good, facts.host, "libibverbs is loaded"});
  findings.push_back(
      {facts.rdma_devices ? Health::bad : Health::notable, facts.host, facts.verbs_missing,
       facts.rdma_devices ? "the kernel has RDMA devices: install the library and start the agent "
                            "again"
                          : "transport tcp only; if there should be RDMA: is the driver loaded "
                            "(`rdma link`)"});
}

void examine_clock(const HostFacts& facts, std::vector<Finding>& findings) {
  const ClockFacts& clock = facts.clock;
  if (clock.source.empty()) {
    findings.push_back({Health::notable, facts.host, "its clock source cannot be read here",
                        "see /sys/devices/system/clocksource/clocksource0/current_clocksource"});
  } else if (std::ranges::find(kFastSources, clock.source) == kFastSources.end()) {
    findings.push_back({Health::notable, facts.host,
                        "clock source " + clock.source + ": every look at it is slow",
                        "the kernel found its tsc unreliable (dmesg says why); on a host where it "
                        "is sound, boot with tsc=reliable"});
  } else {
    findings.push_back({Health::good, facts.host, "clock source " + clock.source});
  }
  if (clock.disciplined) {
    findings.push_back(
        {Health::good, facts.host,
         "NTP or PTP keeps its wall clock, to ±" + format_duration(clock.error_max)});
  } else {
    findings.push_back({Health::notable, facts.host, "no NTP or PTP keeps its wall clock",
                        "starts do not depend on it (clocks are measured), but times in logs do: "
                        "run chrony or ptp4l"});
  }
}

void examine_cores(const HostFacts& facts, std::vector<Finding>& findings) {
  if (facts.allowed.size() == 1)
    findings.push_back({Health::notable, facts.host,
                        "has one core, " + core_list_text(facts.allowed) + ", for all its threads",
                        "a worker that polls wants one to itself: completions: event in drills, or "
                        "more cores (CPUAffinity= of the unit, taskset)"});
  if (!facts.place.cores.empty())
    findings.push_back({Health::good, facts.host,
                        "a worker that polls goes to core " + core_list_text(facts.place.cores) +
                            " (" + facts.place.why + ")"});
  else if (facts.place.hindered)
    findings.push_back({Health::notable, facts.host, facts.place.why,
                        "let the agent run near its NIC: CPUAffinity= of its unit, taskset, or the "
                        "container's cpuset"});
}

void examine_reading(const Reading& reading, const std::string& subject, const std::string& name,
                     const std::string& off, const std::string& fix,
                     std::vector<Finding>& findings) {
  if (!reading.readable())
    return findings.push_back({Health::notable, subject,
                               name + " cannot be read here: " + reading.why_not,
                               "read it with the vendor's tool, and on the switch"});
  if (reading.value.empty()) return findings.push_back({Health::notable, subject, off, fix});
  findings.push_back({Health::good, subject, name + ": " + reading.value});
}

void examine_loss(const NicFacts& nic, const std::string& subject, std::vector<Finding>& findings) {
  examine_reading(nic.loss.flow_control, subject, "PFC", "PFC is off on all priorities",
                  "RoCE without loss wants it on the priority of its traffic, here and on the "
                  "switch: `dcb pfc set dev " +
                      nic.place.nic + " prio-pfc 3:on` or mlnx_qos (root)",
                  findings);
  examine_reading(nic.loss.congestion, subject, "ECN of RoCE", "ECN of RoCE is off",
                  "congestion control (DCQCN) wants it: 1 into /sys/class/net/" + nic.place.nic +
                      "/ecn/roce_np/enable/PRIORITY and roce_rp (root)",
                  findings);
  examine_reading(nic.loss.dscp, subject, "DSCP to priority", "no DSCP goes to a priority",
                  "with traffic_class in drills the NIC and the switch must trust DSCP: `dcb app "
                  "add dev " +
                      nic.place.nic + " dscp-prio 26:3` or mlnx_qos --trust dscp (root)",
                  findings);
}

void examine_nic(const HostFacts& facts, const NicFacts& nic, std::vector<Finding>& findings) {
  const std::string subject = facts.host + " " + nic.place.nic;
  if (!nic.hardware)
    return findings.push_back({Health::good, subject, "no hardware behind it: near to all cores"});
  std::string where = "cores " + core_list_text(nic.place.near) + " are near it";
  if (nic.place.near.empty()) where = "the kernel does not say which cores are near it";
  if (nic.place.numa_node)
    where = "NUMA node " + std::to_string(*nic.place.numa_node) + ", " + where;
  findings.push_back({Health::good, subject, where});
  if (!nic.rdma_port.empty() && nic.ethernet) examine_loss(nic, subject, findings);
}

void examine_mtu(const plan::Nic& nic, const std::string& subject, std::vector<Finding>& findings) {
  const plan::RdmaPort& port = *nic.rdma;
  if (port.mtu == 0 || port.mtu >= 4096) return;
  const bool interface = port.ethernet && nic.mtu < kInterfaceMtuMin;
  findings.push_back(
      {Health::notable, subject, "path MTU " + std::to_string(port.mtu) + " B",
       interface ? "the interface has an MTU of " + std::to_string(nic.mtu) +
                       ": set it and the switches to 4200 or more for a path MTU of 4096 B"
                 : "the port's active MTU is below 4096 B: see the device's settings"});
}

}  // namespace

std::vector<Finding> examine(const HostFacts& facts) {
  std::vector<Finding> findings;
  examine_memory(facts, findings);
  examine_verbs(facts, findings);
  examine_clock(facts, findings);
  examine_cores(facts, findings);
  for (const NicFacts& nic : facts.nics) examine_nic(facts, nic, findings);
  return findings;
}

std::optional<plan::RdmaGid> examine_port(const plan::Nic& nic, const std::string& subject,
                                          std::vector<Finding>& findings) {
  if (!nic.rdma) {
    findings.push_back({Health::notable, subject, "no RDMA port: transport tcp only",
                        "if there should be one: is the driver loaded (`rdma link`), are "
                        "libibverbs1 and ibverbs-providers installed on the agent's host"});
    return std::nullopt;
  }
  const std::string port = nic.rdma->device + " port " + std::to_string(nic.rdma->port);
  const auto gid = plan::choose_gid(nic);
  if (!gid) {
    findings.push_back({Health::bad, subject, gid.error().text(),
                        "`rehearse explain` with the id says what to try; then start the agent "
                        "again"});
    return std::nullopt;
  }
  findings.push_back({Health::good, subject,
                      port + " active, GID " + gid->address + " (" +
                          std::string(to_string(gid->type)) + "): the one of its data address"});
  findings.push_back({Health::good, subject, rate_limit_of(*nic.rdma)});
  examine_mtu(nic, subject, findings);
  return *gid;
}

}  // namespace rehearsal::host

#include "core/plan/device_faults.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/plan/fault_places.hpp"

namespace rehearsal::plan {
namespace {

using fault::Kind;
using fault::Mechanism;
using fault::PlannedFault;

/// A limit is changed queue pair by queue pair, each by a command to the device.
constexpr Duration kTurnLeast = std::chrono::milliseconds{10};
/// What verbs counts in.
constexpr BitRate kRateLeast{1000};
constexpr std::size_t kCutsShownMax = 4;

std::vector<HostIndex> hosts_of(const PlannedFault& fault) {
  std::vector<HostIndex> hosts;
  for (const fault::Place& place : fault.places)
    if (std::ranges::find(hosts, place.host) == hosts.end()) hosts.push_back(place.host);
  return hosts;
}

std::vector<BitRate> parts(const PlannedFault& fault, const Nic& nic, std::uint64_t queue_pairs) {
  const BitRate whole = fault.what.of.bits_per_second() != 0 ? fault.what.of : nic.line_rate;
  std::vector<BitRate> rates;
  for (const fault::Level& level : fault.what.levels)
    rates.emplace_back(fault::part_of(whole.bits_per_second(), level.rate) / queue_pairs);
  return rates;
}

std::string share_text(const DeviceCut& cut, std::uint32_t queue_pairs, BitRate rate) {
  const std::uint64_t count = cut.connections.size() * std::uint64_t{queue_pairs};
  return format_bit_rate_exact(rate) + " for each of its " + std::to_string(count) +
         " queue pairs that send";
}

std::optional<DeviceRefusal> nic_cannot(const Plan& plan, const Inventory& host,
                                        const DeviceCut& cut) {
  const Nic& nic = host.nics[cut.nic.value];
  const std::string who = "host " + in_quotes(host.host) + ", NIC " + nic.name + ": ";
  const RdmaSettings& settings = plan.transport.rdma;
  if (!nic.rdma || !nic.rdma->rate_limits.any())
    return DeviceRefusal{"mechanism",
                         who + (nic.rdma ? nic.rdma->device : std::string("it")) +
                             " has no limit of its own for the rate of a queue pair (RC)",
                         "mechanism: sender, by which the agent holds its own messages back"};
  for (const BitRate rate : cut.rates) {
    if (!nic.rdma->rate_limits.allow(rate) || rate < kRateLeast)
      return DeviceRefusal{"what.to",
                           who + share_text(cut, settings.queue_pairs, rate) + " is left, and " +
                               nic.rdma->device + " limits one to " +
                               to_string(nic.rdma->rate_limits),
                           "levels (and of) that give each queue pair such a rate, or mechanism: "
                           "sender"};
    if (settings.rate_limit != BitRate{} && rate >= settings.rate_limit)
      return DeviceRefusal{"what.to",
                           who + share_text(cut, settings.queue_pairs, rate) +
                               " is no less than transport.rate_limit, " +
                               format_bit_rate_exact(settings.rate_limit),
                           "levels below what the drill allows anyway"};
  }
  return std::nullopt;
}

}  // namespace

std::vector<DeviceCut> device_cuts(const Plan& plan, const PlannedFault& fault, HostIndex host,
                                   const Connections& connections) {
  std::vector<DeviceCut> cuts;
  for (const auto* sending : {&connections.outgoing, &connections.background_outgoing}) {
    for (const ConnectionSpec& spec : *sending) {
      const auto means_it = [&](const fault::Place& place) {
        return concerns(plan, place, host, spec, true);
      };
      if (std::ranges::none_of(fault.places, means_it)) continue;
      auto cut = std::ranges::find(cuts, spec.nic, &DeviceCut::nic);
      if (cut == cuts.end()) cut = cuts.insert(cut, DeviceCut{.nic = spec.nic});
      cut->connections.push_back(spec.index);
    }
  }
  std::ranges::sort(cuts, {}, &DeviceCut::nic);
  for (DeviceCut& cut : cuts)
    cut.rates = parts(fault, plan.hosts[host.value].nics[cut.nic.value],
                      cut.connections.size() * plan.transport.rdma.queue_pairs);
  return cuts;
}

std::optional<DeviceRefusal> device_cannot(const Plan& plan, const PlannedFault& fault,
                                           HostIndex host, const Connections& connections) {
  if (plan.transport.kind != TransportKind::rdma)
    return DeviceRefusal{"mechanism",
                         "over " + std::string(to_string(plan.transport.kind)) +
                             " there are no queue pairs whose rate a device could limit",
                         "mechanism: sender, or transport rdma"};
  for (const fault::Place& place : fault.places)
    if (place.side != fault::Side::sent)
      return DeviceRefusal{"where.direction",
                           "a device limits what its queue pairs send, not what they receive",
                           "direction: sent, or mechanism: sender"};
  const fault::When& when = fault.when;
  if (when.on > Duration::zero() && std::min(when.on, when.off) < kTurnLeast)
    return DeviceRefusal{
        "when.repeat", "a device is told the limit of each queue pair each time",
        "on and off of at least " + format_duration_exact(kTurnLeast) + ", or mechanism: sender"};
  const Inventory& inventory = plan.hosts[host.value];
  const auto cuts = device_cuts(plan, fault, host, connections);
  if (cuts.empty())
    return DeviceRefusal{"where",
                         "host " + in_quotes(inventory.host) + " sends nothing over rdma there",
                         "a place that sends"};
  for (const DeviceCut& cut : cuts)
    if (auto refusal = nic_cannot(plan, inventory, cut)) return refusal;
  return std::nullopt;
}

std::optional<DeviceRefusal> devices_cannot(const Plan& plan, const PlannedFault& fault) {
  for (const HostIndex host : hosts_of(fault))
    if (auto refusal = device_cannot(plan, fault, host, connections_of(plan, host))) return refusal;
  return std::nullopt;
}

Result<void> give_to_devices(const Drill& drill, Plan& plan) {
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    PlannedFault& fault = plan.faults[i];
    const auto wanted = drill.faults[i].mechanism;
    const bool may =
        !wanted && fault.what.kind == Kind::rate && plan.transport.kind == TransportKind::rdma;
    if (wanted != Mechanism::device && !may) continue;
    const auto refusal = devices_cannot(plan, fault);
    if (!refusal) {
      fault.mechanism = Mechanism::device;
    } else if (wanted) {
      return fail(ErrorCode::unsupported, ErrorSource::config,
                  "faults[" + std::to_string(i) + "]." + refusal->key + ": " + refusal->what +
                      "; " + refusal->right);
    }
  }
  return {};
}

std::string device_text(const Plan& plan, const PlannedFault& fault) {
  if (fault.what.kind != Kind::rate || plan.transport.kind != TransportKind::rdma) return {};
  if (fault.mechanism != Mechanism::device) {
    const auto refusal = devices_cannot(plan, fault);
    return refusal ? "not the RDMA devices: " + refusal->what : std::string();
  }
  std::vector<std::string> shown;
  for (const HostIndex host : hosts_of(fault)) {
    const Inventory& inventory = plan.hosts[host.value];
    for (const DeviceCut& cut : device_cuts(plan, fault, host, connections_of(plan, host))) {
      std::vector<std::string> rates;
      for (const BitRate rate : cut.rates) rates.push_back(format_bit_rate_exact(rate));
      const std::size_t count = cut.connections.size() * plan.transport.rdma.queue_pairs;
      shown.push_back(inventory.host + " " + inventory.nics[cut.nic.value].name + ": " +
                      std::to_string(count) + " queue pairs at " +
                      joined(std::span<const std::string>(rates), kCutsShownMax) + " each");
    }
  }
  return joined(std::span<const std::string>(shown), kCutsShownMax);
}

}  // namespace rehearsal::plan

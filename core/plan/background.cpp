#include "core/plan/background.hpp"

#include <algorithm>
#include <map>

#include "core/base/check.hpp"
#include "core/plan/checks.hpp"

namespace rehearsal::plan {
namespace {

using fault::Kind;
using fault::Side;

// A connection's channel names the NICs at both of its ends.
constexpr std::uint32_t kNics = kInventoryNicsMax;
static_assert(kNics * kNics <= 1U << 16, "two NICs fit a channel");

bool is_host(const Plan& plan, Rank end) { return end.value < plan.hosts.size(); }

// Zero: as fast as it goes. Below a bit a second is no rate.
BitRate part(BitRate rate, std::uint32_t parts) {
  if (rate.bits_per_second() == 0) return rate;
  return BitRate{std::max<std::uint64_t>(rate.bits_per_second() / parts, 1)};
}

void add(std::optional<BitRate>& sum, BitRate rate) {
  if (rate.bits_per_second() == 0)
    sum.reset();
  else if (sum)
    sum = BitRate{sum->bits_per_second() + rate.bits_per_second()};
}

// The highest of a flow's levels.
BitRate rate_max(const Plan& plan, const BackgroundFlow& flow) {
  BitRate most;
  for (std::uint32_t level = 0; level < plan.faults[flow.fault].what.levels.size(); ++level)
    most = std::max(most, rate_of(plan, flow, level));
  return most;
}

}  // namespace

NicIndex same_rail(const Plan& plan, HostIndex other, NicIndex nic, HostIndex host) {
  const std::vector<Nic>& nics = plan.hosts[host.value].nics;
  CHECK(!nics.empty(), "hosts of a plan have data NICs");
  const auto found =
      std::ranges::find(nics, plan.hosts[other.value].nics[nic.value].name, &Nic::name);
  if (found != nics.end()) return NicIndex{static_cast<std::uint32_t>(found - nics.begin())};
  return NicIndex{nic.value % static_cast<std::uint32_t>(nics.size())};
}

BackgroundFlow flow_of(const Plan& plan, const fault::Place& place, Kind kind) {
  const Binding here{place.host, *place.nic};
  const Binding there{*place.peer, same_rail(plan, place.host, *place.nic, *place.peer)};
  BackgroundFlow flow;
  flow.source = place.side == Side::sent ? here : there;
  flow.destination = place.side == Side::sent ? there : here;
  flow.shared = kind == Kind::incast ? flow.source : here;
  return flow;
}

std::vector<BackgroundFlow> background_flows(const Plan& plan) {
  std::vector<BackgroundFlow> flows;
  for (std::uint32_t fault = 0; fault < plan.faults.size(); ++fault) {
    const fault::PlannedFault& planned = plan.faults[fault];
    if (!fault::makes_traffic(planned.what.kind)) continue;
    const std::size_t first = flows.size();
    using Shared = std::pair<std::pair<HostIndex, NicIndex>, Side>;
    std::map<Shared, std::uint32_t> sharers;
    const auto shared_of = [&](std::size_t at) {
      const Binding& shared = flows[first + at].shared;
      return Shared{{shared.host, shared.nic}, planned.places[at].side};
    };
    for (const fault::Place& place : planned.places) {
      flows.push_back(flow_of(plan, place, planned.what.kind));
      flows.back().fault = fault;
      ++sharers[shared_of(flows.size() - first - 1)];
    }
    for (std::size_t i = 0; i < planned.places.size(); ++i)
      flows[first + i].sharers = sharers[shared_of(i)];
  }
  return flows;
}

BitRate rate_of(const Plan& plan, const BackgroundFlow& flow, std::uint32_t level) {
  const fault::What& what = plan.faults[flow.fault].what;
  const fault::Level& at = what.levels[level];
  if (at.traffic.bits_per_second() != 0) return part(at.traffic, flow.sharers);
  if (at.rate.millionths == 0) return {};
  const Nic& nic = plan.hosts[flow.shared.host.value].nics[flow.shared.nic.value];
  const BitRate of = what.of.bits_per_second() != 0 ? what.of : nic.line_rate;
  const std::uint64_t bits = fault::part_of(of.bits_per_second(), at.rate);
  return part(BitRate{std::max<std::uint64_t>(bits, 1)}, flow.sharers);
}

ConnectionKey key_of(const BackgroundFlow& flow) {
  const std::uint32_t nics = flow.source.nic.value * kNics + flow.destination.nic.value;
  return {.job = JobIndex{flow.fault},
          .communicator = CommunicatorIndex{0},
          .source = Rank{flow.source.host.value},
          .destination = Rank{flow.destination.host.value},
          .channel = static_cast<std::uint16_t>(nics),
          .use = ConnectionUse::background};
}

std::optional<HostEnds> host_ends(const Plan& plan, const ConnectionKey& key) {
  if (key.use != ConnectionUse::background) {
    if (key.job.value >= plan.jobs.size()) return std::nullopt;
    const std::vector<Binding>& bindings = plan.jobs[key.job.value].bindings;
    if (key.source.value >= bindings.size() || key.destination.value >= bindings.size())
      return std::nullopt;
    return HostEnds{bindings[key.source.value].host, bindings[key.destination.value].host};
  }
  const bool of_fault = key.job.value < plan.faults.size() &&
                        fault::makes_traffic(plan.faults[key.job.value].what.kind);
  if (!of_fault || !is_host(plan, key.source) || !is_host(plan, key.destination))
    return std::nullopt;
  return HostEnds{HostIndex{key.source.value}, HostIndex{key.destination.value}};
}

void add_background(const Plan& plan, Load& load) {
  std::map<std::pair<HostIndex, NicIndex>, NicBackground> nics;
  const auto at = [&](const Binding& nic) -> NicBackground& {
    return nics.try_emplace({nic.host, nic.nic}, NicBackground{.host = nic.host, .nic = nic.nic})
        .first->second;
  };
  for (const BackgroundFlow& flow : background_flows(plan)) {
    const BitRate rate = rate_max(plan, flow);
    add(at(flow.source).sent, rate);
    add(at(flow.destination).received, rate);
    ++load.connections[flow.source.host.value].background;
    ++load.connections[flow.destination.host.value].background;
  }
  for (const auto& [nic, background] : nics) load.background.push_back(background);
}

}  // namespace rehearsal::plan

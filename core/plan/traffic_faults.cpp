#include "core/plan/traffic_faults.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/text.hpp"
#include "core/plan/background.hpp"

namespace rehearsal::plan {
namespace {

using fault::Kind;
using fault::Place;
using fault::Side;

Failure wrong(ErrorCode code, const std::string& path, const std::string& what,
              const std::string& right) {
  return fail(code, ErrorSource::config, path + ": " + what + "; " + right);
}

// NICs of a host that ranks are bound to.
std::set<NicIndex> used_nics(const Plan& plan, HostIndex host) {
  std::set<NicIndex> nics;
  for (const PlannedJob& job : plan.jobs)
    for (const Binding& binding : job.bindings)
      if (binding.host == host) nics.insert(binding.nic);
  return nics;
}

Result<std::vector<HostIndex>> peers_of(const Plan& plan, const fault::Fault& fault,
                                        const std::string& path) {
  std::vector<HostIndex> peers;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    const bool named = std::ranges::count(fault.where.peers, plan.hosts[host].host) != 0;
    if (named || fault.where.peers.empty()) peers.push_back(HostIndex{host});
  }
  for (const std::string& name : fault.where.peers) {
    if (std::ranges::find(plan.hosts, name, &Inventory::host) != plan.hosts.end()) continue;
    std::vector<std::string_view> known;
    for (const Inventory& host : plan.hosts) known.push_back(host.host);
    return wrong(ErrorCode::not_found, path + ".where.peers",
                 "host " + in_quotes(name) + " is not in this drill",
                 "traffic goes between hosts of the run only: " + joined(known));
  }
  return peers;
}

std::vector<Side> sides_of(const fault::Fault& fault) {
  if (fault.what.kind == Kind::incast) return {Side::received};
  if (fault.where.side == Side::both) return {Side::sent, Side::received};
  return {fault.where.side};
}

// Which flow a place is, whichever end it was aimed at.
auto ends_of(const Plan& plan, const Place& place) {
  const Binding here{place.host, *place.nic};
  const Binding there{*place.peer, same_rail(plan, place.host, *place.nic, *place.peer)};
  const Binding& source = place.side == Side::sent ? here : there;
  const Binding& destination = place.side == Side::sent ? there : here;
  return std::tuple{source.host, source.nic, destination.host, destination.nic};
}

}  // namespace

Result<std::vector<Place>> aim_traffic(const Plan& plan, const fault::Fault& fault,
                                       const std::vector<Place>& aims, const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<HostIndex> peers, peers_of(plan, fault, path));
  std::vector<Place> places;
  std::set<decltype(ends_of(plan, Place{}))> taken;
  for (const Place& aim : aims) {
    const std::set<NicIndex> nics = aim.nic ? std::set{*aim.nic} : used_nics(plan, aim.host);
    for (const NicIndex nic : nics) {
      for (const Side side : sides_of(fault)) {
        for (const HostIndex peer : peers) {
          if (peer == aim.host) continue;
          const Place place{.host = aim.host, .side = side, .nic = nic, .peer = peer};
          if (!taken.insert(ends_of(plan, place)).second) continue;
          places.push_back(place);
        }
      }
    }
    if (places.size() > kBackgroundFlowsMax)
      return wrong(ErrorCode::refused, path + ".where",
                   "more than " + std::to_string(kBackgroundFlowsMax) + " flows from NIC to NIC",
                   "fewer hosts or peers");
  }
  if (places.empty())
    return wrong(ErrorCode::invalid_input, path + ".where.peers",
                 "there is no other host to send to or from", "peers: other hosts of the drill");
  return places;
}

Result<void> check_traffic(const Plan& plan, const fault::PlannedFault& fault) {
  for (const Place& place : fault.places) {
    const bool whole = place.nic && place.peer && place.side != Side::both && !place.job &&
                       !place.rank && !place.communicator;
    if (!whole || *place.peer == place.host || plan.hosts[place.peer->value].nics.empty())
      return invalid("fault " + fault.name + ": a flow without two ends");
  }
  if (fault.places.size() > kBackgroundFlowsMax)
    return invalid("fault " + fault.name + ": too many flows");
  std::set<decltype(ends_of(plan, fault.places.front()))> taken;
  for (const Place& place : fault.places)
    if (!taken.insert(ends_of(plan, place)).second)
      return invalid("fault " + fault.name + ": a flow twice");
  return {};
}

Result<void> check_pace(const Plan& plan, const fault::PlannedFault& fault,
                        const std::string& path) {
  const bool shares = std::ranges::any_of(
      fault.what.levels, [](const fault::Level& level) { return level.rate.millionths != 0; });
  for (const Place& place : fault.places) {
    const BackgroundFlow flow = flow_of(plan, place, fault.what.kind);
    const Inventory& host = plan.hosts[flow.shared.host.value];
    const Nic& nic = host.nics[flow.shared.nic.value];
    if (shares && fault.what.of.bits_per_second() == 0 && nic.line_rate.bits_per_second() == 0)
      return wrong(
          ErrorCode::invalid_input, path + ".what.of",
          "the line rate of " + nic.name + " on host " + in_quotes(host.host) + " is not known",
          "of: the rate that the shares are of, like 100Gbit/s, or a rate without a share");
    if (!fault.job || !fault.when.iteration) continue;
    const auto& bindings = plan.jobs[fault.job->value].bindings;
    if (std::ranges::find(bindings, flow.source.host, &Binding::host) != bindings.end()) continue;
    return wrong(ErrorCode::invalid_input, path + ".when.iteration",
                 "host " + in_quotes(plan.hosts[flow.source.host.value].host) +
                     " is to send, but has no rank of job " +
                     in_quotes(plan.jobs[fault.job->value].name) + " and cannot know where that is",
                 "after: a time, or no job");
  }
  return {};
}

}  // namespace rehearsal::plan

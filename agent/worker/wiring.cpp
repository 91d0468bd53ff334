#include "agent/worker/wiring.hpp"

#include <utility>

#include "core/base/check.hpp"
#include "core/plan/background.hpp"

namespace rehearsal::agent {
namespace {

using RankTable = std::map<std::pair<JobIndex, Rank>, LocalRankIndex>;

LocalRankIndex local_rank_of(const RankTable& table, JobIndex job, Rank rank) {
  const auto found = table.find({job, rank});
  return found == table.end() ? kNoLocalRank : found->second;
}

}  // namespace

Wiring wire(const plan::Plan& plan, HostIndex host) {
  Wiring wiring;
  RankTable ranks;
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    const auto& bindings = plan.jobs[job].bindings;
    for (std::uint32_t rank = 0; rank < bindings.size(); ++rank) {
      if (bindings[rank].host != host) continue;
      ranks[{JobIndex{job}, Rank{rank}}] = static_cast<LocalRankIndex>(wiring.ranks.size());
      wiring.ranks.push_back({JobIndex{job}, Rank{rank}});
    }
  }
  wiring.connections = plan::connections_of(plan, host);
  const plan::Connections& all = wiring.connections;
  const auto add = [&](const std::vector<plan::ConnectionSpec>& specs, bool outgoing, bool local) {
    for (const plan::ConnectionSpec& spec : specs) {
      CHECK(spec.index.value == wiring.routes.size(), "connections are counted through");
      const auto ends = plan::host_ends(plan, spec.key);
      CHECK(ends.has_value(), "a connection of the plan");
      Route route{.spec = spec,
                  .outgoing = outgoing,
                  .local = local,
                  .peer = outgoing ? ends->destination : ends->source};
      route.background = spec.key.use == plan::ConnectionUse::background;
      if (!route.background) {
        route.source = local_rank_of(ranks, spec.key.job, spec.key.source);
        route.destination = local_rank_of(ranks, spec.key.job, spec.key.destination);
      }
      wiring.routes.push_back(route);
    }
  };
  add(all.outgoing, true, false);
  add(all.incoming, false, false);
  add(all.local, true, true);
  add(all.background_outgoing, true, false);
  add(all.background_incoming, false, false);
  for (const Route& route : wiring.routes) {
    if (route.local) continue;
    auto& by_key = route.outgoing ? wiring.outgoing_by_key : wiring.incoming_by_key;
    by_key[route.spec.key] = route.spec.index;
  }
  return wiring;
}

std::string Wiring::describe(const plan::Plan& plan, ConnectionIndex connection) const {
  const plan::ConnectionKey& key = routes[connection.value].spec.key;
  if (key.use == plan::ConnectionUse::background)
    return "background traffic of fault '" + plan.faults[key.job.value].name + "'";
  const plan::PlannedJob& job = plan.jobs[key.job.value];
  return "rank " + std::to_string(key.source.value) + " to rank " +
         std::to_string(key.destination.value) + " of job '" + job.name + "' (communicator '" +
         job.profile->communicators[key.communicator.value].name + "', channel " +
         std::to_string(key.channel) + ")";
}

}  // namespace rehearsal::agent

#include "agent/worker/wiring.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace rehearsal::agent {
namespace {

using SeatTable = std::map<std::pair<JobIndex, Rank>, SeatIndex>;

SeatIndex seat_of(const SeatTable& table, JobIndex job, Rank rank) {
  const auto found = table.find({job, rank});
  return found == table.end() ? kNoSeat : found->second;
}

HostIndex host_of(const plan::Plan& plan, JobIndex job, Rank rank) {
  return plan.jobs[job.value].bindings[rank.value].host;
}

}  // namespace

Wiring wire(const plan::Plan& plan, HostIndex host) {
  Wiring wiring;
  SeatTable seats;
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    const auto& bindings = plan.jobs[job].bindings;
    for (std::uint32_t rank = 0; rank < bindings.size(); ++rank) {
      if (bindings[rank].host != host) continue;
      seats[{JobIndex{job}, Rank{rank}}] = static_cast<SeatIndex>(wiring.seats.size());
      wiring.seats.push_back({JobIndex{job}, Rank{rank}});
    }
  }
  wiring.connections = plan::connections_of(plan, host);
  const auto add = [&](const std::vector<plan::ConnectionSpec>& specs, bool local) {
    for (const plan::ConnectionSpec& spec : specs) {
      CHECK(spec.index.value == wiring.routes.size(), "connections are counted through");
      const SeatIndex source = seat_of(seats, spec.key.job, spec.key.source);
      const Rank far = source == kNoSeat ? spec.key.source : spec.key.destination;
      wiring.routes.push_back({.spec = spec,
                               .local = local,
                               .source = source,
                               .destination = seat_of(seats, spec.key.job, spec.key.destination),
                               .peer = host_of(plan, spec.key.job, far)});
    }
  };
  add(wiring.connections.outgoing, false);
  add(wiring.connections.incoming, false);
  add(wiring.connections.local, true);
  for (const plan::ConnectionSpec& spec : wiring.connections.outgoing)
    wiring.outgoing_by_key[spec.key] = spec.index;
  for (const plan::ConnectionSpec& spec : wiring.connections.incoming)
    wiring.incoming_by_key[spec.key] = spec.index;
  return wiring;
}

std::string Wiring::describe(const plan::Plan& plan, ConnectionIndex connection) const {
  const plan::ConnectionKey& key = routes[connection.value].spec.key;
  const plan::PlannedJob& job = plan.jobs[key.job.value];
  return "rank " + std::to_string(key.source.value) + " to rank " +
         std::to_string(key.destination.value) + " of job '" + job.name + "' (communicator '" +
         job.profile->communicators[key.communicator.value].name + "', channel " +
         std::to_string(key.channel) + ")";
}

}  // namespace rehearsal::agent

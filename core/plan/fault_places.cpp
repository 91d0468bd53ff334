#include "core/plan/fault_places.hpp"

#include "core/base/check.hpp"
#include "core/plan/background.hpp"

namespace rehearsal::plan {

bool concerns(const Plan& plan, const fault::Place& place, HostIndex host,
              const ConnectionSpec& spec, bool out) {
  if (place.host != host) return false;
  if (place.side != fault::Side::both && (place.side == fault::Side::sent) != out) return false;
  if (place.nic && *place.nic != spec.nic) return false;
  const auto ends = host_ends(plan, spec.key);
  CHECK(ends.has_value(), "a connection of the plan");
  if (place.peer && *place.peer != (out ? ends->destination : ends->source)) return false;
  // What else passes the NIC is hit as well, but is of no job.
  if (spec.key.use == ConnectionUse::background)
    return !place.job && !place.communicator && !place.rank;
  if (place.job && *place.job != spec.key.job) return false;
  if (place.communicator && *place.communicator != spec.key.communicator) return false;
  const Rank ours = out ? spec.key.source : spec.key.destination;
  return !place.rank || *place.rank == ours;
}

}  // namespace rehearsal::plan

#include "core/report/found.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/text.hpp"
#include "core/plan/expectations.hpp"
#include "core/plan/plan_faults.hpp"

namespace rehearsal::report {
namespace {

using diagnosis::NicNumber;
using diagnosis::Suspect;
using fault::Place;
using fault::Side;

constexpr std::size_t kPlacesShownMax = 3;

struct NicAt {
  HostIndex host;
  NicIndex nic;
};

NicAt nic_at(const plan::Plan& plan, NicNumber number) {
  std::uint32_t host = 0;
  while (host + 1 < plan.hosts.size() && number >= plan.hosts[host].nics.size())
    number -= static_cast<NicNumber>(plan.hosts[host++].nics.size());
  return {HostIndex{host}, NicIndex{number}};
}

bool sends(const Place& place) { return place.side != Side::received; }
bool receives(const Place& place) { return place.side != Side::sent; }
bool is_at(const Place& place, const NicAt& nic) {
  return place.host == nic.host && (!place.nic || *place.nic == nic.nic);
}

bool names_link(const Place& place, const NicAt& from, const NicAt& to, bool ends_alike) {
  const auto is_peer = [&](const NicAt& end) { return !place.peer || *place.peer == end.host; };
  const bool here = (sends(place) && is_at(place, from) && is_peer(to)) ||
                    (receives(place) && is_at(place, to) && is_peer(from));
  // One of several flows of a NIC is not the NIC.
  return here && (place.peer || ends_alike);
}

bool names_computing(const Place& place, const Suspect& suspect) {
  if (place.host != suspect.host) return false;
  if (suspect.place == diagnosis::Place::host || !place.rank) return true;
  return *place.rank == suspect.rank && (!place.job || *place.job == suspect.job);
}

bool names_traffic(const plan::Plan& plan, const Place& place, const Suspect& suspect) {
  if (suspect.place == diagnosis::Place::link)
    return names_link(place, nic_at(plan, suspect.nic), nic_at(plan, suspect.destination),
                      suspect.ends_alike);
  if (place.peer) return false;
  switch (suspect.place) {
    case diagnosis::Place::nic_sending:
      return sends(place) && is_at(place, nic_at(plan, suspect.nic));
    case diagnosis::Place::nic_receiving:
      return receives(place) && is_at(place, nic_at(plan, suspect.nic));
    case diagnosis::Place::nic:
      return is_at(place, nic_at(plan, suspect.nic));
    case diagnosis::Place::host:
      return place.host == suspect.host &&
             (!place.nic || plan.hosts[place.host.value].nics.size() == 1);
    case diagnosis::Place::link:
    case diagnosis::Place::rank:
      return false;
  }
  return false;
}

std::string named_in_words(const plan::Plan& plan, const fault::PlannedFault& fault) {
  std::vector<std::string> places;
  for (const Place& place : fault.places) places.push_back(plan::describe(plan, place));
  return "The fault " + fault.name + " (" +
         joined(std::span<const std::string>(places), kPlacesShownMax) + ")";
}

std::string confidence_text(double confidence) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "confidence %.2f", confidence);
  return buffer.data();
}

}  // namespace

bool names(const plan::Plan& plan, const fault::PlannedFault& fault, const Suspect& suspect) {
  const bool computes = fault::is_of_compute(fault.what.kind);
  if (!plan::can_be_found(fault) || suspect.computing != computes) return false;
  return std::ranges::any_of(fault.places, [&](const Place& place) {
    return computes ? names_computing(place, suspect) : names_traffic(plan, place, suspect);
  });
}

void find_faults(const plan::Plan& plan, const std::optional<std::vector<Suspect>>& suspects,
                 const std::optional<std::vector<SuspectSummary>>& in_names,
                 std::vector<FaultSummary>& faults) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const fault::PlannedFault& fault = plan.faults[i];
    FaultSummary& summary = faults[i];
    const std::string which = named_in_words(plan, fault);
    if (!plan::can_be_found(fault) || summary.spells.empty() || !suspects) {
      summary.finding =
          which + " was not looked for: " +
          (!plan::can_be_found(fault)
               ? "a " + std::string(to_string(fault.what.kind)) + " is no suspect."
               : (summary.spells.empty() ? "it was never on." : "nothing was measured."));
      continue;
    }
    summary.found = Found::no;
    for (std::uint32_t s = 0; s < suspects->size() && summary.found == Found::no; ++s) {
      if (!names(plan, fault, (*suspects)[s])) continue;
      summary.found = Found::yes;
      summary.suspect = s;
      summary.confidence = (*suspects)[s].confidence;
      summary.finding =
          which + " is the suspect that was named, " + confidence_text(*summary.confidence) + ".";
    }
    if (summary.found == Found::yes) continue;
    summary.finding = which + " was not found: " +
                      (!in_names || in_names->empty()
                           ? "nobody was named."
                           : "the suspect is another, " + in_names->front().finding + ".");
  }
}

}  // namespace rehearsal::report

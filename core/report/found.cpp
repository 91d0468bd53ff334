#include "core/report/found.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/text.hpp"
#include "core/plan/background.hpp"
#include "core/plan/expectations.hpp"
#include "core/plan/plan_faults.hpp"
#include "core/report/observe.hpp"

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

// NICs that a flow of background traffic loads, one direction of each: where the fault is. An
// incast is where it arrives. Of other flows both ends are, unless the fault aims at one NIC many
// peers, which each bear little of it.
struct LoadedNics {
  std::vector<NicNumber> sending;
  std::vector<NicNumber> receiving;
  std::vector<std::pair<NicNumber, NicNumber>> flows;
};

LoadedNics loaded_by(const plan::Plan& plan, const fault::PlannedFault& fault) {
  LoadedNics loaded;
  for (const Place& place : fault.places) {
    const plan::BackgroundFlow flow = plan::flow_of(plan, place, fault.what.kind);
    const NicNumber source = nic_number(plan, flow.source.host, flow.source.nic);
    const NicNumber destination = nic_number(plan, flow.destination.host, flow.destination.nic);
    const bool one_peer =
        std::ranges::count_if(fault.places, [&](const Place& other) {
          return other.host == place.host && other.nic == place.nic && other.side == place.side;
        }) == 1;
    const bool incast = fault.what.kind == fault::Kind::incast;
    if (place.side == Side::sent || (one_peer && !incast)) loaded.sending.push_back(source);
    if (place.side == Side::received || one_peer) loaded.receiving.push_back(destination);
    loaded.flows.emplace_back(source, destination);
  }
  return loaded;
}

bool names_loaded(const plan::Plan& plan, const fault::PlannedFault& fault,
                  const Suspect& suspect) {
  const LoadedNics loaded = loaded_by(plan, fault);
  const auto sends = [&](NicNumber nic) { return std::ranges::count(loaded.sending, nic) != 0; };
  const auto receives = [&](NicNumber nic) {
    return std::ranges::count(loaded.receiving, nic) != 0;
  };
  switch (suspect.place) {
    case diagnosis::Place::nic_sending:
      return sends(suspect.nic);
    case diagnosis::Place::nic_receiving:
      return receives(suspect.nic);
    case diagnosis::Place::nic:
      return sends(suspect.nic) || receives(suspect.nic);
    case diagnosis::Place::link:
      if (suspect.ends_alike && (sends(suspect.nic) || receives(suspect.destination))) return true;
      return fault.places.size() == 1 &&
             loaded.flows.front() == std::pair{suspect.nic, suspect.destination};
    case diagnosis::Place::host: {
      const auto nics = static_cast<NicNumber>(plan.hosts[suspect.host.value].nics.size());
      const NicNumber first = nic_number(plan, suspect.host, NicIndex{0});
      for (NicNumber nic = first; nic < first + nics; ++nic)
        if (!sends(nic) && !receives(nic)) return false;
      return nics > 0;
    }
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

std::string why_not_looked_for(const fault::PlannedFault& fault, bool was_on) {
  if (fault.what.kind == fault::Kind::crash)
    return "it ends the run at once, so no time that was measured shows it.";
  if (fault.what.kind == fault::Kind::external)
    return "which place a command changes is for its arguments to say.";
  return was_on ? "nothing was measured." : "it was never on.";
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
  if (fault::makes_traffic(fault.what.kind)) return names_loaded(plan, fault, suspect);
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
          which + " was not looked for: " + why_not_looked_for(fault, !summary.spells.empty());
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

#include "core/report/suspects.hpp"

#include <array>
#include <cstdio>

#include "core/base/units.hpp"

namespace rehearsal::report {
namespace {

using diagnosis::NicNumber;
using diagnosis::Place;
using diagnosis::Suspect;

std::string decimal(const char* format, double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

struct NicName {
  std::string host;
  std::string nic;
  std::string text() const { return host + "/" + nic; }
};

NicName name_of(const plan::Plan& plan, NicNumber number) {
  for (const plan::Inventory& host : plan.hosts) {
    if (number < host.nics.size()) return {host.host, host.nics[number].name};
    number -= static_cast<NicNumber>(host.nics.size());
  }
  return {};
}

/// No rate is named: how long messages are under way, and are waited for, also depends on how many
/// queue. The evidence says what was measured.
std::string pace_of(const Suspect& suspect) {
  return suspect.against_itself ? "more slowly than in the rest of the run"
                                : "more slowly than its peers";
}

std::string finding_of(const Suspect& suspect, const SuspectSummary& named) {
  const std::string nic = named.host + "/" + named.nic;
  switch (suspect.place) {
    case Place::nic_sending:
      return nic + " sends " + pace_of(suspect);
    case Place::nic_receiving:
      return nic + " receives " + pace_of(suspect);
    case Place::nic:
      return nic + " sends and receives " + pace_of(suspect);
    case Place::link:
      return "the link from " + nic + " to " + named.peer_host + "/" + named.peer_nic +
             " carries traffic " + pace_of(suspect);
    case Place::host:
      if (!suspect.computing) return "all NICs of host " + named.host + " work " + pace_of(suspect);
      return "all ranks of host " + named.host + " compute " + format_duration(suspect.excess) +
             " longer than planned in an iteration";
    case Place::rank:
      return "rank " + std::to_string(suspect.rank.value) + " of job " + named.job + " on host " +
             named.host + " computes " + format_duration(suspect.excess) +
             " longer than planned in an iteration";
  }
  return "";
}

std::string evidence_of(const Suspect& suspect) {
  std::string text;
  if (suspect.computing) {
    text = "That is beyond what the other ranks take, ";
  } else {
    text = std::string(suspect.by_time_under_way ? "Its messages were under way for "
                                                 : "Receivers stood without its messages for ") +
           decimal(suspect.factor < 2 ? "%.2f" : "%.1f", suspect.factor) +
           " times as long as for the same bytes " +
           (suspect.against_itself ? "in the other iterations, " : "elsewhere, ");
  }
  text += "in " + std::to_string(suspect.windows) + " of " + std::to_string(suspect.windows_of) +
          (suspect.windows_of == 1 ? " part" : " parts") + " of the run";
  if (suspect.slow_part) text += " (those with slow iterations)";
  if (suspect.place == Place::link) {
    text += suspect.ends_alike
                ? "; neither end has another peer there, so sender, receiver and the way between "
                  "them look the same"
                : "; what its two ends exchange with others is not slow";
  }
  return text + ".";
}

SuspectSummary named(const plan::Plan& plan, const Suspect& suspect) {
  SuspectSummary result{.place = std::string(to_string(suspect.place)),
                        .factor = suspect.factor,
                        .confidence = suspect.confidence};
  if (suspect.place == Place::host || suspect.place == Place::rank) {
    result.host = plan.hosts[suspect.host.value].host;
  } else {
    const NicName nic = name_of(plan, suspect.nic);
    result.host = nic.host;
    result.nic = nic.nic;
  }
  if (suspect.place == Place::link) {
    const NicName peer = name_of(plan, suspect.destination);
    result.peer_host = peer.host;
    result.peer_nic = peer.nic;
  }
  if (suspect.place == Place::rank) {
    result.job = plan.jobs[suspect.job.value].name;
    result.rank = suspect.rank.value;
  }
  result.finding = finding_of(suspect, result);
  result.evidence = evidence_of(suspect);
  return result;
}

}  // namespace

std::optional<std::vector<Suspect>> suspects_of(const diagnosis::Observations& observations) {
  if (observations.windows.empty()) return std::nullopt;
  return diagnosis::find_suspects(observations);
}

std::optional<std::vector<SuspectSummary>> in_names(
    const plan::Plan& plan, const std::optional<std::vector<Suspect>>& suspects) {
  if (!suspects) return std::nullopt;
  std::vector<SuspectSummary> result;
  for (const Suspect& suspect : *suspects) result.push_back(named(plan, suspect));
  return result;
}

}  // namespace rehearsal::report

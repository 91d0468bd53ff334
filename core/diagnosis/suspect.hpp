#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/diagnosis/observations.hpp"

namespace rehearsal::diagnosis {

/// Where what is wrong seems to be.
enum class Place : std::uint8_t {
  nic_sending,    ///< all that leaves by the NIC is slow
  nic_receiving,  ///< all that arrives at the NIC is slow
  nic,            ///< both
  link,           ///< one flow from a NIC to another, or one of its ends if they have no other
  host,           ///< all NICs of the host, or all its ranks compute slowly
  rank,           ///< computes slowly
};
std::string_view to_string(Place place);
std::optional<Place> place_from(std::string_view name);

struct Suspect {
  Place place = Place::nic;
  NicNumber nic = 0;          ///< of the places of NICs; of a link the source
  NicNumber destination = 0;  ///< of a link
  HostIndex host = {};        ///< of a host; of a rank where it lives
  JobIndex job = {};          ///< of a rank
  Rank rank = {};
  bool computing = false;  ///< of a rank, or a host whose ranks compute slowly
  /// Of a link: its ends have no other peer by these NICs, so which of them it is cannot be seen.
  bool ends_alike = false;
  /// How many times as long as its peers it takes for the same bytes (or as planned, to compute).
  double factor = 1;
  double confidence = 0;         ///< 0 to 1
  Duration excess{0};            ///< computing: what it takes more in an iteration
  std::uint32_t windows = 0;     ///< of the run, in which it was seen …
  std::uint32_t windows_of = 0;  ///< … of so many that were looked at
  /// Only what was slower than the rest of the run was looked at.
  bool slow_part = false;
  /// `factor` is not to its peers but to itself in the rest of the run.
  bool against_itself = false;
  /// Seen by how long messages were under way, not by how long they were waited for.
  bool by_time_under_way = false;

  bool operator==(const Suspect&) const = default;
};

/// Below this confidence nobody is named.
inline constexpr double kConfidenceMin = 0.5;
/// A place that takes less than this many times what its peers take is not suspicious, unless it
/// took clearly less before or after.
inline constexpr double kFactorMin = 1.4;

/// Whom the measurements point at; empty: nobody. Ranks or hosts that compute slowly come first,
/// then at most one place of the network.
std::vector<Suspect> find_suspects(const Observations& observations);

}  // namespace rehearsal::diagnosis

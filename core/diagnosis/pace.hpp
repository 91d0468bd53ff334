#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/diagnosis/observations.hpp"

namespace rehearsal::diagnosis {

/// How long flows take for what they carry, made comparable: flows with small messages or through
/// busy NICs take longer for a byte without being slow. What a flow should take is
///   bytes + bytes_of_message × messages + share × (bytes of the busier of its two NICs − bytes)
/// in proportion; the two constants are those under which the flows of the run differ least. Flows
/// of a kind of at least three are then compared among themselves: how far a message has to queue
/// behind others of its NIC depends on the order in which an all_to_all serves its peers.
class PaceModel {
 public:
  PaceModel(const Observations& observations, std::span<const std::size_t> windows);

  /// Logarithm of (exposed time / what it should take), less what is usual for its kind; by
  /// flow. Nothing: the flow carried nothing, or was never waited for.
  std::vector<std::optional<double>> paces(const Observations& observations,
                                           std::span<const std::size_t> windows) const;

 private:
  double bytes_of_message_ = 0;
  double share_ = 0;
};

/// The value below which `share` of the values lie (nearest rank from below); values not empty.
double quantile(std::vector<double> values, double share);

}  // namespace rehearsal::diagnosis

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"

namespace rehearsal::importer {

/// Sorts traces by rank and checks that ranks 0 … count − 1 are there once each. `expected`: the
/// count if the capture tells it. `what` names the kind of trace in the error.
template <typename T>
Result<void> complete_ranks(std::vector<T>& traces, std::optional<std::uint32_t> expected,
                            std::string_view what) {
  std::stable_sort(traces.begin(), traces.end(),
                   [](const T& a, const T& b) { return a.rank < b.rank; });
  for (std::size_t i = 1; i < traces.size(); ++i) {
    if (traces[i].rank == traces[i - 1].rank) {
      return invalid("rank " + std::to_string(traces[i].rank.value) +
                     " is there twice: " + traces[i - 1].file + " and " + traces[i].file);
    }
  }
  const std::uint32_t count = expected.value_or(traces.empty() ? 0 : traces.back().rank.value + 1);
  std::string missing;
  std::uint32_t missing_count = 0;
  std::size_t next = 0;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (next < traces.size() && traces[next].rank.value == rank) {
      ++next;
    } else if (++missing_count <= 8) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (missing_count > 0) {
    return invalid(std::string(what) + " of rank " + missing + (missing_count > 8 ? ", …" : "") +
                   " missing; the job has " + std::to_string(count) + " ranks and all are needed");
  }
  if (next < traces.size()) {
    return invalid(traces[next].file + ": rank " + std::to_string(traces[next].rank.value) +
                   ", but the job has " + std::to_string(count) + " ranks");
  }
  return {};
}

}  // namespace rehearsal::importer

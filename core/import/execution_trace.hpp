#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/import/capture.hpp"

namespace rehearsal::importer {

/// What one rank's PyTorch execution trace (schema 1.0.1) says of its communication.
struct ExecutionTrace {
  /// A collective, or a wait for one: record_param_comms with seven or six inputs.
  struct Entry {
    std::int64_t sequence = 0;  ///< a wait has that of the collective it waits for
    std::optional<CapturedCollective> collective;  ///< none: a wait
    std::uint64_t group = 0;                       ///< process group, an id within the process
    std::uint64_t node = 0;                        ///< id in the file
  };

  std::string file;
  Rank rank;
  std::vector<Entry> entries;  ///< in the order they began
};

/// Whether these bytes look like an execution trace.
bool is_execution_trace(std::string_view content);

/// Errors name the file and the node.
Result<ExecutionTrace> read_execution_trace(std::string_view file, std::string_view json);

}  // namespace rehearsal::importer

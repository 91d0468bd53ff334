#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/exit_code.hpp"
#include "core/base/result.hpp"

namespace rehearsal::cli {

struct DrillFile;
class Interrupts;

struct RunOptions {
  std::string coordinator;
  /// Where the files of the run go; none: runs/<run id>.
  std::optional<std::filesystem::path> out;
  /// Refuse a plan whose hash does not begin with these digits (parse_plan_hash()); empty: any.
  std::string plan_hash;
};

/// Has a drill run from beginning to end: uploads, starts, shows progress on stderr, takes the
/// files, prints the table on stdout. An interrupt stops the run and still takes the partial
/// report; a second one ends the process. The verdict's code, or why there is none.
Result<ExitCode> run_drill(const DrillFile& drill, const RunOptions& options,
                           Interrupts& interrupts);

}  // namespace rehearsal::cli

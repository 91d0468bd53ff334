#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace rehearsal::agent {

struct CommandOptions {
  std::filesystem::path program;       ///< absolute
  std::string name = {};               ///< that it is told as its own; empty: `program`
  std::vector<std::string> arguments;  ///< after the program's name
  Duration limit{};                    ///< then its processes are killed
  /// An empty file that is its standard input, and its descriptor 3. It is locked for as long as
  /// any process has it open, so that whoever comes later sees what is left; one that closed both
  /// is not seen.
  std::filesystem::path input;
};

struct CommandResult {
  int exit_code = 0;   ///< 128 and its number for a signal
  std::string output;  ///< its standard output, the first kOutputBytesMax
  std::string errors;  ///< its standard error, likewise
};

inline constexpr std::size_t kOutputBytesMax = 4096;

/// Runs a program to its end, without a shell: its arguments as they are, nothing of our
/// environment, no descriptor of ours, a process group of its own, "/" as its folder, our user.
/// When it returns, no process of the group is left; in a process that is a subreaper (prctl(2))
/// none at all that this user may kill, and no other child of this process. timed_out: it was
/// killed at its limit. Refused: a process of an earlier command still has the input open, also one
/// of an earlier runner. If this process dies, it is killed. SIGCHLD must not be ignored.
Result<CommandResult> run_command(const CommandOptions& options);

}  // namespace rehearsal::agent

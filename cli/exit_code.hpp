#pragma once

#include "core/base/result.hpp"

namespace rehearsal::cli {

/// What `rehearse` returns to its caller; part of the interface (docs/operations.md).
enum class ExitCode : int {
  pass = 0,
  warn = 1,
  fail = 2,     ///< shortfall, expectation missed
  unknown = 3,  ///< a lost agent or coordinator, a timeout, a refusal: nothing was found out
  usage = 64,   ///< what was given (options, a drill, a profile) is wrong
  data = 65,    ///< a capture that cannot be imported
};

/// The code of a command that ended with `error`: wrong input is `usage`, all else `unknown`.
ExitCode exit_code_of(const Error& error);

/// The code as it came over the wire; what is not 0 to 3 counts as unknown.
ExitCode exit_code_of_number(unsigned number);

/// Prints "rehearse: <error>" as one line on stderr; returns the code for it.
ExitCode report_error(const Error& error);

}  // namespace rehearsal::cli

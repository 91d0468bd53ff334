#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.hpp"

namespace rehearsal::cli {

// What `rehearse profile` does; each prints to stdout and stderr. `usage` for a file that is not
// there or a profile that cannot be shown, `unknown` when the host said no (a file that cannot be
// written).

/// Imports the captures in these files and folders (their *.json, *.et and the same with .gz; not
/// deeper) into one profile, written to `output` whole or not at all. Its name is that of the file
/// without ending. `data` for captures that cannot be imported.
ExitCode profile_import(const std::vector<std::string>& folders_or_files,
                        const std::string& output);

/// Prints a profile of either form as tables, or as JSON.
ExitCode profile_show(const std::string& file, bool json);

/// Says all that is wrong with a profile of either form, or its identity. `fail` for an invalid
/// one.
ExitCode profile_verify(const std::string& file);

}  // namespace rehearsal::cli

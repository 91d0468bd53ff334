#pragma once

#include <string>
#include <vector>

namespace rehearsal::cli {

// What `rehearse profile` does; each prints to stdout and stderr and returns the exit code: 0 done,
// 2 the profile is invalid, 3 the host said no (a file that cannot be written), 64 wrong usage (no
// such file), 65 bad input data (a capture that cannot be imported).

/// Imports the captures in these files and folders (their *.json, *.et and the same with .gz; not
/// deeper) into one profile, written to `output` whole or not at all. Its name is that of the file
/// without ending.
int profile_import(const std::vector<std::string>& folders_or_files, const std::string& output);

/// Prints a profile of either form as tables, or as JSON.
int profile_show(const std::string& file, bool json);

/// Says all that is wrong with a profile of either form, or its identity.
int profile_verify(const std::string& file);

}  // namespace rehearsal::cli

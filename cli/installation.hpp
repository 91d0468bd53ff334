#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace rehearsal::cli {

/// The folder that this program lies in.
std::filesystem::path program_folder();

/// `name` ("rehearsald") beside this program, or an error that says what to build or install.
Result<std::filesystem::path> sibling_program(const std::string& name);

/// Folders where shipped profiles may be, those that exist: share/rehearsal/profiles of the
/// installation, `profiles` of the source tree that this program was built in.
std::vector<std::filesystem::path> shipped_profile_folders(const std::filesystem::path& programs);

/// The file of the profile that a drill calls `name`: a file beside the drill (or at a path from
/// there), else a shipped profile; the ending may be left out.
Result<std::filesystem::path> find_profile(const std::string& name,
                                           const std::filesystem::path& drill_folder,
                                           const std::vector<std::filesystem::path>& shipped);

}  // namespace rehearsal::cli

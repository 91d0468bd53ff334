#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::profile {

/// The text form (YAML, docs/profile-format.md), for what people write. from_text reads it back to
/// an equal profile, as long as that is valid and the text within 1 MiB.
std::string to_text(const Profile& profile);

/// Reads the text form. Unknown and double keys, bare numbers where a unit belongs and names that
/// lead nowhere are refused: "file:line:column: key: what is wrong; what would be right". What only
/// shows between ranks is not checked here: see problems().
Result<Profile> from_text(std::string_view text, std::string file_name);

}  // namespace rehearsal::profile

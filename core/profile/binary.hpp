#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::profile {

/// The binary form: magic, version, provenance, content, sha256 of all before.
/// docs/profile-format.md has the layout. The same profile always gives the same bytes.
std::string to_binary(const Profile& profile);

/// Reads the binary form. Whatever is wrong (truncated, damaged, over a cap, an unknown version) is
/// an error that names the byte. The profile is well formed but not yet checked: see problems().
Result<Profile> from_binary(std::string_view bytes);

/// Whether these bytes claim to be the binary form.
bool is_binary(std::string_view bytes);

}  // namespace rehearsal::profile

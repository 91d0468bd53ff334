#pragma once

#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::profile {

/// Reads either form. `file_name` is for messages. Not yet checked: see problems().
Result<Profile> read(std::string_view bytes, std::string file_name);

/// read(), and refuses what problems() finds: the first of them is the error.
Result<Profile> load_profile(std::string_view bytes, std::string file_name);

}  // namespace rehearsal::profile

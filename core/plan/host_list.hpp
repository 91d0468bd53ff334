#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace rehearsal::plan {

/// "host7" → host7; "host[0-3,8]" → host0 … host3, host8; "n[01-10].rack2" keeps leading zeros.
/// One pair of brackets, kHostsMax names at most. Whether they are good names is checked elsewhere.
Result<std::vector<std::string>> expand_host_list(std::string_view text);

}  // namespace rehearsal::plan

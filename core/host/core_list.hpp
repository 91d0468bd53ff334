#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace rehearsal::host {

/// Cores that a host may have at most; what names a higher one is refused.
inline constexpr std::uint32_t kCoresMax = 4096;

/// Numbers of cores, ascending, each once.
using Cores = std::vector<std::uint32_t>;

/// Reads a list as the kernel writes it ("0-3,8,10-11"; empty: none).
Result<Cores> parse_core_list(std::string_view text);
/// Writes one so; "none" where there is none.
std::string core_list_text(const Cores& cores);

/// Those that are in both.
Cores common_cores(const Cores& one, const Cores& other);

}  // namespace rehearsal::host

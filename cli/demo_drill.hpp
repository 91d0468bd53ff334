#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rehearsal::cli {

/// The drill that `rehearse demo` runs: one job with `profile` (a shipped one's name, or a file) on
/// all `hosts`. The job is named after the profile.
std::string demo_drill(const std::string& profile, std::uint32_t iterations,
                       const std::vector<std::string>& hosts);

}  // namespace rehearsal::cli

#pragma once

namespace rehearsal::cli {

/// Name and version of this program, as it introduces itself.
inline constexpr const char* kSoftware = "rehearse " REHEARSAL_VERSION;

}  // namespace rehearsal::cli

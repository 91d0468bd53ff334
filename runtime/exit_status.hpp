#pragma once

namespace rehearsal::runtime {

/// How a daemon ends (sysexits.h where there is a word for it).
inline constexpr int kExitOk = 0;            ///< after a signal that asked for it
inline constexpr int kExitUsage = 64;        ///< flags or configuration file
inline constexpr int kExitUnavailable = 69;  ///< an address, folder or device cannot be had

}  // namespace rehearsal::runtime

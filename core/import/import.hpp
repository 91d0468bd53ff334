#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/import/capture.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::importer {

/// What the importer is called in provenance. The number counts up when its rules of inference
/// change.
inline constexpr const char* kImporter = "rehearsal importer 1";

/// Turns the files of one captured job into its profile, named `name`. Files may come in any order,
/// gzip or plain, one or two a rank: Kineto traces give times, execution traces the splits; or
/// Chakra traces. Missing, double or contradicting ranks are refused by name. The result is valid
/// (profile::problems is empty).
Result<profile::Profile> import_capture(std::vector<CaptureFile> files, std::string name);

}  // namespace rehearsal::importer

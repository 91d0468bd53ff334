#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/installation.hpp"
#include "core/base/result.hpp"

namespace rehearsal::cli {

/// A drill that comes with the program.
struct ShippedDrill {
  std::string name;   ///< of its file, without ending
  std::string about;  ///< the first sentence of the comment at its beginning
  std::string text;

  bool operator==(const ShippedDrill&) const = default;
};

/// Where they are: beside an installed program, or in the source tree of a built one.
std::vector<std::filesystem::path> shipped_drill_folders(const std::filesystem::path& programs);

/// All of them, by name; the first folder that has one of a name counts.
Result<std::vector<ShippedDrill>> shipped_drills(const std::vector<std::filesystem::path>& folders);

/// The text of the one with this name; not_found names those there are.
Result<std::string> text_of(const std::vector<ShippedDrill>& drills, const std::string& name);

/// A line each: name, and what it is about.
std::string list_text(const std::vector<ShippedDrill>& drills);

}  // namespace rehearsal::cli

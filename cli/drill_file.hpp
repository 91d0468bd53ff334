#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/fabric/node.hpp"
#include "core/plan/drill.hpp"
#include "core/profile/profile.hpp"

namespace rehearsal::cli {

class OperatorSession;

/// A profile that a drill names, ready to be sent.
struct NamedProfile {
  std::string name;    ///< as in the drill
  std::string binary;  ///< its binary form
  std::shared_ptr<const profile::Profile> profile;
  std::uint32_t ranks = 0;
};

/// A description of a node that a drill names.
struct NamedNode {
  std::string name;  ///< as in the drill
  std::string text;  ///< of the file
  fabric::Node node;
};

/// A drill with all that the coordinator needs to plan it.
struct DrillFile {
  std::string name;  ///< of the file, for messages
  std::string text;
  plan::Drill drill;
  std::vector<NamedProfile> profiles;  ///< each once
  std::vector<NamedNode> nodes;        ///< those that are files, each once
};

/// Reads the drill at `path`, and the profiles and nodes it names. What is wrong in either is an
/// error with file and line (or record), and what would be right.
Result<DrillFile> load_drill(const std::filesystem::path& path);

/// The same for a drill that is no file: profiles are looked for among the shipped ones.
Result<DrillFile> load_drill_text(std::string text, std::string name,
                                  const std::filesystem::path& folder);

/// Sends the profiles to the coordinator, which keeps them for the session.
Result<void> upload_profiles(OperatorSession& session, const DrillFile& drill);

}  // namespace rehearsal::cli

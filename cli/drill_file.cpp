#include "cli/drill_file.hpp"

#include <algorithm>
#include <optional>

#include "cli/installation.hpp"
#include "cli/operator_session.hpp"
#include "core/base/text.hpp"
#include "core/fabric/read.hpp"
#include "core/plan/drill_text.hpp"
#include "core/profile/binary.hpp"
#include "core/profile/read.hpp"
#include "core/protocol/parts.hpp"
#include "core/yaml/yaml.hpp"
#include "runtime/files.hpp"

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kProfileBytesMax{256U << 20};
constexpr Duration kStoreLimit = std::chrono::seconds{30};

Result<NamedProfile> load_profile(const std::string& name, const fs::path& folder) {
  ASSIGN_OR_RETURN(const fs::path path,
                   find_profile(name, folder, shipped_profile_folders(program_folder())));
  ASSIGN_OR_RETURN(const std::string bytes, runtime::read_file(path, kProfileBytesMax));
  ASSIGN_OR_RETURN(profile::Profile profile, profile::load_profile(bytes, path.string()));
  auto shared = std::make_shared<const profile::Profile>(std::move(profile));
  return NamedProfile{name, profile::to_binary(*shared), shared, shared->ranks};
}

/// Nothing for a usual node.
Result<std::optional<NamedNode>> load_node(const std::string& name, const fs::path& folder) {
  const fs::path path = folder / name;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    if (fabric::usual_node(name)) return std::nullopt;
    return fail(ErrorCode::not_found, ErrorSource::config,
                "no node " + in_quotes(name) + ": there is no file " + path.string() +
                    ", and the usual nodes are " + joined(fabric::usual_nodes()));
  }
  ASSIGN_OR_RETURN(std::string text, runtime::read_file(path, Bytes{fabric::kNodeBytesMax}));
  ASSIGN_OR_RETURN(fabric::Node node, fabric::read_node(text, path.string()));
  return NamedNode{name, std::move(text), std::move(node)};
}

/// What every job names, once.
template <typename Named>
bool has(const std::vector<Named>& list, const std::string& name) {
  return std::ranges::any_of(list, [&](const Named& named) { return named.name == name; });
}

}  // namespace

Result<DrillFile> load_drill_text(std::string text, std::string name, const fs::path& folder) {
  DrillFile file{std::move(name), std::move(text), {}, {}, {}};
  ASSIGN_OR_RETURN(file.drill, plan::parse_drill(file.text, file.name));
  for (const plan::DrillJob& job : file.drill.jobs) {
    const std::string place = file.name + ": job '" + job.name + "'";
    if (!job.node.empty() && !has(file.nodes, job.node)) {
      auto node = load_node(job.node, folder);
      if (!node) return Failure{node.error().within(place)};
      if (*node) file.nodes.push_back(std::move(**node));
    }
    if (has(file.profiles, job.profile)) continue;
    auto loaded = load_profile(job.profile, folder);
    if (!loaded) return Failure{loaded.error().within(place)};
    file.profiles.push_back(std::move(*loaded));
  }
  return file;
}

Result<DrillFile> load_drill(const fs::path& path) {
  ASSIGN_OR_RETURN(std::string text, runtime::read_file(path, Bytes{yaml::kDocumentBytesMax}));
  return load_drill_text(std::move(text), path.string(), path.parent_path());
}

Result<void> upload_profiles(OperatorSession& session, const DrillFile& drill) {
  for (const NamedProfile& profile : drill.profiles) {
    for (const protocol::Part& part : protocol::parts_of(profile.binary)) {
      protocol::Envelope message;
      protocol::ProfilePart& piece = *message.mutable_profile_part();
      piece.set_name(profile.name);
      piece.set_size(part.size);
      piece.set_offset(part.offset);
      piece.set_part(part.bytes.data(), part.bytes.size());
      RETURN_IF_ERROR(session.send(message));
    }
    RETURN_IF_ERROR(session.expect(protocol::Envelope::kProfileStored, kStoreLimit,
                                   "that it has stored profile '" + profile.name + "'"));
  }
  return {};
}

}  // namespace rehearsal::cli

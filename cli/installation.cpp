#include "cli/installation.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kEndings{"", ".profile", ".yaml", ".yml"};

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// Names of the profiles in these folders, for an error message.
std::string names_in(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, error}) {
      const bool is_profile = std::find(kEndings.begin() + 1, kEndings.end(),
                                        entry.path().extension().string()) != kEndings.end();
      if (is_profile) names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

Result<fs::path> sibling_program(const std::string& name) {
  const fs::path path = program_folder() / name;
  if (access(path.c_str(), X_OK) == 0) return path;
  return fail(ErrorCode::not_found, ErrorSource::host,
              name + " is not beside rehearse (" + path.string() +
                  "): build or install all three programs into one folder");
}

std::vector<fs::path> shipped_profile_folders(const fs::path& programs) {
  std::vector<fs::path> folders;
  for (const char* relative : {"../share/rehearsal/profiles", "../../../profiles"}) {
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(programs / relative, error);
    if (!error && fs::is_directory(folder, error)) folders.push_back(folder);
  }
  return folders;
}

Result<fs::path> find_profile(const std::string& name, const fs::path& drill_folder,
                              const std::vector<fs::path>& shipped) {
  std::vector<fs::path> folders{drill_folder};
  // A path is meant from the drill; a bare name may also be that of a shipped profile.
  if (name.find('/') == std::string::npos)
    folders.insert(folders.end(), shipped.begin(), shipped.end());
  for (const fs::path& folder : folders)
    for (const std::string_view ending : kEndings)
      if (const fs::path path = folder / (name + std::string{ending}); is_file(path)) return path;
  return fail(ErrorCode::not_found, ErrorSource::config,
              "profile '" + name + "': no such file beside the drill (" +
                  (drill_folder.empty() ? "." : drill_folder.string()) +
                  ") and no shipped profile; shipped: " + names_in(shipped));
}

}  // namespace rehearsal::cli

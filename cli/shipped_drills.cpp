#include "cli/shipped_drills.hpp"

#include <algorithm>
#include <sstream>
#include <system_error>

#include "core/base/table.hpp"
#include "core/base/text.hpp"
#include "core/yaml/yaml.hpp"
#include "runtime/files.hpp"

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;

// "# A NIC loses lanes: half of its rate.\n# More." → "A NIC loses lanes: half of its rate".
std::string first_sentence(const std::string& text) {
  std::string sentence;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with("# ");) {
    if (!sentence.empty()) sentence += " ";
    sentence += line.substr(2);
    const std::size_t end = (sentence + " ").find(". ");
    if (end != std::string::npos) return sentence.substr(0, end);
  }
  return sentence;
}

}  // namespace

std::vector<fs::path> shipped_drill_folders(const fs::path& programs) {
  std::vector<fs::path> folders;
  for (const char* relative : {"../share/rehearsal/drills", "../../../drills"}) {
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(programs / relative, error);
    if (!error && fs::is_directory(folder, error)) folders.push_back(folder);
  }
  return folders;
}

Result<std::vector<ShippedDrill>> shipped_drills(const std::vector<fs::path>& folders) {
  std::vector<ShippedDrill> drills;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, error}) {
      if (entry.path().extension() != ".yaml") continue;
      ShippedDrill drill{.name = entry.path().stem().string(), .about = {}, .text = {}};
      if (std::ranges::count(drills, drill.name, &ShippedDrill::name) != 0) continue;
      ASSIGN_OR_RETURN(drill.text,
                       runtime::read_file(entry.path(), Bytes{yaml::kDocumentBytesMax}));
      drill.about = first_sentence(drill.text);
      drills.push_back(std::move(drill));
    }
  }
  std::ranges::sort(drills, {}, &ShippedDrill::name);
  return drills;
}

Result<std::string> text_of(const std::vector<ShippedDrill>& drills, const std::string& name) {
  std::vector<std::string_view> names;
  for (const ShippedDrill& drill : drills) {
    if (drill.name == name) return drill.text;
    names.push_back(drill.name);
  }
  const std::string_view meant = closest(name, names);
  return fail(ErrorCode::not_found, ErrorSource::config,
              "no shipped drill is named " + in_quotes(name) + "; " +
                  (meant.empty() ? "" : "did you mean '" + std::string(meant) + "'? ") +
                  (names.empty() ? "none is here" : "there are " + joined(names)));
}

std::string list_text(const std::vector<ShippedDrill>& drills) {
  Table table({{"drill"}, {"what happens"}});
  for (const ShippedDrill& drill : drills) table.add({drill.name, drill.about});
  return table.text();
}

}  // namespace rehearsal::cli

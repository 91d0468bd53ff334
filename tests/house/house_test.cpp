// The rules of the house (docs/architecture.md, CONTRIBUTING.md), kept by a test.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace rehearsal {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = REHEARSAL_SOURCE_DIR;

struct Include {
  fs::path file;  ///< relative to the root
  int line;
  std::string target;  ///< what stands between the quotes or angle brackets
};

std::vector<fs::path> sources_below(const std::string& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(kRoot / folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const std::string extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".cpp" || extension == ".hpp")) {
      files.push_back(fs::relative(entry.path(), kRoot));
    }
  }
  return files;
}

std::vector<Include> includes_below(const std::string& folder) {
  static const std::regex kInclude(R"(^\s*#include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const fs::path& file : sources_below(folder)) {
    std::ifstream stream(kRoot / file);
    std::string text;
    for (int line = 1; std::getline(stream, text); ++line) {
      std::smatch match;
      if (std::regex_search(text, match, kInclude)) includes.push_back({file, line, match[1]});
    }
  }
  return includes;
}

std::string place(const Include& include) {
  return include.file.string() + ":" + std::to_string(include.line) + ": <" + include.target + ">";
}

std::string room_of(const fs::path& path) {
  auto part = path.begin();
  const std::string house = part->string();
  if (house != "core") return house;
  return (++part)->string();
}

// Who may look at whom.
const std::map<std::string, std::set<std::string>> kSees = {
    {"base", {}},
    {"yaml", {"base"}},
    {"fault", {"base", "yaml"}},
    {"profile", {"base", "yaml"}},
    {"import", {"base", "profile"}},
    {"collective", {"base", "profile"}},
    {"fabric", {"base", "yaml"}},
    {"plan", {"base", "yaml", "profile", "collective", "fabric", "fault"}},
    {"host", {"base", "plan"}},
    {"measure", {"base", "profile", "collective"}},
    {"diagnosis", {"base"}},
    {"report", {"base", "profile", "collective", "fault", "plan", "measure", "diagnosis"}},
    {"replay", {"base", "profile", "collective", "fault", "plan", "measure"}},
    {"protocol", {"base"}},
    {"coordination",
     {"base", "profile", "collective", "fabric", "fault", "plan", "host", "measure", "diagnosis",
      "report", "replay", "protocol"}},
};

TEST(House, RoomsOfCoreSeeOnlyWhatTheyMay) {
  const std::vector<Include> includes = includes_below("core");
  ASSERT_FALSE(includes.empty());
  for (const Include& include : includes) {
    const std::string room = room_of(include.file);
    if (room == "simulation") continue;  // sees all of core
    ASSERT_TRUE(kSees.contains(room)) << "core/" << room << " has no row in this test";
    if (!include.target.starts_with("core/")) continue;
    const std::string target = room_of(include.target);
    EXPECT_TRUE(target == room || kSees.at(room).contains(target)) << place(include);
  }
}

TEST(House, CoreHasNoSocketFileClockThreadOrLog) {
  static const std::regex kHands(
      R"(^(thread|mutex|shared_mutex|condition_variable|future|atomic|semaphore|fstream|iostream|filesystem|unistd\.h|fcntl\.h|pthread\.h|time\.h|ctime|sys/.*|netinet/.*|arpa/.*|asio.*|spdlog/.*|prometheus/.*)$)");
  for (const Include& include : includes_below("core")) {
    EXPECT_FALSE(std::regex_match(include.target, kHands)) << place(include);
  }
}

TEST(House, ProgramsNeverSeeOneAnother) {
  const std::set<std::string> programs = {"daemon", "agent", "cli"};
  for (const std::string house : {"core", "runtime", "daemon", "agent", "cli"}) {
    for (const Include& include : includes_below(house)) {
      const std::string target = fs::path(include.target).begin()->string();
      EXPECT_FALSE(programs.contains(target) && target != house) << place(include);
      EXPECT_FALSE(house == "core" && target == "runtime") << place(include);
    }
  }
}

TEST(House, NobodyRunsAShell) {
  static const std::regex kShell(R"((^|[^\w.>:])(::|std::)?(system|popen)\s*\()");
  for (const std::string house : {"core", "runtime", "daemon", "agent", "cli"}) {
    for (const fs::path& file : sources_below(house)) {
      std::ifstream stream(kRoot / file);
      std::string text;
      for (int line = 1; std::getline(stream, text); ++line) {
        text.resize(std::min(text.find("//"), text.size()));  // comments may use the words
        EXPECT_FALSE(std::regex_search(text, kShell)) << file << ":" << line << ": " << text;
      }
    }
  }
}

TEST(House, FilesStaySmallEnoughToRead) {
  for (const std::string house : {"core", "runtime", "daemon", "agent", "cli", "tests"}) {
    for (const fs::path& file : sources_below(house)) {
      std::ifstream stream(kRoot / file);
      const auto lines = std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
      EXPECT_LE(lines, 600) << file << " would read better as two files";
    }
  }
}

}  // namespace
}  // namespace rehearsal

#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace rehearsal::test {

/// The text of docs/<file> under the heading `## <heading>`, up to the next heading of that level.
inline std::string documented(const std::string& file, const std::string& heading) {
  std::ifstream stream(std::filesystem::path(REHEARSAL_SOURCE_DIR) / "docs" / file);
  std::ostringstream whole;
  whole << stream.rdbuf();
  const std::string text = whole.str();
  const std::string line = "\n## " + heading + "\n";
  const std::size_t begin = text.find(line);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + line.size();
  const std::size_t next = text.find("\n## ", from);
  return text.substr(from, next == std::string::npos ? std::string::npos : next - from);
}

/// The names of metrics in Prometheus' text format.
inline std::string metric_names(const std::string& exported) {
  std::istringstream lines(exported);
  std::string names;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# TYPE ")) continue;
    names += line.substr(7) + "\n";
  }
  return names;
}

}  // namespace rehearsal::test

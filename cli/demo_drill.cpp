#include "cli/demo_drill.hpp"

#include <algorithm>
#include <filesystem>

namespace rehearsal::cli {
namespace {

constexpr std::size_t kNameMax = 64;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// The profile's name without folder and ending, with '-' for what a job's name may not have.
std::string job_name(const std::string& profile) {
  const std::filesystem::path file = std::filesystem::path{profile}.filename();
  const std::string ending = file.extension().string();
  const bool is_ending = ending == ".profile" || ending == ".yaml" || ending == ".yml";
  std::string name = is_ending ? file.stem().string() : file.string();
  for (char& c : name)
    if (!is_letter_or_digit(c) && c != '.' && c != '_') c = '-';
  name.erase(name.begin(), std::find_if(name.begin(), name.end(), is_letter_or_digit));
  return name.empty() ? "demo" : name.substr(0, kNameMax);
}

/// As YAML text in single quotes, in which only these mean something.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string{c};
  return result + "'";
}

}  // namespace

std::string demo_drill(const std::string& profile, std::uint32_t iterations,
                       const std::vector<std::string>& hosts) {
  std::string text = "drill: demo\niterations: " + std::to_string(iterations) +
                     "\ntransport:\n  kind: tcp\njobs:\n  - name: " + job_name(profile) +
                     "\n    profile: " + quoted(profile) + "\n    hosts:\n";
  for (const std::string& host : hosts) text += "      - " + host + "\n";
  return text;
}

}  // namespace rehearsal::cli

#include "cli/profile_files.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "cli/exit_code.hpp"
#include "core/import/import.hpp"
#include "core/profile/binary.hpp"
#include "core/profile/limits.hpp"
#include "core/profile/profile.hpp"
#include "core/profile/read.hpp"
#include "core/profile/show.hpp"
#include "core/profile/text.hpp"
#include "runtime/files.hpp"

namespace rehearsal::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kCaptureEndings = {".json", ".json.gz", ".et", ".et.gz"};
constexpr std::size_t kFilesMax = 1U << 16;

bool is_capture(const std::string& name) {
  return std::any_of(kCaptureEndings.begin(), kCaptureEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

/// The capture files of a folder by name.
Result<std::vector<fs::path>> captures_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_capture(entry->path().filename().string()) && files.size() < kFilesMax) {
      files.push_back(entry->path());
    }
  }
  if (error) {
    return fail(ErrorCode::system, ErrorSource::host,
                "cannot list " + folder.string() + ": " + error.message());
  }
  if (files.empty()) {
    return fail(ErrorCode::not_found, ErrorSource::config,
                folder.string() + ": no capture in it (*.json, *.et, also with .gz)");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<importer::CaptureFile>> read_captures(const std::vector<std::string>& places) {
  std::vector<importer::CaptureFile> captures;
  std::size_t left = importer::kCaptureBytesMax;
  for (const std::string& place : places) {
    std::vector<fs::path> files = {place};
    std::error_code ignored;
    if (fs::is_directory(place, ignored)) {
      ASSIGN_OR_RETURN(files, captures_in(place));
    }
    for (const fs::path& file : files) {
      ASSIGN_OR_RETURN(std::string content,
                       runtime::read_file(file, Bytes{std::min(importer::kFileBytesMax, left)}));
      left -= content.size();
      captures.push_back({file.filename().string(), std::move(content)});
    }
  }
  return captures;
}

Result<std::string> read_profile_file(const std::string& file) {
  return runtime::read_file(file, Bytes{profile::kBinaryBytesMax});
}

ExitCode report(const Error& error, ExitCode code) {
  (void)report_error(error);
  return code;
}

bool wants_text(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

}  // namespace

ExitCode profile_import(const std::vector<std::string>& folders_or_files,
                        const std::string& output) {
  Result<std::vector<importer::CaptureFile>> captures = read_captures(folders_or_files);
  if (!captures) return report_error(captures.error());
  const fs::path path(output);
  const auto profile = importer::import_capture(std::move(*captures), path.stem().string());
  if (!profile) return report(profile.error(), ExitCode::data);
  const std::string content =
      wants_text(path) ? profile::to_text(*profile) : profile::to_binary(*profile);
  if (const auto written = runtime::write_file_atomically(path, content); !written) {
    return report_error(written.error());
  }
  std::printf("%s: %u ranks in %zu %s, %zu bytes, identity %s\n", output.c_str(), profile->ranks,
              profile->classes.size(), profile->classes.size() == 1 ? "class" : "classes",
              content.size(), profile::identity(*profile).c_str());
  return ExitCode::pass;
}

ExitCode profile_show(const std::string& file, bool json) {
  const auto bytes = read_profile_file(file);
  if (!bytes) return report_error(bytes.error());
  const auto profile = profile::load_profile(*bytes, file);
  if (!profile) return report(profile.error(), ExitCode::usage);
  std::fputs((json ? profile::to_json(*profile) : profile::show(*profile)).c_str(), stdout);
  return ExitCode::pass;
}

ExitCode profile_verify(const std::string& file) {
  const auto bytes = read_profile_file(file);
  if (!bytes) return report_error(bytes.error());
  const auto profile = profile::read(*bytes, file);
  if (!profile) return report(profile.error(), ExitCode::fail);
  const auto problems = profile::problems(*profile);
  for (const std::string& problem : problems) {
    std::fprintf(stderr, "rehearse: %s: %s\n", file.c_str(), problem.c_str());
  }
  if (!problems.empty()) return ExitCode::fail;
  std::printf("%s: valid, identity %s\n", file.c_str(), profile::identity(*profile).c_str());
  return ExitCode::pass;
}

}  // namespace rehearsal::cli

#include "core/import/import.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/encoding.hpp"
#include "core/import/chakra.hpp"
#include "core/import/combine.hpp"
#include "core/import/execution_trace.hpp"
#include "core/import/inflate.hpp"
#include "core/import/kineto.hpp"

namespace rehearsal::importer {
namespace {

/// All that was read of one job's capture, by format.
struct Capture {
  std::vector<KinetoIteration> kineto;
  std::vector<ExecutionTrace> execution_traces;
  std::vector<ChakraTrace> chakra;
};

/// A capture format: how to tell it, and how to read it. A further format or vintage is a file of
/// its own and a line in kFormats.
struct Format {
  bool (*claims)(std::string_view file, std::string_view content);
  Result<void> (*read)(std::string_view file, std::string_view content, Capture& capture);
};

template <typename T>
Result<void> keep(Result<T> read, std::vector<T>& where) {
  if (!read) return Failure{std::move(read).error()};
  where.push_back(std::move(*read));
  return {};
}

constexpr auto kFormats = std::to_array<Format>({
    {[](std::string_view file, std::string_view) { return is_chakra(file); },
     [](std::string_view file, std::string_view content, Capture& capture) {
       return keep(read_chakra(file, content), capture.chakra);
     }},
    {[](std::string_view, std::string_view content) { return is_kineto(content); },
     [](std::string_view file, std::string_view content, Capture& capture) {
       return keep(read_kineto(file, content), capture.kineto);
     }},
    {[](std::string_view, std::string_view content) { return is_execution_trace(content); },
     [](std::string_view file, std::string_view content, Capture& capture) {
       return keep(read_execution_trace(file, content), capture.execution_traces);
     }},
});

Result<void> read_file(std::string_view file, std::string_view content, Capture& capture) {
  for (const Format& format : kFormats) {
    if (format.claims(file, content)) return format.read(file, content, capture);
  }
  return invalid(std::string(file) +
                 ": no capture format that is known here: a Kineto trace has 'traceEvents', an "
                 "execution trace 'schema' and 'nodes', a Chakra trace a name like job.0.et");
}

Result<profile::Profile> combine(Capture capture) {
  const bool pytorch = !capture.kineto.empty() || !capture.execution_traces.empty();
  if (pytorch && !capture.chakra.empty()) {
    return invalid("Chakra traces (" + capture.chakra[0].file +
                   ") beside Kineto or execution traces; import one job of one kind at a time");
  }
  if (!capture.chakra.empty()) return combine_chakra(std::move(capture.chakra));
  return combine_pytorch(std::move(capture.kineto), std::move(capture.execution_traces));
}

}  // namespace

Result<profile::Profile> import_capture(std::vector<CaptureFile> files, std::string name) {
  if (files.empty()) return invalid("no capture files; one or two a rank are needed");
  Capture capture;
  std::vector<profile::Provenance::Source> sources;
  std::size_t left = kCaptureBytesMax;
  for (CaptureFile& file : files) {
    sources.push_back({file.name, sha256_hex(file.content)});
    std::string content = std::move(file.content);
    if (is_gzip(content)) {
      ASSIGN_OR_RETURN(content, gunzip(file.name, content, std::min(kFileBytesMax, left)));
    }
    if (content.size() > kFileBytesMax || content.size() > left) {
      return fail(ErrorCode::too_large, ErrorSource::config,
                  file.name + ": over the 512 MiB a file or 2 GiB a capture that are read");
    }
    left -= content.size();
    if (content.empty()) return invalid(file.name + ": it is empty");
    RETURN_IF_ERROR(read_file(file.name, content, capture));
  }
  ASSIGN_OR_RETURN(profile::Profile profile, combine(std::move(capture)));
  profile.name = std::move(name);
  profile.provenance.importer = kImporter;
  std::sort(sources.begin(), sources.end(),
            [](const auto& a, const auto& b) { return a.file < b.file; });
  profile.provenance.sources = std::move(sources);
  if (const auto wrong = profile::problems(profile); !wrong.empty()) {
    return invalid(
        "the capture does not make a valid profile: " + wrong.front() +
        (wrong.size() > 1 ? " (and " + std::to_string(wrong.size() - 1) + " more)" : ""));
  }
  return profile;
}

}  // namespace rehearsal::importer

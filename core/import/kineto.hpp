#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/import/capture.hpp"

namespace rehearsal::importer {

/// One rank's steady iteration out of a Kineto trace (PyTorch profiler, 2022 to 2024-02: sizes on
/// the `nccl:<op>` annotations, kernels found through their launch).
struct KinetoIteration {
  struct Collective {
    CapturedCollective what;
    std::int64_t launched = 0;  ///< on the host
    Span kernel;
    std::size_t event = 0;
  };
  struct Compute {  ///< a kernel or copy that is no collective
    std::int64_t launched = 0;
    std::int64_t end = 0;
  };
  struct Phase {
    std::string name;
    Span span;
  };

  std::string file;
  Rank rank;
  std::optional<std::uint32_t> world_size;
  std::string name;  ///< "ProfilerStep#10"
  Span span;
  std::vector<Collective> collectives;  ///< by launch
  std::vector<std::int64_t> waits;      ///< host times, ascending
  std::vector<Compute> compute;         ///< by launch
  std::vector<Phase> phases;            ///< top-level annotations of the main thread, by begin
};

/// Whether these bytes look like a Kineto trace.
bool is_kineto(std::string_view content);

/// Takes the iteration of median duration. Errors name the file and the event.
Result<KinetoIteration> read_kineto(std::string_view file, std::string_view json);

}  // namespace rehearsal::importer

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/import/capture.hpp"

namespace rehearsal::importer {

/// The events of a Kineto Chrome trace that an import needs, as they stand in the file. `event` is
/// the position in `traceEvents`, for error texts.
struct KinetoEvents {
  struct Annotation {  ///< user_annotation on the host
    std::string name;
    ThreadId thread = 0;
    Span span;
    std::size_t event = 0;
  };
  struct HostCollective {  ///< user_annotation `nccl:<op>`
    std::string op;
    ThreadId thread = 0;
    Span span;
    std::size_t event = 0;
    std::optional<std::uint64_t> elements;  ///< of the first input; none without recorded shapes
    std::string type;                       ///< of the first input, as captured
  };
  struct Launch {  ///< cuda_runtime call with a correlation id
    std::uint64_t correlation = 0;
    ThreadId thread = 0;
    std::int64_t begin = 0;
  };
  struct Kernel {  ///< kernel, gpu_memcpy or gpu_memset
    std::uint64_t correlation = 0;
    Span span;
    bool collective = false;
  };

  std::optional<std::uint64_t> rank;
  std::optional<std::uint64_t> world_size;
  std::vector<Annotation> annotations;
  std::vector<HostCollective> collectives;
  std::vector<std::int64_t> waits;  ///< record_param_comms with the inputs of a `wait`
  std::vector<Launch> launches;
  std::vector<Kernel> kernels;
};

/// Reads the JSON. Errors name the file and the event.
Result<KinetoEvents> read_kineto_events(std::string_view file, std::string_view json);

}  // namespace rehearsal::importer

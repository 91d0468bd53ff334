#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/yaml/yaml.hpp"
#include "runtime/endpoint.hpp"
#include "runtime/log.hpp"

namespace rehearsal::daemon {

/// How rehearsald is set up (docs/operations.md explains each key). A flag on the command line goes
/// before the file, the file before these defaults.
struct Config {
  runtime::Endpoint listen{"127.0.0.1", 7470};   ///< agents and operators
  runtime::Endpoint metrics{"127.0.0.1", 9470};  ///< /metrics and /healthz
  std::filesystem::path store = "/var/lib/rehearsald";
  std::uint32_t store_runs_max = 100;  ///< older ones are removed
  Duration drain_limit = std::chrono::seconds{30};
  runtime::LogThreshold log = runtime::LogThreshold::info;
  std::optional<std::filesystem::path> announce;  ///< only as a flag
};

/// Takes the keys of a configuration file into `config`.
Result<void> apply(const yaml::Document& document, Config& config);

}  // namespace rehearsal::daemon

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/fault/helper_client.hpp"
#include "agent/host/nics.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/host/worker_place.hpp"
#include "core/yaml/yaml.hpp"
#include "runtime/endpoint.hpp"
#include "runtime/log.hpp"

namespace rehearsal::agent {

/// How an agent is set up (docs/operations.md explains each key). A flag on the command line goes
/// before the file, the file before these defaults.
struct Config {
  runtime::Endpoint coordinator{"127.0.0.1", 7470};
  std::string name;             ///< unique in the cluster; empty: the host's name
  std::vector<NicChoice> nics;  ///< in rail order; none: found (agent/host/nics.hpp)
  bool shared_nics = false;     ///< NIC counters count others' traffic too
  host::CoreWish worker_cores;  ///< where the worker's thread runs
  runtime::Endpoint metrics{"127.0.0.1", 9471};
  /// The socket of the host's rehearsal-helper; empty: none is looked for.
  std::filesystem::path helper = kHelperSocketPath;
  /// That of its rehearsal-external; empty: none is looked for.
  std::filesystem::path external = kExternalSocketPath;
  Duration drain_limit = std::chrono::seconds{30};
  runtime::LogThreshold log = runtime::LogThreshold::info;
  std::optional<std::filesystem::path> announce;  ///< only as a flag
};

/// Takes the keys of a configuration file into `config`.
Result<void> apply(const yaml::Document& document, Config& config);

/// Whether drills, files and messages can carry `name`: letters, digits, '-', '_', '.', at most 64.
Result<void> check_name(std::string_view name);

}  // namespace rehearsal::agent

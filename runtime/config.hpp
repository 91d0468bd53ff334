#pragma once

#include <filesystem>

#include "core/base/result.hpp"
#include "core/yaml/yaml.hpp"
#include "runtime/endpoint.hpp"
#include "runtime/log.hpp"

namespace rehearsal::runtime {

/// A daemon's configuration file, read strictly; errors name file, line and key.
Result<yaml::Document> load_config(const std::filesystem::path& path);

/// Values that both daemons' files have.
Result<Endpoint> endpoint_of(const yaml::Node& node);
/// The same for an address to listen on: an IP address.
Result<Endpoint> listen_endpoint_of(const yaml::Node& node);
Result<LogThreshold> log_threshold_of(const yaml::Node& node);

/// "info", "warning", "error".
Result<LogThreshold> parse_log_threshold(std::string_view text);

}  // namespace rehearsal::runtime

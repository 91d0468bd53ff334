#include "runtime/config.hpp"

#include "runtime/files.hpp"

namespace rehearsal::runtime {

Result<yaml::Document> load_config(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, Bytes{yaml::kDocumentBytesMax}));
  return yaml::parse(text, path.string());
}

Result<Endpoint> endpoint_of(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  auto endpoint = parse_endpoint(text);
  if (!endpoint) return node.wrong(endpoint.error().message, "");
  return endpoint;
}

Result<Endpoint> listen_endpoint_of(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  auto endpoint = parse_listen_endpoint(text);
  if (!endpoint) return node.wrong(endpoint.error().message, "");
  return endpoint;
}

Result<LogThreshold> parse_log_threshold(std::string_view text) {
  if (text == "info") return LogThreshold::info;
  if (text == "warning") return LogThreshold::warning;
  if (text == "error") return LogThreshold::error;
  return invalid("'" + std::string(text) + "' is not info, warning or error");
}

Result<LogThreshold> log_threshold_of(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  auto threshold = parse_log_threshold(text);
  if (!threshold) return node.wrong(threshold.error().message, "");
  return threshold;
}

}  // namespace rehearsal::runtime

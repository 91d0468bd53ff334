#include "agent/control/config.hpp"

#include <algorithm>
#include <cctype>

#include "runtime/config.hpp"

namespace rehearsal::agent {
namespace {

Result<std::vector<NicChoice>> nics_of(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const auto items, node.items());
  std::vector<NicChoice> nics;
  for (const yaml::Node& item : items) {
    ASSIGN_OR_RETURN(const auto keys, item.as_mapping({"name", "address"}));
    NicChoice choice;
    ASSIGN_OR_RETURN(const auto name, keys.required("name"));
    ASSIGN_OR_RETURN(choice.name, name.text());
    if (const auto address = keys.optional("address")) {
      ASSIGN_OR_RETURN(choice.address, address->text());
    }
    nics.push_back(std::move(choice));
  }
  return nics;
}

Result<host::CoreWish> worker_cores_of(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  auto wish = host::parse_core_wish(text);
  if (!wish) return node.wrong(wish.error().message, "");
  return wish;
}

}  // namespace

Result<void> apply(const yaml::Document& document, Config& config) {
  ASSIGN_OR_RETURN(
      const auto keys,
      document.root().as_mapping({"coordinator", "name", "nics", "shared_nics", "worker_cores",
                                  "metrics", "helper", "external", "drain_limit", "log"}));
  if (const auto node = keys.optional("coordinator")) {
    ASSIGN_OR_RETURN(config.coordinator, runtime::endpoint_of(*node));
  }
  if (const auto node = keys.optional("name")) {
    ASSIGN_OR_RETURN(config.name, node->text());
  }
  if (const auto node = keys.optional("nics")) {
    ASSIGN_OR_RETURN(config.nics, nics_of(*node));
  }
  if (const auto node = keys.optional("shared_nics")) {
    ASSIGN_OR_RETURN(config.shared_nics, node->boolean());
  }
  if (const auto node = keys.optional("worker_cores")) {
    ASSIGN_OR_RETURN(config.worker_cores, worker_cores_of(*node));
  }
  if (const auto node = keys.optional("metrics")) {
    ASSIGN_OR_RETURN(config.metrics, runtime::listen_endpoint_of(*node));
  }
  if (const auto node = keys.optional("helper")) {
    ASSIGN_OR_RETURN(config.helper, node->text());
    if (config.helper == "none") config.helper.clear();
  }
  if (const auto node = keys.optional("external")) {
    ASSIGN_OR_RETURN(config.external, node->text());
    if (config.external == "none") config.external.clear();
  }
  if (const auto node = keys.optional("drain_limit")) {
    ASSIGN_OR_RETURN(config.drain_limit, node->duration());
  }
  if (const auto node = keys.optional("log")) {
    ASSIGN_OR_RETURN(config.log, runtime::log_threshold_of(*node));
  }
  return {};
}

Result<void> check_name(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.');
  });
  if (plain && !name.empty() && name.size() <= 64 && std::isalnum(name.front()) != 0) return {};
  return invalid("'" + std::string(name) +
                 "' cannot name an agent; right would be letters, digits, '-', '_' and '.', "
                 "beginning with a letter or digit, at most 64, for example rack7-host1");
}

}  // namespace rehearsal::agent

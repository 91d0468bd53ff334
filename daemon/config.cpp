#include "daemon/config.hpp"

#include "runtime/config.hpp"

namespace rehearsal::daemon {

Result<void> apply(const yaml::Document& document, Config& config) {
  ASSIGN_OR_RETURN(const auto keys,
                   document.root().as_mapping(
                       {"listen", "metrics", "store", "store_runs_max", "drain_limit", "log"}));
  if (const auto node = keys.optional("listen")) {
    ASSIGN_OR_RETURN(config.listen, runtime::listen_endpoint_of(*node));
  }
  if (const auto node = keys.optional("metrics")) {
    ASSIGN_OR_RETURN(config.metrics, runtime::listen_endpoint_of(*node));
  }
  if (const auto node = keys.optional("store")) {
    ASSIGN_OR_RETURN(config.store, node->text());
  }
  if (const auto node = keys.optional("store_runs_max")) {
    ASSIGN_OR_RETURN(config.store_runs_max, node->integer32(1, 1'000'000));
  }
  if (const auto node = keys.optional("drain_limit")) {
    ASSIGN_OR_RETURN(config.drain_limit, node->duration());
  }
  if (const auto node = keys.optional("log")) {
    ASSIGN_OR_RETURN(config.log, runtime::log_threshold_of(*node));
  }
  return {};
}

}  // namespace rehearsal::daemon

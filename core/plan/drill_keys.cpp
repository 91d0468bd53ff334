#include "core/plan/drill_keys.hpp"

#include "core/plan/host_list.hpp"

namespace rehearsal::plan {

Result<std::vector<std::string>> read_host_names(const yaml::Node& node,
                                                 const std::vector<yaml::Node>& items) {
  std::vector<std::string> hosts;
  for (const yaml::Node& item : items) {
    ASSIGN_OR_RETURN(const std::string text, item.text());
    const auto names = expand_host_list(text);
    if (!names) return item.wrong(names.error().message, "");
    if (hosts.size() + names->size() > kHostsMax) {
      return node.wrong("more than " + std::to_string(kHostsMax) + " hosts", "fewer");
    }
    hosts.insert(hosts.end(), names->begin(), names->end());
  }
  return hosts;
}

}  // namespace rehearsal::plan

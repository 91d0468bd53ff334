#include "core/fault/host_policy.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::fault {
namespace {

constexpr std::size_t kNamesMax = 256;

Failure refuse(std::string message) {
  return fail(ErrorCode::refused, ErrorSource::host, std::move(message));
}

bool names(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

Result<std::vector<std::string>> interface_names(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const auto items, node.items());
  if (items.size() > kNamesMax) {
    return node.wrong("more than " + std::to_string(kNamesMax) + " interfaces", {});
  }
  std::vector<std::string> found;
  for (const yaml::Node& item : items) {
    ASSIGN_OR_RETURN(std::string name, item.text());
    if (name.size() > kInterfaceNameMax) {
      return item.wrong(in_quotes(name) + " is too long for an interface",
                        "right would be an exact name, like eth1");
    }
    if (names(found, name)) return item.wrong(in_quotes(name) + " stands here twice", {});
    found.push_back(std::move(name));
  }
  return found;
}

Result<std::vector<FaultKind>> fault_kinds(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const auto items, node.items());
  std::vector<FaultKind> found;
  std::vector<std::string_view> words;
  for (const FaultKind kind : kFaultKinds) words.push_back(to_string(kind));
  for (const yaml::Node& item : items) {
    ASSIGN_OR_RETURN(const std::size_t at, item.one_of_words(words));
    const FaultKind kind = kFaultKinds[at];
    if (std::find(found.begin(), found.end(), kind) != found.end()) {
      return item.wrong(std::string(to_string(kind)) + " stands here twice", {});
    }
    found.push_back(kind);
  }
  return found;
}

}  // namespace

Result<HostPolicy> read_host_policy(std::string_view text, std::string file_name) {
  ASSIGN_OR_RETURN(const auto document, yaml::parse(text, std::move(file_name)));
  ASSIGN_OR_RETURN(const auto keys, document.root().as_mapping({"agent", "faults", "interfaces",
                                                                "control_interfaces",
                                                                "duration_max", "test_stops"}));
  HostPolicy policy;
  if (const auto node = keys.optional("agent")) {
    ASSIGN_OR_RETURN(policy.agent, node->text());
  }
  if (const auto node = keys.optional("faults")) {
    ASSIGN_OR_RETURN(policy.faults, fault_kinds(*node));
  }
  if (const auto node = keys.optional("interfaces")) {
    ASSIGN_OR_RETURN(policy.interfaces, interface_names(*node));
  }
  if (const auto node = keys.optional("control_interfaces")) {
    ASSIGN_OR_RETURN(policy.control_interfaces, interface_names(*node));
  }
  if (const auto node = keys.optional("duration_max")) {
    ASSIGN_OR_RETURN(policy.duration_max, node->duration());
    if (policy.duration_max > kFaultDurationMost) {
      return node->wrong("longer than any policy can allow",
                         "right would be at most " + format_duration_exact(kFaultDurationMost));
    }
  }
  if (const auto node = keys.optional("test_stops")) {
    ASSIGN_OR_RETURN(policy.test_stops, node->boolean());
  }
  for (const std::string& name : policy.interfaces) {
    if (names(policy.control_interfaces, name)) {
      return keys.wrong(in_quotes(name) + " stands in interfaces and in control_interfaces",
                        "no fault can be allowed on a control interface");
    }
  }
  return policy;
}

Result<void> check_times(const FaultRequest& request, Duration duration_max) {
  if (request.lease < kLeaseLeast || request.lease > kLeaseMost) {
    return refuse("a lease of " + format_duration_exact(request.lease) + "; right would be " +
                  format_duration_exact(kLeaseLeast) + " to " + format_duration_exact(kLeaseMost));
  }
  if (request.duration <= Duration::zero()) return refuse("a fault needs a longest duration");
  if (request.duration > duration_max) {
    return refuse("this host's policy allows a fault for at most " +
                  format_duration_exact(duration_max) + ", not " +
                  format_duration_exact(request.duration));
  }
  return {};
}

Result<std::uint32_t> decide(const HostPolicy& policy, const FaultRequest& request,
                             const LinkTable& table) {
  const KernelFault& fault = request.fault;
  if (is_external(fault.effect))
    return fail(ErrorCode::unsupported, ErrorSource::host,
                "this is rehearsal-helper: operators' commands are for rehearsal-external");
  RETURN_IF_ERROR(check(fault));
  for (const FaultKind kind : kinds_of(fault.effect)) {
    if (std::find(policy.faults.begin(), policy.faults.end(), kind) == policy.faults.end()) {
      return refuse("this host's policy does not allow " + std::string(to_string(kind)));
    }
  }
  if (!names(policy.interfaces, fault.interface)) {
    return refuse("this host's policy does not allow faults on " + fault.interface);
  }
  RETURN_IF_ERROR(check_times(request, policy.duration_max));
  const auto link = std::find_if(table.links.begin(), table.links.end(),
                                 [&](const Link& at) { return at.name == fault.interface; });
  if (link == table.links.end()) {
    return fail(ErrorCode::not_found, ErrorSource::host,
                "there is no interface " + fault.interface);
  }
  if (protected_interfaces(table, policy.control_interfaces).contains(link->index)) {
    return refuse(fault.interface +
                  " carries the control connection or the default route, or is loopback: no fault "
                  "may touch it");
  }
  return link->index;
}

}  // namespace rehearsal::fault

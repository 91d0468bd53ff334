#include "core/plan/external_faults.hpp"

#include <algorithm>
#include <map>

#include "core/base/text.hpp"

namespace rehearsal::plan {
namespace {

using fault::ExternalCommand;
using fault::PlannedFault;

bool is_external(const PlannedFault& fault) {
  return fault.mechanism == fault::Mechanism::external;
}

std::string known_commands(const fault::ExternalOffer& offer) {
  if (offer.commands.empty()) return "its policy names no command";
  std::vector<std::string> names;
  for (const ExternalCommand& command : offer.commands) names.push_back(command.name);
  return "its policy names " + joined(names);
}

/// What is wrong, and what would be right, of "…; …".
ExternalRefusal parted(const Error& error, const std::string& who) {
  const std::size_t at = std::min(error.message.rfind("; "), error.message.size());
  return {error.code, "what.arguments", who + ": " + error.message.substr(0, at),
          error.message.substr(std::min(at + 2, error.message.size()))};
}

}  // namespace

std::optional<ExternalRefusal> host_refuses_command(const Inventory& host,
                                                    const PlannedFault& fault) {
  const std::string who = "host " + in_quotes(host.host);
  const fault::ExternalOffer& offer = host.external;
  const std::string& name = fault.what.call.command;
  if (!offer.runner)
    return ExternalRefusal{ErrorCode::unsupported, "what.kind",
                           who + " has no rehearsal-external, so it runs no commands",
                           "a host that has one (docs/operations.md)"};
  if (offer.is_assumed) return std::nullopt;
  const ExternalCommand* command = offer.find(name);
  if (command == nullptr)
    return ExternalRefusal{
        ErrorCode::refused, "what.command",
        "the policy of " + who + " does not allow the command " + in_quotes(name),
        known_commands(offer)};
  if (!command->problem.empty())
    return ExternalRefusal{ErrorCode::refused, "what.command",
                           who + " cannot run " + in_quotes(name), command->problem};
  if (const auto call = fault::fit(*command, fault.what.call); !call)
    return parted(call.error(), who);
  if (fault.when.length > command->duration_max)
    return ExternalRefusal{ErrorCode::refused, "when.for",
                           "is " + format_duration_exact(fault.when.length),
                           "the policy of " + who + " allows " + in_quotes(name) + " for at most " +
                               format_duration_exact(command->duration_max)};
  const fault::When& when = fault.when;
  if (when.on > Duration::zero() && std::min(when.on, when.off) < command->time_max)
    return ExternalRefusal{ErrorCode::refused, "when.repeat",
                           "the command may take " + format_duration_exact(command->time_max),
                           "on and off of at least that"};
  return std::nullopt;
}

Result<std::vector<fault::KernelPart>> external_parts(const Plan& plan, HostIndex host,
                                                      const Inventory& now) {
  std::vector<fault::KernelPart> parts;
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) {
    const PlannedFault& fault = plan.faults[i];
    if (!is_external(fault) ||
        std::ranges::find(fault.places, host, &fault::Place::host) == fault.places.end())
      continue;
    if (const auto refusal = host_refuses_command(now, fault))
      return fail(refusal->code, ErrorSource::host,
                  "fault " + in_quotes(fault.name) + ": " + refusal->what + "; " + refusal->right);
    const ExternalCommand* command = now.external.find(fault.what.call.command);
    if (command == nullptr) return fail(ErrorCode::refused, ErrorSource::host, "no such command");
    ASSIGN_OR_RETURN(fault::ExternalCall call, fault::fit(*command, fault.what.call));
    parts.push_back({.fault = i,
                     .levels = {{.interface = {},
                                 .direction = fault::Direction::both,
                                 .effect = std::move(call)}},
                     .duration_max = command->duration_max,
                     .time_max = command->time_max});
  }
  return parts;
}

Duration command_time(const Plan& plan) {
  std::map<HostIndex, Duration> of_host;
  Duration most{0};
  for (const PlannedFault& fault : plan.faults) {
    if (!is_external(fault)) continue;
    for (const fault::Place& place : fault.places)
      most = std::max(most, of_host[place.host] += fault.what.command_time);
  }
  return most;
}

}  // namespace rehearsal::plan

#include "cli/doctor.hpp"

#include <algorithm>
#include <map>

#include "core/base/units.hpp"
#include "core/coordination/messages.hpp"
#include "core/host/examine.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::cli {
namespace {

using Health = Finding::Health;

/// Clocks that are known no better than this keep no phases of milliseconds in step.
constexpr std::uint64_t kClockBoundMax = 1'000'000;
/// An agent says something several times a second.
constexpr std::uint64_t kSilenceMax = 1'500'000'000;

Finding look_at_clock(const protocol::AgentStatus& agent) {
  if (!agent.clock().known())
    return {Health::notable, agent.host(), "its clock is not measured yet",
            "wait a second; if it stays so, the control network is very busy"};
  const Duration bound{static_cast<std::int64_t>(agent.clock().error_bound_ns())};
  const std::string what = "clock known to ±" + format_duration(bound);
  if (agent.clock().error_bound_ns() <= kClockBoundMax) return {Health::good, agent.host(), what};
  return {Health::notable, agent.host(), what,
          "starts can be apart by as much: use a quieter control network or host"};
}

std::string joined_words(const google::protobuf::RepeatedPtrField<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Whether faults of the host's kernel can be asked for, and whether one stands in the way.
void look_at_helper(const protocol::AgentStatus& agent, std::vector<Finding>& findings) {
  if (!agent.blocked().empty())
    findings.push_back({Health::bad, agent.host(), "takes no runs: " + agent.blocked(),
                        "`rehearse faults clear --host " + agent.host() +
                            "`, or on the host, as root, `rehearsal-helper --undo-all`"});
  if (!agent.has_kernel()) return;  // too many agents: left out
  const protocol::KernelOffer& offer = agent.kernel();
  std::string text = "rehearsal-helper allows no faults of the kernel";
  if (!offer.helper()) {
    text = "no rehearsal-helper: faults only inside the agent";
  } else if (offer.faults_size() > 0 && offer.interfaces_size() > 0) {
    text = "rehearsal-helper allows " + joined_words(offer.faults()) + " on " +
           joined_words(offer.interfaces()) + " for " +
           format_duration(Duration{static_cast<std::int64_t>(offer.duration_max_ns())});
  }
  findings.push_back({Health::good, agent.host(), text});
}

/// Which commands of an operator's own the host may be asked for; one without rehearsal-external
/// says nothing.
void look_at_commands(const protocol::AgentStatus& agent, std::vector<Finding>& findings) {
  if (!agent.external().runner()) return;
  google::protobuf::RepeatedPtrField<std::string> names;
  for (const protocol::ExternalCommand& command : agent.external().commands()) {
    if (command.problem().empty()) {
      *names.Add() = command.name();
      continue;
    }
    findings.push_back({Health::notable, agent.host(),
                        "cannot run its command " + command.name() + ": " + command.problem(),
                        "on the host: `rehearsal-external --check`"});
  }
  findings.push_back({Health::good, agent.host(),
                      names.empty() ? "rehearsal-external allows no commands"
                                    : "rehearsal-external allows " + joined_words(names)});
}

void look_at_agent(const protocol::AgentStatus& agent, std::vector<Finding>& findings) {
  findings.push_back(look_at_clock(agent));
  look_at_helper(agent, findings);
  look_at_commands(agent, findings);
  if (agent.silence_ns() > kSilenceMax)
    findings.push_back(
        {Health::bad, agent.host(),
         "silent for " + format_duration(Duration{static_cast<std::int64_t>(agent.silence_ns())}),
         "look whether its host is alive and the control network works"});
  if (agent.nics_size() == 0)
    findings.push_back({Health::bad, agent.host(), "has no data NIC",
                        "name them in its configuration: nics, or --nic"});
  for (const protocol::HostFinding& finding : agent.findings())
    findings.push_back(coordination::from_message(finding));
}

/// Hosts and NICs that have a value, by the value.
using Groups = std::map<std::string, std::vector<std::string>>;

void compare(const Groups& groups, const std::string& what, Health health, const std::string& fix,
             std::vector<Finding>& findings) {
  if (groups.size() < 2) return;
  std::string text = what + " differs:";
  for (const auto& [value, who] : groups) {
    text += " " + value + " on " + who.front();
    if (who.size() > 1) text += " and " + std::to_string(who.size() - 1) + " more";
    text += ";";
  }
  text.pop_back();
  findings.push_back({health, "cluster", text, fix});
}

}  // namespace

std::vector<Finding> diagnose(const protocol::StatusReply& status) {
  std::vector<Finding> findings;
  if (status.agents_size() == 0)
    return {{Health::bad, "cluster", "no agent is connected",
             "start rehearsal-agent on the hosts with this coordinator's address"}};
  Groups software;
  Groups kinds;
  Groups mtus;
  for (const protocol::AgentStatus& agent : status.agents()) {
    look_at_agent(agent, findings);
    software[agent.software()].push_back(agent.host());
    for (const protocol::Nic& message : agent.nics()) {
      const plan::Nic nic = coordination::from_message(message);
      const std::string subject = agent.host() + " " + nic.name;
      const auto gid = host::examine_port(nic, subject, findings);
      if (!gid) continue;
      kinds[std::string(to_string(gid->type)) +
            (gid->address.find(':') == std::string::npos ? " over IPv4" : " over IPv6")]
          .push_back(subject);
      mtus[std::to_string(nic.rdma->mtu) + " B"].push_back(subject);
    }
  }
  compare(software, "the program's version", Health::notable, "run the same everywhere", findings);
  compare(kinds, "the kind of GID", Health::bad,
          "give all data NICs addresses of one family on ports of one kind", findings);
  compare(mtus, "the path MTU", Health::notable,
          "the smaller counts between two; set interfaces and switches alike", findings);
  std::ranges::stable_sort(findings, {}, &Finding::health);
  return findings;
}

}  // namespace rehearsal::cli

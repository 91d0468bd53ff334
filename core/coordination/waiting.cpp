#include "core/coordination/waiting.hpp"

#include <algorithm>

#include "core/base/units.hpp"
#include "core/coordination/messages.hpp"

namespace rehearsal::coordination {
namespace {

bool contains(std::span<const HostIndex> hosts, HostIndex host) {
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

std::vector<HostIndex> silent_ones(std::span<const RunAgent> agents,
                                   std::span<const HostIndex> missing, Instant now,
                                   Duration silent_after) {
  std::vector<HostIndex> silent;
  for (const HostIndex host : missing) {
    if (now - agents[host.value].heard >= silent_after) silent.push_back(host);
  }
  return silent;
}

/// Where the chains of "waits for" end.
std::vector<HostIndex> waited_for_ones(std::span<const RunAgent> agents,
                                       std::span<const HostIndex> missing) {
  std::vector<HostIndex> ends;
  for (const HostIndex host : missing) {
    const auto waits_for_this = [&](HostIndex other) {
      return other != host && contains(agents[other.value].waiting_for, host);
    };
    const auto missing_too = [&](HostIndex other) {
      return other != host && contains(missing, other);
    };
    const std::vector<HostIndex>& its_own = agents[host.value].waiting_for;
    if (std::any_of(missing.begin(), missing.end(), waits_for_this) &&
        std::none_of(its_own.begin(), its_own.end(), missing_too)) {
      ends.push_back(host);
    }
  }
  return ends;
}

std::string description(std::span<const RunAgent> agents, HostIndex host, Instant now,
                        Duration silent_after) {
  const RunAgent& agent = agents[host.value];
  std::string why;
  if (now - agent.heard >= silent_after) why = "silent for " + format_duration(now - agent.heard);
  std::vector<std::string> waiters;
  for (const RunAgent& other : agents) {
    if (&other != &agent && contains(other.waiting_for, host)) waiters.push_back(other.host);
  }
  if (!waiters.empty()) {
    why += (why.empty() ? "" : "; ") + joined(waiters) +
           (waiters.size() == 1 ? " waits for it" : " wait for it");
  }
  return why.empty() ? agent.host : agent.host + " (" + why + ")";
}

}  // namespace

Waiting waiting_for(std::span<const RunAgent> agents, std::span<const HostIndex> missing,
                    Instant now, Duration silent_after) {
  std::vector<HostIndex> named = silent_ones(agents, missing, now, silent_after);
  if (named.empty()) named = waited_for_ones(agents, missing);
  Waiting waiting;
  waiting.stands_out = !named.empty();
  if (named.empty()) named.assign(missing.begin(), missing.end());
  std::vector<std::string> descriptions;
  for (const HostIndex host : named) {
    waiting.hosts.push_back(agents[host.value].host);
    descriptions.push_back(description(agents, host, now, silent_after));
  }
  waiting.text = joined(descriptions);
  return waiting;
}

}  // namespace rehearsal::coordination

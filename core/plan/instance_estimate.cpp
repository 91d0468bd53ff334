#include "core/plan/instance_estimate.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/text.hpp"

namespace rehearsal::plan {
namespace {

/// What one rank of a class issues in an iteration.
struct Issued {
  std::map<CommunicatorIndex, std::uint64_t> collectives;
  std::uint64_t messages = 0;
};

Issued issued_by(const profile::RankClass& ranks) {
  Issued issued;
  for (const profile::Op& op : ranks.ops) {
    if (!profile::is_communication(op.kind)) continue;
    if (profile::is_point_to_point(op.kind)) {
      ++issued.messages;
    } else {
      ++issued.collectives[op.communicator];
    }
  }
  return issued;
}

void add_job(const PlannedJob& job, std::vector<std::uint64_t>& instances) {
  std::map<std::pair<HostIndex, CommunicatorIndex>, std::uint64_t> collectives;
  for (const profile::RankClass& ranks : job.profile->classes) {
    const Issued issued = issued_by(ranks);
    for (const Rank rank : ranks.ranks) {
      const HostIndex host = job.bindings[rank.value].host;
      instances[host.value] += issued.messages;
      for (const auto& [communicator, count] : issued.collectives) {
        std::uint64_t& most = collectives[{host, communicator}];
        most = std::max(most, count);
      }
    }
  }
  for (const auto& [where, count] : collectives) instances[where.first.value] += count;
}

}  // namespace

std::vector<std::uint64_t> instances_per_iteration(const Plan& plan) {
  std::vector<std::uint64_t> instances(plan.hosts.size(), 0);
  for (const PlannedJob& job : plan.jobs) add_job(job, instances);
  return instances;
}

Result<void> check_instances(const Plan& plan) {
  const std::vector<std::uint64_t> instances = instances_per_iteration(plan);
  const auto most = std::ranges::max_element(instances);
  if (most == instances.end() || *most * plan.iterations <= kInstancesPerHostMax) return {};
  const auto host = static_cast<std::size_t>(most - instances.begin());
  const std::string right =
      *most > kInstancesPerHostMax
          ? "use more hosts, or a profile with fewer communication ops"
          : "at most " + std::to_string(kInstancesPerHostMax / *most) + " iterations; run it again";
  return fail(ErrorCode::refused, ErrorSource::config,
              "iterations: host " + in_quotes(plan.hosts[host].host) + " would keep " +
                  std::to_string(*most * plan.iterations) + " measurements (" +
                  std::to_string(*most) + " an iteration), more than " +
                  std::to_string(kInstancesPerHostMax) + "; " + right);
}

}  // namespace rehearsal::plan

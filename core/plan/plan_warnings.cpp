#include "core/plan/plan_warnings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text.hpp"
#include "core/plan/connection_estimate.hpp"

namespace rehearsal::plan {
namespace {

using Warnings = std::vector<std::string>;

std::string job_text(const PlannedJob& job) { return "job " + in_quotes(job.name) + ": "; }

std::string count_of(std::uint64_t count, std::string_view one) {
  return std::to_string(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

void warn_of_nothing_on_the_wire(const PlannedJob& job, const JobLoad& load, Warnings& warnings) {
  if (load.ops == 0 || load.on_wire.count() != 0 || load.local.count() == 0) return;
  if (load.local_between_nodes.count() != 0) {
    warnings.push_back(job_text(job) +
                       "all its nodes share one host, so nothing of it reaches the wire");
  } else if (job.node) {
    warnings.push_back(job_text(job) +
                       "all its communication stays inside nodes, so nothing of it reaches the "
                       "wire");
  } else {
    warnings.push_back(job_text(job) +
                       "all its ranks stand on one host, so nothing of it reaches the wire");
  }
}

// Communicators of which nothing reaches the wire, in a job of which something does.
void warn_of_collectives_inside_nodes(const PlannedJob& job, const JobLoad& load,
                                      Warnings& warnings) {
  if (!job.node || load.on_wire.count() == 0) return;
  std::set<CommunicatorIndex> used;
  for (const OpChoice& picked : job.choices) used.insert(picked.communicator);
  std::vector<std::string> inside;
  for (const CommunicatorIndex index : used) {
    const profile::Communicator& communicator = job.profile->communicators[index.value];
    if (communicator.size() < 2) continue;
    const std::uint32_t node = job.seats[communicator.ranks.front().value].node;
    if (std::ranges::all_of(communicator.ranks,
                            [&](Rank rank) { return job.seats[rank.value].node == node; }))
      inside.push_back(in_quotes(communicator.name));
  }
  if (inside.empty()) return;
  warnings.push_back(job_text(job) +
                     "these communicators stay inside a node, so nothing of their " +
                     "collectives reaches the wire: " + joined(inside, 6));
}

void warn_of_shared_hosts(const PlannedJob& job, const JobLoad& load, Warnings& warnings) {
  if (!job.node || job.node->per_host < 2) return;
  warnings.push_back(job_text(job) + "up to " + count_of(job.node->per_host, "node") +
                     " share a host; " + format_bytes(load.local_between_nodes) +
                     " an iteration pass between them off the wire");
}

void warn_of_few_nics(const Plan& plan, const PlannedJob& job, Warnings& warnings) {
  if (!job.node) return;
  std::set<std::uint32_t> rails;
  std::map<HostIndex, std::set<NicIndex>> nics;
  for (std::size_t rank = 0; rank < job.seats.size(); ++rank) {
    rails.insert(job.seats[rank].rail);
    nics[job.bindings[rank].host].insert(job.bindings[rank].nic);
  }
  for (const auto& [host, used] : nics) {
    if (used.size() >= rails.size()) continue;
    warnings.push_back(job_text(job) + "its nodes have " + count_of(rails.size(), "rail") +
                       ", host " + in_quotes(plan.hosts[host.value].host) + " " +
                       count_of(used.size(), "NIC") + ": rail r takes NIC r mod " +
                       std::to_string(used.size()));
    return;  // once is enough
  }
}

void warn_of_assumptions(const PlannedJob& job, Warnings& warnings) {
  if (!job.node || job.node->assumed.empty()) return;
  warnings.push_back(job_text(job) + "the description of its node leaves this open, assumed is: " +
                     joined(job.node->assumed));
}

}  // namespace

std::vector<std::string> plan_warnings(const Plan& plan, const Load& load) {
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < plan.jobs.size(); ++i) {
    const PlannedJob& job = plan.jobs[i];
    warn_of_nothing_on_the_wire(job, load.jobs[i], warnings);
    warn_of_collectives_inside_nodes(job, load.jobs[i], warnings);
    warn_of_shared_hosts(job, load.jobs[i], warnings);
    warn_of_few_nics(plan, job, warnings);
    warn_of_assumptions(job, warnings);
  }
  if (const auto fits = check_connections(plan); !fits)
    warnings.push_back("this cannot be run: " + fits.error().message);
  return warnings;
}

}  // namespace rehearsal::plan

#include "core/plan/connection_estimate.hpp"

#include <map>
#include <set>
#include <utility>

#include "core/base/text.hpp"

namespace rehearsal::plan {
namespace {

using profile::OpKind;

// What a communicator is used for, as far as connections go.
struct Use {
  bool ring = false;                                        ///< neighbours only
  bool all_to_all = false;                                  ///< every pair
  bool star = false;                                        ///< gather, scatter: pairs with a root
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;  ///< send and recv, by position
};

void note(const profile::Op& op, const profile::RankClass& ranks,
          const profile::Communicator& communicator, Use& use) {
  switch (op.kind) {
    case OpKind::compute:
    case OpKind::recv:
      return;  // its send is counted
    case OpKind::send:
      for (const Rank rank : ranks.ranks) use.pairs.insert({communicator.position(rank), op.peer});
      return;
    case OpKind::all_to_all:
      use.all_to_all = true;
      return;
    case OpKind::gather:
    case OpKind::scatter:
      use.star = true;
      return;
    default:
      use.ring = true;
      return;
  }
}

std::vector<Use> uses_of(const profile::Profile& profile) {
  std::vector<Use> uses(profile.communicators.size());
  for (const profile::RankClass& ranks : profile.classes) {
    for (const profile::Op& op : ranks.ops) {
      if (op.kind == OpKind::compute) continue;
      note(op, ranks, profile.communicators[op.communicator.value], uses[op.communicator.value]);
    }
  }
  return uses;
}

}  // namespace

Result<void> check_connections(const Plan& plan) {
  const std::vector<std::uint64_t> most = connections_per_host_most(plan);
  for (std::size_t i = 0; i < most.size(); ++i) {
    if (most[i] <= kConnectionsPerHostMax) continue;
    return fail(ErrorCode::refused, ErrorSource::config,
                "collectives: host " + in_quotes(plan.hosts[i].host) + " would hold up to " +
                    std::to_string(most[i]) + " connections; at most " +
                    std::to_string(kConnectionsPerHostMax) +
                    ": use fewer channels, or fewer ranks on a host");
  }
  return {};
}

std::vector<std::uint64_t> connections_per_host_most(const Plan& plan) {
  std::vector<std::uint64_t> ends(plan.hosts.size(), 0);
  const std::uint64_t ring_ends = 2ULL * plan.collectives.channels;
  const std::uint64_t pair_ends = plan.collectives.point_to_point_channels;
  for (const PlannedJob& job : plan.jobs) {
    const std::vector<Use> uses = uses_of(*job.profile);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const auto& ranks = job.profile->communicators[i].ranks;
      const auto host_of = [&](std::uint32_t position) {
        return job.bindings[ranks[position].value].host.value;
      };
      std::map<std::uint32_t, std::uint64_t> members;  // by host
      for (const Rank rank : ranks) ++members[job.bindings[rank.value].host.value];
      for (const auto& [host, here] : members) {
        const std::uint64_t others = ranks.size() - here;
        if (others == 0) continue;
        if (uses[i].ring) ends[host] += here * ring_ends;
        if (uses[i].all_to_all) ends[host] += 2 * here * others * pair_ends;
        if (uses[i].star && !uses[i].all_to_all) ends[host] += 2 * ranks.size() * pair_ends;
      }
      for (const auto& [source, destination] : uses[i].pairs) {
        if (host_of(source) == host_of(destination)) continue;
        ends[host_of(source)] += pair_ends;
        ends[host_of(destination)] += pair_ends;
      }
    }
  }
  return ends;
}

}  // namespace rehearsal::plan

#include "core/plan/connection_estimate.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "core/base/text.hpp"
#include "core/plan/background.hpp"
#include "core/plan/placement.hpp"

namespace rehearsal::plan {
namespace {

using profile::OpKind;

// What a communicator is used for, as far as connections go: how many ends of them.
struct Use {
  /// Of every member: to its neighbours. Algorithms have neighbours of their own.
  std::map<collective::Algorithm, std::uint64_t> neighbour_ends;
  std::uint64_t others_ends = 0;  ///< of every member, for each other member
  std::uint64_t star_ends = 0;    ///< gather, scatter: pairs with a root
  std::uint64_t pair_ends = 0;    ///< of each of `pairs`, at either end
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;  ///< send and recv, by position
};

// Ends of a member's connections to its neighbours, or (direct) to each other member.
void note_collective(const collective::Choice& choice, std::uint32_t rails, std::uint32_t size,
                     Use& use) {
  using collective::Algorithm;
  constexpr std::uint64_t kTreeEnds = 8;  // a parent and three children, both ways
  const auto steps = static_cast<std::uint64_t>(std::bit_width(size));
  std::uint64_t ends = 0;
  switch (choice.algorithm) {
    case Algorithm::tree:
      ends = kTreeEnds * choice.channels;
      break;
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      ends = kTreeEnds * choice.channels * rails;
      break;
    case Algorithm::pat:
    case Algorithm::halving_doubling:
      ends = 4 * steps * choice.channels;
      break;
    case Algorithm::direct:
      use.others_ends = std::max<std::uint64_t>(use.others_ends, 2 * choice.channels);
      return;
    default:
      ends = std::uint64_t{2} * choice.channels;
      break;
  }
  std::uint64_t& most = use.neighbour_ends[choice.algorithm];
  most = std::max(most, ends);
}

class Uses {
 public:
  Uses(const Plan& plan, JobIndex job) : plan_(plan), job_(job) {
    const PlannedJob& planned = plan.jobs[job.value];
    uses_.resize(planned.profile->communicators.size());
    for (const profile::RankClass& ranks : planned.profile->classes) {
      for (const profile::Op& op : ranks.ops) {
        if (op.kind != OpKind::compute) note(planned, op, ranks);
      }
    }
  }
  const Use& operator[](std::size_t communicator) const { return uses_[communicator]; }
  std::size_t size() const { return uses_.size(); }

 private:
  void note(const PlannedJob& planned, const profile::Op& op, const profile::RankClass& ranks) {
    if (op.kind == OpKind::recv) return;  // its send is counted
    const auto& communicator = planned.profile->communicators[op.communicator.value];
    Use& use = uses_[op.communicator.value];
    const collective::Choice choice = choice_of(plan_, job_, op);
    const std::uint64_t per_peer =
        choice.channels_per_peer != 0 ? choice.channels_per_peer : choice.channels;
    switch (op.kind) {
      case OpKind::send:
        use.pair_ends = std::max(use.pair_ends, per_peer);
        for (const Rank rank : ranks.ranks)
          use.pairs.insert({communicator.position(rank), op.peer});
        return;
      case OpKind::all_to_all:
        use.others_ends = std::max(use.others_ends, 2 * per_peer);
        return;
      case OpKind::gather:
      case OpKind::scatter:
        use.star_ends = std::max(use.star_ends, 2 * per_peer);
        return;
      default:
        break;
    }
    note_collective(choice, planned.node ? planned.node->rails : 1, communicator.size(), use);
  }

  const Plan& plan_;
  JobIndex job_;
  std::vector<Use> uses_;
};

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
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    const PlannedJob& planned = plan.jobs[job];
    const Uses uses{plan, JobIndex{job}};
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const Use& use = uses[i];
      const auto& ranks = planned.profile->communicators[i].ranks;
      const auto host_of = [&](std::uint32_t position) {
        return planned.bindings[ranks[position].value].host.value;
      };
      std::map<std::uint32_t, std::uint64_t> members;  // by host
      for (const Rank rank : ranks) ++members[planned.bindings[rank.value].host.value];
      for (const auto& [host, here] : members) {
        const std::uint64_t others = ranks.size() - here;
        if (others == 0) continue;
        for (const auto& [algorithm, most] : use.neighbour_ends) ends[host] += here * most;
        ends[host] += here * others * use.others_ends;
        if (use.others_ends == 0) ends[host] += ranks.size() * use.star_ends;
      }
      for (const auto& [source, destination] : use.pairs) {
        if (host_of(source) == host_of(destination)) continue;
        ends[host_of(source)] += use.pair_ends;
        ends[host_of(destination)] += use.pair_ends;
      }
    }
  }
  for (const BackgroundFlow& flow : background_flows(plan)) {
    ++ends[flow.source.host.value];
    ++ends[flow.destination.host.value];
  }
  return ends;
}

}  // namespace rehearsal::plan

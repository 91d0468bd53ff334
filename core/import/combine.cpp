#include "core/import/combine.hpp"

#include <algorithm>

#include "core/import/agreement.hpp"
#include "core/import/rank_communication.hpp"
#include "core/import/ranks.hpp"
#include "core/profile/fold.hpp"

namespace rehearsal::importer {
namespace {

using profile::Op;
using profile::OpKind;
using profile::Profile;

/// Traces of two jobs are told apart by their count of ranks.
Result<std::optional<std::uint32_t>> world_size(const std::vector<KinetoIteration>& kineto) {
  const KinetoIteration* first = nullptr;
  for (const KinetoIteration& iteration : kineto) {
    if (!iteration.world_size) continue;
    if (first == nullptr) first = &iteration;
    if (iteration.world_size != first->world_size) {
      return invalid("two jobs are mixed: " + first->file + " is of a job of " +
                     std::to_string(*first->world_size) + " ranks, " + iteration.file + " of " +
                     std::to_string(*iteration.world_size));
    }
  }
  return first == nullptr ? std::nullopt : first->world_size;
}

Result<std::vector<RankCommunication>> join_ranks(const std::vector<KinetoIteration>& kineto,
                                                  const std::vector<ExecutionTrace>& traces) {
  std::vector<RankCommunication> ranks;
  for (std::size_t rank = 0; rank < std::max(kineto.size(), traces.size()); ++rank) {
    ASSIGN_OR_RETURN(RankCommunication one, traces.empty()   ? from_kineto(kineto[rank])
                                            : kineto.empty() ? from_execution_trace(traces[rank])
                                                             : join(kineto[rank], traces[rank]));
    if (!ranks.empty() && one.collectives.size() != ranks[0].collectives.size()) {
      return invalid("rank " + std::to_string(rank) + " (" + one.file + ") has " +
                     std::to_string(one.collectives.size()) + " communications, rank 0 (" +
                     ranks[0].file + ") has " + std::to_string(ranks[0].collectives.size()) +
                     "; all must be of the same iteration of one job");
    }
    ranks.push_back(std::move(one));
  }
  return ranks;
}

Profile frame(std::size_t ranks) {
  Profile profile;
  profile.ranks = static_cast<std::uint32_t>(ranks);
  profile.streams = {"compute", "communication"};
  profile::Communicator world{.name = "world", .ranks = {}};
  for (std::uint32_t rank = 0; rank < profile.ranks; ++rank) world.ranks.push_back(Rank{rank});
  profile.communicators.push_back(std::move(world));
  return profile;
}

Result<std::vector<Op>> agree_on_all(const std::vector<RankCommunication>& ranks,
                                     const std::vector<KinetoIteration>& kineto, Profile& profile) {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < ranks[0].collectives.size(); ++i) {
    ASSIGN_OR_RETURN(Op op, agree(ranks, i, profile));
    for (const KinetoIteration& iteration : kineto) {
      const Span& kernel = iteration.collectives[i].kernel;
      const Duration took{kernel.end - kernel.begin};
      op.captured = &iteration == &kineto[0] ? took : std::min(op.captured, took);
    }
    ops.push_back(std::move(op));
  }
  return ops;
}

/// Index of each phase of a rank in the profile's phases, which it may lengthen.
std::vector<std::uint32_t> map_phases(const KinetoIteration& iteration, Profile& profile) {
  std::vector<std::uint32_t> map;
  for (std::string& name : phase_names(iteration)) {
    const auto found = std::find(profile.phases.begin(), profile.phases.end(), name);
    map.push_back(static_cast<std::uint32_t>(found - profile.phases.begin()));
    if (found == profile.phases.end()) profile.phases.push_back(std::move(name));
  }
  return map;
}

/// Without times: the collectives one after the other.
std::vector<Op> without_times(std::vector<Op> collectives) {
  for (Op& op : collectives) op.stream = kCommunicationStream;
  return collectives;
}

bool guesses_root(const std::vector<Op>& ops) {
  return std::any_of(ops.begin(), ops.end(), [](const Op& op) {
    return op.kind == OpKind::broadcast || op.kind == OpKind::reduce || op.kind == OpKind::gather;
  });
}

void describe(const std::vector<KinetoIteration>& kineto, const std::vector<ExecutionTrace>& traces,
              const std::vector<Op>& collectives, Profile& profile) {
  std::string& note = profile.provenance.note;
  if (!kineto.empty()) profile.provenance.format = "kineto";
  if (!traces.empty()) {
    profile.provenance.format +=
        std::string(kineto.empty() ? "" : " + ") + "pytorch execution trace 1.0.1";
  }
  if (kineto.empty()) {
    note =
        "no times: the execution traces alone have no kernels; collectives run one after the other";
  } else {
    note = "iteration " + kineto[0].name + "; compute inferred between launches and waits";
    if (traces.empty()) {
      note += "; what a wait is for is inferred; no splits, so every all_to_all is taken as equal";
    }
  }
  if (guesses_root(collectives)) note += "; roots are not in the capture and taken as position 0";
}

}  // namespace

Result<Profile> combine_pytorch(std::vector<KinetoIteration> kineto,
                                std::vector<ExecutionTrace> traces) {
  ASSIGN_OR_RETURN(std::optional<std::uint32_t> expected, world_size(kineto));
  if (!expected) {
    std::uint32_t count = 0;
    for (const auto& one : kineto) count = std::max(count, one.rank.value + 1);
    for (const auto& one : traces) count = std::max(count, one.rank.value + 1);
    expected = count;
  }
  if (!kineto.empty()) RETURN_IF_ERROR(complete_ranks(kineto, expected, "the Kineto trace"));
  if (!traces.empty()) RETURN_IF_ERROR(complete_ranks(traces, expected, "the execution trace"));

  ASSIGN_OR_RETURN(const std::vector<RankCommunication> ranks, join_ranks(kineto, traces));
  Profile profile = frame(ranks.size());
  ASSIGN_OR_RETURN(const std::vector<Op> collectives, agree_on_all(ranks, kineto, profile));
  std::vector<profile::RankOps> ops;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Rank id{static_cast<std::uint32_t>(rank)};
    if (kineto.empty()) {
      ops.push_back({id, without_times(collectives)});
    } else {
      const auto phases = map_phases(kineto[rank], profile);
      ops.push_back({id, timeline(kineto[rank], ranks[rank].waits, collectives, phases)});
    }
  }
  if (profile.phases.empty()) profile.phases = {"iteration"};
  profile.classes = profile::fold(std::move(ops));
  describe(kineto, traces, collectives, profile);
  return profile;
}

}  // namespace rehearsal::importer

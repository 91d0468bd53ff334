#include "core/import/rank_communication.hpp"

#include <map>
#include <set>

namespace rehearsal::importer {
namespace {

std::string rank_label(Rank rank) { return "rank " + std::to_string(rank.value); }

Failure disagree(const KinetoIteration& kineto, const ExecutionTrace& trace, std::size_t number,
                 const std::string& one, const std::string& other) {
  return invalid(rank_label(kineto.rank) + ", communication " + std::to_string(number) + ": " +
                 kineto.file + " has " + one + ", " + trace.file + " has " + other +
                 "; both must be of the same iteration of one job");
}

/// Host time of the end of the phase in which `time` lies, at most the iteration's end.
std::int64_t end_of_phase(const KinetoIteration& kineto, std::int64_t time) {
  std::int64_t end = kineto.span.end;
  for (const KinetoIteration::Phase& phase : kineto.phases) {
    if (phase.span.begin <= time) end = std::max(time, phase.span.end);
  }
  return std::min(end, kineto.span.end);
}

/// A process group is an address within its process; without a list of its ranks only one is sure.
Result<void> check_one_group(const ExecutionTrace& trace) {
  std::optional<std::uint64_t> group;
  for (const ExecutionTrace::Entry& entry : trace.entries) {
    if (!entry.collective) continue;
    if (group && *group != entry.group) {
      return wrong_record(
          trace.file, "node", entry.node,
          "a second process group; this vintage does not say which ranks are in it");
    }
    group = entry.group;
  }
  return {};
}

std::vector<const ExecutionTrace::Entry*> entries_of(const ExecutionTrace& trace, bool waits) {
  std::vector<const ExecutionTrace::Entry*> entries;
  for (const ExecutionTrace::Entry& entry : trace.entries) {
    if (entry.collective.has_value() != waits) entries.push_back(&entry);
  }
  return entries;
}

/// Fills the collectives that nothing in the iteration waits for.
void wait_at_phase_end(const KinetoIteration& kineto,
                       const std::set<std::size_t>& in_next_iteration, WaitTimes& waits) {
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (!waits[i] && !in_next_iteration.contains(i)) {
      waits[i] = end_of_phase(kineto, kineto.collectives[i].launched);
    }
  }
}

Result<WaitTimes> wait_times(const KinetoIteration& kineto, const ExecutionTrace& trace,
                             const std::vector<const ExecutionTrace::Entry*>& collectives) {
  const auto waits = entries_of(trace, true);
  if (waits.size() != kineto.waits.size()) {
    return invalid(rank_label(kineto.rank) + ": " + kineto.file + " has " +
                   std::to_string(kineto.waits.size()) + " waits, " + trace.file + " has " +
                   std::to_string(waits.size()) +
                   "; both must be of the same iteration of one job");
  }
  std::map<std::int64_t, std::size_t> by_sequence;
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    if (!by_sequence.emplace(collectives[i]->sequence, i).second) {
      return wrong_record(
          trace.file, "node", collectives[i]->node,
          "sequence number " + std::to_string(collectives[i]->sequence) + " is there twice");
    }
  }
  WaitTimes times(collectives.size());
  std::set<std::size_t> in_next_iteration;
  for (std::size_t k = 0; k < waits.size(); ++k) {
    const std::int64_t sequence = waits[k]->sequence;
    if (const auto found = by_sequence.find(sequence); found != by_sequence.end()) {
      const std::size_t i = found->second;
      if (kineto.waits[k] < kineto.collectives[i].launched) {
        return wrong_record(trace.file, "node", waits[k]->node,
                            "it waits for communication " + std::to_string(i) +
                                " before that is launched in " + kineto.file);
      }
      if (!times[i]) times[i] = kineto.waits[k];
      continue;
    }
    // Of the iteration before; there it had the same place.
    const auto same_place =
        by_sequence.find(sequence + static_cast<std::int64_t>(collectives.size()));
    if (same_place != by_sequence.end()) in_next_iteration.insert(same_place->second);
  }
  wait_at_phase_end(kineto, in_next_iteration, times);
  return times;
}

}  // namespace

Result<RankCommunication> join(const KinetoIteration& kineto, const ExecutionTrace& trace) {
  RETURN_IF_ERROR(check_one_group(trace));
  const auto entries = entries_of(trace, false);
  RankCommunication joined{.rank = kineto.rank, .file = trace.file, .collectives = {}, .waits = {}};
  for (std::size_t i = 0; i < std::max(entries.size(), kineto.collectives.size()); ++i) {
    const auto one = i < kineto.collectives.size() ? kineto.collectives[i].what.text() : "nothing";
    const auto other = i < entries.size() ? entries[i]->collective->text() : "nothing";
    if (i >= entries.size() || i >= kineto.collectives.size()) {
      return disagree(kineto, trace, i, one, other);
    }
    const CapturedCollective& timed = kineto.collectives[i].what;
    const CapturedCollective& split = *entries[i]->collective;
    if (timed.kind != split.kind || timed.elements != split.elements ||
        timed.element_bytes != split.element_bytes) {
      return disagree(kineto, trace, i, one, other);
    }
    joined.collectives.push_back(split);
  }
  ASSIGN_OR_RETURN(joined.waits, wait_times(kineto, trace, entries));
  return joined;
}

Result<RankCommunication> from_kineto(const KinetoIteration& kineto) {
  RankCommunication only{.rank = kineto.rank, .file = kineto.file, .collectives = {}, .waits = {}};
  for (const auto& collective : kineto.collectives) only.collectives.push_back(collective.what);
  only.waits.resize(kineto.collectives.size());
  for (const std::int64_t time : kineto.waits) {
    std::optional<std::size_t> last_other;
    std::optional<std::size_t> first_all_reduce;
    for (std::size_t i = 0; i < kineto.collectives.size(); ++i) {
      if (only.waits[i] || kineto.collectives[i].launched > time) continue;
      if (only.collectives[i].kind != profile::OpKind::all_reduce) {
        last_other = i;
      } else if (!first_all_reduce) {
        first_all_reduce = i;
      }
    }
    const auto target = last_other ? last_other : first_all_reduce;
    if (target) only.waits[*target] = time;
  }
  wait_at_phase_end(kineto, {}, only.waits);
  return only;
}

Result<RankCommunication> from_execution_trace(const ExecutionTrace& trace) {
  RETURN_IF_ERROR(check_one_group(trace));
  RankCommunication only{.rank = trace.rank, .file = trace.file, .collectives = {}, .waits = {}};
  for (const auto* entry : entries_of(trace, false)) only.collectives.push_back(*entry->collective);
  return only;
}

}  // namespace rehearsal::importer

#include "core/plan/explain.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "core/base/table.hpp"
#include "core/base/text.hpp"
#include "core/plan/choices.hpp"
#include "core/plan/node_placement.hpp"
#include "core/plan/placement.hpp"

namespace rehearsal::plan {
namespace {

using collective::Candidate;
using collective::Choice;

std::string microseconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", value);
  return text;
}

std::string count_of(std::uint64_t count, std::string_view one) {
  return grouped(count) + " " + std::string(one) + (count == 1 ? "" : "s");
}

profile::Op op_of(const OpChoice& picked) {
  profile::Op op;
  op.kind = picked.kind;
  op.communicator = picked.communicator;
  op.bytes = picked.bytes;
  op.peer_bytes = picked.peer_bytes;
  return op;
}

std::string picked_text(const OpChoice& picked) {
  const Choice& choice = picked.choice;
  std::string text;
  if (goes_by_pairs(picked.kind)) {
    text = "pairs of ranks, " + count_of(choice.channels, "channel");
    if (choice.channels_per_peer != 0)
      text += ", at most " + std::to_string(choice.channels_per_peer) + " for a peer";
    text += ", steps of " + format_bytes_exact(choice.chunk);
  } else {
    text = std::string(to_string(choice.algorithm)) + " with " +
           std::string(to_string(choice.protocol)) + ", " + count_of(choice.channels, "channel") +
           ", chunks of " + format_bytes_exact(choice.chunk) + " in " +
           count_of(choice.slices_per_chunk, "slice");
  }
  return text + ", " + count_of(choice.credits, "credit");
}

std::string candidates_table(const std::vector<Candidate>& candidates, const Choice& picked) {
  using enum Table::Align;
  if (candidates.empty()) return "";
  Table table({{"algorithm"}, {"protocol"}, {"channels", right}, {"time", right}, {""}});
  std::vector<std::string_view> reasons;  // of those that are not allowed, each once
  for (const Candidate& candidate : candidates) {
    const bool is_picked =
        candidate.algorithm == picked.algorithm && candidate.protocol == picked.protocol;
    std::string remark = is_picked ? "picked" : "";
    if (!candidate.allowed) {
      auto reason = std::ranges::find(reasons, candidate.why_not);
      if (reason == reasons.end()) reason = reasons.insert(reason, candidate.why_not);
      remark = "not allowed (" + std::to_string(reason - reasons.begin() + 1) + ")";
    }
    table.add({std::string(to_string(candidate.algorithm)),
               std::string(to_string(candidate.protocol)),
               candidate.channels == 0 ? "-" : grouped(candidate.channels),
               candidate.time_us == 0 ? "-" : microseconds(candidate.time_us), remark});
  }
  std::string text = table.text("    ");
  for (std::size_t i = 0; i < reasons.size(); ++i)
    text += "    (" + std::to_string(i + 1) + ") " + std::string(reasons[i]) + "\n";
  return text;
}

std::string job_text(const Plan& plan, JobIndex index, const ChoiceMaker& maker) {
  const PlannedJob& job = plan.jobs[index.value];
  Shapes shapes{plan, index};
  std::string text;
  for (const OpChoice& picked : job.choices) {
    const auto& communicator = job.profile->communicators[picked.communicator.value];
    const collective::Shape& shape = shapes.of(picked.communicator);
    text += "\n  " + std::string(to_string(picked.kind));
    if (picked.bytes.count() != 0) text += " of " + format_bytes(picked.bytes);
    if (picked.peer_bytes)
      text += " of " + in_quotes(job.profile->peer_bytes[*picked.peer_bytes].name);
    text += " on " + in_quotes(communicator.name) + ", " + count_of(shape.size(), "rank") + " on " +
            count_of(shape.nodes(), "node") + " and " + count_of(shape.rails().size(), "rail") +
            "\n    " + picked_text(picked) + "\n";
    text += candidates_table(maker.candidates(op_of(picked), shape), picked.choice);
  }
  return text;
}

}  // namespace

std::string explain(const Plan& plan, const Drill& drill, const Nodes& nodes) {
  std::string text = "Why the collectives of drill '" + plan.drill +
                     "' are done as they are: NCCL v2.30's model, the least time wins.\n";
  for (std::uint32_t i = 0; i < plan.jobs.size(); ++i) {
    const PlannedJob& job = plan.jobs[i];
    text += "\njob " + in_quotes(job.name);
    if (!job.node) {
      text +=
          ": nothing is known of its nodes, so rings as `collectives` says. Name them with "
          "`node:`, and NCCL's model picks.\n";
      continue;
    }
    text += " on nodes " + in_quotes(job.node->name) + "\n";
    const auto node = find_node(drill.jobs[i], nodes, "");
    if (!node) continue;  // then there would be no plan
    text += job_text(plan, JobIndex{i}, ChoiceMaker{*node, plan.collectives, drill.forced});
  }
  return text;
}

}  // namespace rehearsal::plan

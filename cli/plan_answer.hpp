#pragma once

#include <string>
#include <string_view>

#include "cli/drill_file.hpp"
#include "core/base/result.hpp"

namespace rehearsal::cli {

class OperatorSession;

/// The plan that the coordinator made of a drill and the agents that are there.
struct PlanAnswer {
  std::string json;
  std::string table;
  std::string hash;
};

/// Has the coordinator plan `drill`, whose profiles it has; nothing is started. An interrupt ends
/// it with `refused`.
Result<PlanAnswer> ask_for_plan(OperatorSession& session, const DrillFile& drill);

/// Puts the descriptions of nodes that the drill names into a PlanRequest or RunRequest.
template <typename Message>
void add_nodes(const DrillFile& drill, Message& message) {
  for (const NamedNode& node : drill.nodes) {
    auto& file = *message.add_nodes();
    file.set_name(node.name);
    file.set_text(node.text);
  }
}

/// A plan hash as people give it: its first 12 or more hexadecimal digits, at most all 64. In lower
/// case, or what would be right.
Result<std::string> parse_plan_hash(std::string_view text);

/// As many digits of a hash as tables and progress show.
std::string shown_hash(std::string_view hash);

}  // namespace rehearsal::cli

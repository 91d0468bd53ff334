#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/status_answer.hpp"

namespace rehearsal::cli {
namespace {

Result<ExitCode> examine(const std::string& coordinator, bool as_json) {
  ASSIGN_OR_RETURN(const protocol::StatusReply status, ask_for_status(coordinator));
  const std::vector<Finding> findings = diagnose(status);
  std::fputs((as_json ? findings_json(findings) : findings_text(findings)).c_str(), stdout);
  const auto worst = std::ranges::max_element(findings, {}, &Finding::health)->health;
  if (worst == Finding::Health::bad) return ExitCode::fail;
  return worst == Finding::Health::good ? ExitCode::pass : ExitCode::warn;
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("doctor", "look for what would go wrong: agents, clocks, RDMA ports");
  command->add_flag("--json", *as_json, "as one JSON object");
  command->callback([&context, as_json] {
    const auto code = examine(context.coordinator, *as_json);
    context.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace rehearsal::cli

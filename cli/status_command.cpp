#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/status_answer.hpp"
#include "cli/status_text.hpp"

namespace rehearsal::cli {
namespace {

Result<void> show_status(const std::string& coordinator, bool as_json) {
  ASSIGN_OR_RETURN(const protocol::StatusReply status, ask_for_status(coordinator));
  std::fputs((as_json ? status_json(status) : status_text(status)).c_str(), stdout);
  return {};
}

}  // namespace

void add_status_command(CLI::App& app, Context& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("status", "show the agents and the run that is on");
  command->add_flag("--json", *as_json, "as one JSON object");
  command->callback([&context, as_json] {
    const auto done = show_status(context.coordinator, *as_json);
    context.exit_code = done ? ExitCode::pass : report_error(done.error());
  });
}

}  // namespace rehearsal::cli

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/drill_file.hpp"
#include "cli/operator_session.hpp"
#include "cli/plan_answer.hpp"

namespace rehearsal::cli {
namespace {

Result<void> show_plan(const std::string& coordinator, const std::string& path, bool as_json) {
  ASSIGN_OR_RETURN(const DrillFile drill, load_drill(path));
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  RETURN_IF_ERROR(upload_profiles(session, drill));
  ASSIGN_OR_RETURN(const PlanAnswer answer, ask_for_plan(session, drill));
  std::fputs((as_json ? answer.json : answer.table).c_str(), stdout);
  return {};
}

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
  struct Options {
    std::string drill;
    bool as_json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "plan", "show what a drill would do on the agents that are there; sends no traffic");
  command->add_option("DRILL", options->drill, "the drill, a YAML file")->required();
  command->add_flag("--json", options->as_json, "print plan.json instead of the table");
  command->callback([&context, options] {
    const auto done = show_plan(context.coordinator, options->drill, options->as_json);
    context.exit_code = done ? ExitCode::pass : report_error(done.error());
  });
}

}  // namespace rehearsal::cli

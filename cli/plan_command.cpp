#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/drill_file.hpp"
#include "cli/local_plan.hpp"
#include "cli/operator_session.hpp"
#include "cli/plan_answer.hpp"
#include "core/plan/explain.hpp"
#include "core/plan/plan_json.hpp"
#include "core/plan/plan_table.hpp"

namespace rehearsal::cli {
namespace {

struct PlanOptions {
  std::string drill;
  bool as_json = false;
  bool explain = false;
  bool without_cluster = false;
};

Result<void> show_plan(const std::string& coordinator, const PlanOptions& options) {
  ASSIGN_OR_RETURN(const DrillFile drill, load_drill(options.drill));
  if (options.without_cluster || options.explain) {
    ASSIGN_OR_RETURN(const LocalPlan local, options.without_cluster
                                                ? plan_without_cluster(drill)
                                                : plan_with_cluster(drill, coordinator));
    const std::string text = options.explain
                                 ? plan::explain(local.plan, drill.drill, nodes_of(drill))
                             : options.as_json ? plan::plan_json(local.plan, local.load)
                                               : plan::plan_table(local.plan, local.load);
    std::fputs(text.c_str(), stdout);
    return {};
  }
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  RETURN_IF_ERROR(upload_profiles(session, drill));
  ASSIGN_OR_RETURN(const PlanAnswer answer, ask_for_plan(session, drill));
  std::fputs((options.as_json ? answer.json : answer.table).c_str(), stdout);
  return {};
}

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand(
      "plan", "show what a drill would do on the agents that are there; sends no traffic");
  command->add_option("DRILL", options->drill, "the drill, a YAML file")->required();
  command->add_flag("--json", options->as_json, "print plan.json instead of the table");
  command
      ->add_flag("--explain", options->explain,
                 "say why collectives are done as they are, with the model's time per candidate")
      ->excludes("--json");
  command->add_flag("--without-cluster", options->without_cluster,
                    "take the hosts from the drill as if they were there; asks no coordinator");
  command->callback([&context, options] {
    const auto done = show_plan(context.coordinator, *options);
    context.exit_code = done ? ExitCode::pass : report_error(done.error());
  });
}

}  // namespace rehearsal::cli

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/drill_file.hpp"
#include "cli/interrupts.hpp"
#include "cli/plan_answer.hpp"
#include "cli/run_session.hpp"

namespace rehearsal::cli {
namespace {

Result<ExitCode> run(const std::string& path, const std::optional<std::string>& plan_hash,
                     RunOptions options) {
  if (plan_hash) {
    ASSIGN_OR_RETURN(options.plan_hash, parse_plan_hash(*plan_hash));
  }
  ASSIGN_OR_RETURN(const DrillFile drill, load_drill(path));
  Interrupts interrupts;
  return run_drill(drill, options, interrupts);
}

}  // namespace

void add_run_command(CLI::App& app, Context& context) {
  struct Options {
    std::string drill;
    std::string out;
    std::optional<std::string> plan_hash;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("run", "run a drill and print its report; exits with the verdict");
  command->add_option("DRILL", options->drill, "the drill, a YAML file")->required();
  command->add_option("--out", options->out, "new folder for the run's files (default runs/<run>)")
      ->type_name("DIR");
  command
      ->add_option(
          "--plan-hash", options->plan_hash,
          "run only if the hash of the plan still begins so: 12 digits or more (rehearse plan "
          "prints them)")
      ->type_name("HASH");
  command->callback([&context, options] {
    RunOptions run_options{context.coordinator, std::nullopt, ""};
    if (!options->out.empty()) run_options.out = options->out;
    const auto code = run(options->drill, options->plan_hash, run_options);
    context.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace rehearsal::cli

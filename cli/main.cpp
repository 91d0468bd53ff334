#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/commands.hpp"
#include "cli/usage.hpp"

namespace {

using rehearsal::cli::Context;
using rehearsal::cli::ExitCode;
using rehearsal::cli::usage_error_text;
using rehearsal::cli::version_text;

constexpr const char* kFooter =
    "Exit codes: 0 pass, 1 warn, 2 fail, 3 unknown (a lost agent, a timeout, a refusal), 64 usage "
    "(wrong options, drill or profile), 65 a capture that cannot be imported.";

void add_commands(CLI::App& app, Context& context) {
  using namespace rehearsal::cli;
  add_profile_command(app, context);
  add_plan_command(app, context);
  add_flows_command(app, context);
  add_run_command(app, context);
  add_status_command(app, context);
  add_stop_command(app, context);
  add_report_command(app, context);
  add_drill_command(app, context);
  add_faults_command(app, context);
  add_demo_command(app, context);
  add_doctor_command(app, context);
  add_explain_command(app, context);
  add_version_command(app, context);
}

int run(int count, char** arguments) {
  Context context;
  CLI::App app{"rehearse: the traffic of a GPU training job, replayed between hosts from CPUs",
               "rehearse"};
  app.footer(kFooter);
  app.set_version_flag("--version", version_text(), "print the version");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--coordinator", context.coordinator, "where rehearsald listens")
      ->envname("REHEARSAL_COORDINATOR")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  add_commands(app, context);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    std::fprintf(stderr, "rehearse: %s (rehearse --help)\n", usage_error_text(app, error).c_str());
    return static_cast<int>(ExitCode::usage);
  }
  return static_cast<int>(context.exit_code);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rehearse: %s\n", error.what());
  }
  return static_cast<int>(ExitCode::unknown);
}

#pragma once

#include <string>

#include "cli/exit_code.hpp"

namespace CLI {
class App;
}

namespace rehearsal::cli {

/// What the commands share with main: the options before the command, and how it ended.
struct Context {
  std::string coordinator = "127.0.0.1:7470";
  ExitCode exit_code = ExitCode::pass;
};

// Each adds one command to `app`: its options, its help, and a callback that runs it and sets
// `context.exit_code`. `context` outlives `app`. One file each.
void add_profile_command(CLI::App& app, Context& context);
void add_plan_command(CLI::App& app, Context& context);
void add_flows_command(CLI::App& app, Context& context);
void add_run_command(CLI::App& app, Context& context);
void add_status_command(CLI::App& app, Context& context);
void add_stop_command(CLI::App& app, Context& context);
void add_report_command(CLI::App& app, Context& context);
void add_drill_command(CLI::App& app, Context& context);
void add_faults_command(CLI::App& app, Context& context);
void add_demo_command(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_explain_command(CLI::App& app, Context& context);
void add_version_command(CLI::App& app, Context& context);

/// What `rehearse version` and `rehearse --version` print, without the end of the line.
std::string version_text();

}  // namespace rehearsal::cli

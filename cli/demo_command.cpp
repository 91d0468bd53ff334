#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/demo_cluster.hpp"
#include "cli/demo_drill.hpp"
#include "cli/drill_file.hpp"
#include "cli/installation.hpp"
#include "cli/interrupts.hpp"
#include "cli/run_folder.hpp"
#include "cli/run_session.hpp"
#include "core/base/text.hpp"

namespace rehearsal::cli {
namespace {

struct DemoOptions {
  std::string profile = "dlrm8-v100";
  std::uint32_t agents = 4;
  std::uint32_t iterations = 20;
  std::string out;
};

Result<DrillFile> load_demo(const DemoOptions& options) {
  const auto hosts = DemoCluster::host_names(options.agents);
  ASSIGN_OR_RETURN(
      DrillFile drill,
      load_drill_text(demo_drill(options.profile, options.iterations, hosts), "demo drill", "."));
  const std::uint32_t ranks = drill.profiles.front().ranks;
  if (options.agents > ranks)
    return invalid("--agents " + std::to_string(options.agents) + ": profile " +
                   in_quotes(options.profile) + " has " + std::to_string(ranks) +
                   " ranks; expected 1 to " + std::to_string(ranks) + " agents");
  return drill;
}

Result<ExitCode> run_demo(const DemoOptions& options) {
  // All that the operator gave is looked at before a process is started.
  ASSIGN_OR_RETURN(const DrillFile drill, load_demo(options));
  if (!options.out.empty()) RETURN_IF_ERROR(check_run_folder_is_free(options.out));
  for (const char* program : {"rehearsald", "rehearsal-agent"})
    RETURN_IF_ERROR(sibling_program(program));
  Interrupts interrupts;  // from here on, so that an interrupt also ends the processes in order
  std::fprintf(stderr, "starting a coordinator and %u agents on 127.0.0.1\n", options.agents);
  ASSIGN_OR_RETURN(const DemoCluster cluster, DemoCluster::start(program_folder(), options.agents));
  RunOptions run_options{cluster.coordinator(), std::nullopt, ""};
  if (!options.out.empty()) run_options.out = options.out;
  return run_drill(drill, run_options, interrupts);
}

}  // namespace

void add_demo_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* command = app.add_subcommand(
      "demo", "replay a shipped job between four agents on this machine; needs no root");
  command->add_option("--profile", options->profile, "a shipped profile, or a file")
      ->capture_default_str();
  command->add_option("--agents", options->agents, "how many agents")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  command->add_option("--iterations", options->iterations, "how many iterations")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  command->add_option("--out", options->out, "new folder for the run's files (default runs/<run>)")
      ->type_name("DIR");
  command->callback([&context, options] {
    const auto code = run_demo(*options);
    context.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace rehearsal::cli

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/shipped_drills.hpp"

namespace rehearsal::cli {
namespace {

ExitCode list() {
  const auto drills = shipped_drills(shipped_drill_folders(program_folder()));
  if (!drills) return report_error(drills.error());
  std::fputs(list_text(*drills).c_str(), stdout);
  return ExitCode::pass;
}

ExitCode show(const std::string& name) {
  const auto drills = shipped_drills(shipped_drill_folders(program_folder()));
  if (!drills) return report_error(drills.error());
  const auto text = text_of(*drills, name);
  if (!text) return report_error(text.error());
  std::fputs(text->c_str(), stdout);
  return ExitCode::pass;
}

}  // namespace

void add_drill_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("drill", "the shipped drills: faults to rehearse");
  command->require_subcommand(1);
  command->add_subcommand("list", "name them, and what each does")->callback([&context] {
    context.exit_code = list();
  });
  auto name = std::make_shared<std::string>();
  CLI::App* shown =
      command->add_subcommand("show", "print one, to be written to a file and given your hosts");
  shown->add_option("NAME", *name, "as `rehearse drill list` names it")->required();
  shown->callback([&context, name] { context.exit_code = show(*name); });
}

}  // namespace rehearsal::cli

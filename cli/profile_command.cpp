#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/profile_files.hpp"

namespace rehearsal::cli {
namespace {

void add_import(CLI::App& app, Context& context) {
  struct Options {
    std::vector<std::string> places;
    std::string output;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "import",
      "make one profile of a captured job: Kineto traces, PyTorch execution traces, Chakra");
  command->add_option("DIR", options->places, "folders (or files) with the captures of all ranks")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "the profile to write; binary, or text if it ends in .yaml")
      ->required();
  command->callback([&context, options] {
    context.exit_code = profile_import(options->places, options->output);
  });
}

void add_show(CLI::App& app, Context& context) {
  struct Options {
    std::string file;
    bool as_json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("show", "print a profile as tables");
  command->add_option("FILE", options->file, "the profile, binary or YAML")->required();
  command->add_flag("--json", options->as_json, "print all of it as JSON");
  command->callback(
      [&context, options] { context.exit_code = profile_show(options->file, options->as_json); });
}

void add_verify(CLI::App& app, Context& context) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "verify", "say all that is wrong with a profile; exits with 2 if anything");
  command->add_option("FILE", *file, "the profile, binary or YAML")->required();
  command->callback([&context, file] { context.exit_code = profile_verify(*file); });
}

}  // namespace

void add_profile_command(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("profile", "import, show and verify profiles of jobs");
  command->require_subcommand(1);
  add_import(*command, context);
  add_show(*command, context);
  add_verify(*command, context);
}

}  // namespace rehearsal::cli

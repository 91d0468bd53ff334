#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/version.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::cli {

std::string version_text() {
  return std::string{kSoftware} + ", protocol " + std::to_string(protocol::kVersionMin) + " to " +
         std::to_string(protocol::kVersionMax);
}

void add_version_command(CLI::App& app, Context& context) {
  app.add_subcommand("version", "print the version of this program and of the protocol it speaks")
      ->callback([&context] {
        std::puts(version_text().c_str());
        context.exit_code = ExitCode::pass;
      });
}

}  // namespace rehearsal::cli

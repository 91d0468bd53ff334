#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/commands.hpp"
#include "cli/version.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::cli {

void add_version_command(CLI::App& app, Context& context) {
  app.add_subcommand("version", "print the version of this program and of the protocol it speaks")
      ->callback([&context] {
        std::printf("%s, protocol %u to %u\n", kSoftware, protocol::kVersionMin,
                    protocol::kVersionMax);
        context.exit_code = ExitCode::pass;
      });
}

}  // namespace rehearsal::cli

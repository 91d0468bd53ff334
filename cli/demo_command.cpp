#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace rehearsal::cli {

void add_demo_command(CLI::App&, Context&) {}

}  // namespace rehearsal::cli

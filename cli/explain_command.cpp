#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "core/report/error_catalogue.hpp"

namespace rehearsal::cli {
namespace {

std::string list_of_errors() {
  std::string text;
  for (const report::CatalogueEntry& entry : report::error_catalogue())
    text += std::string(entry.id) + "  " + std::string(entry.title) + "\n";
  return text;
}

ExitCode explain(const std::string& id) {
  if (id.empty()) {
    std::fputs(list_of_errors().c_str(), stdout);
    return ExitCode::pass;
  }
  const report::CatalogueEntry* entry = report::find_error(id);
  if (entry == nullptr) {
    std::fprintf(stderr, "rehearse: there is no error '%s'; `rehearse explain` lists them all\n",
                 id.c_str());
    return ExitCode::usage;
  }
  std::fputs(report::explain(*entry).c_str(), stdout);
  return ExitCode::pass;
}

}  // namespace

void add_explain_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("explain", "say what an error means and what to try");
  auto id = std::make_shared<std::string>();
  command->add_option("id", *id, "its id, like REHEARSAL-RDMA-020; none: list all");
  command->callback([id, &context] { context.exit_code = explain(*id); });
}

}  // namespace rehearsal::cli

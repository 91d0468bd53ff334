#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/commands.hpp"
#include "core/report/table.hpp"
#include "runtime/files.hpp"

namespace rehearsal::cli {
namespace {

constexpr Bytes kSummaryBytesMax{256U << 20};

Result<ExitCode> show_report(const std::filesystem::path& folder, bool as_json) {
  const std::filesystem::path path = folder / "summary.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(ErrorCode::not_found, ErrorSource::config,
                folder.string() + " is no run folder (it has no summary.json)");
  ASSIGN_OR_RETURN(const std::string text, runtime::read_file(path, kSummaryBytesMax));
  auto summary = report::read_summary(text);
  if (!summary) return Failure{summary.error().within(path.string())};
  if (as_json)
    std::fputs(text.c_str(), stdout);
  else
    std::fputs(report::summary_table(*summary, isatty(STDOUT_FILENO) == 1).c_str(), stdout);
  return exit_code_of_number(static_cast<unsigned>(report::exit_code(summary->verdict)));
}

}  // namespace

void add_report_command(CLI::App& app, Context& context) {
  struct Options {
    std::string folder;
    bool as_json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "report", "print the report of a run again, from its folder alone; exits with its verdict");
  command->add_option("DIR", options->folder, "the run folder")->required();
  command->add_flag("--json", options->as_json, "print summary.json instead of the table");
  command->callback([&context, options] {
    const auto code = show_report(options->folder, options->as_json);
    context.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace rehearsal::cli

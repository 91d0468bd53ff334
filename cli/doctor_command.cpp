#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/installation.hpp"
#include "cli/status_answer.hpp"

namespace rehearsal::cli {
namespace {

struct Wishes {
  bool as_json = false;
  bool local = false;
  std::string config;
};

Result<ExitCode> examine_cluster(const std::string& coordinator, bool as_json) {
  ASSIGN_OR_RETURN(const protocol::StatusReply status, ask_for_status(coordinator));
  const std::vector<Finding> findings = diagnose(status);
  std::fputs((as_json ? host::findings_json(findings) : host::findings_text(findings)).c_str(),
             stdout);
  return static_cast<ExitCode>(host::worst(findings));
}

/// The agent beside this program knows its host: it takes our place.
Result<ExitCode> examine_this_host(const Wishes& wishes) {
  ASSIGN_OR_RETURN(const auto program, sibling_program("rehearsal-agent"));
  std::vector<std::string> command = {program.string()};
  if (!wishes.config.empty()) command.insert(command.end(), {"--config", wishes.config});
  command.emplace_back("doctor");
  if (wishes.as_json) command.emplace_back("--json");
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  return system_failure(ErrorSource::host, "cannot start " + program.string(), errno);
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
  auto wishes = std::make_shared<Wishes>();
  CLI::App* command = app.add_subcommand(
      "doctor", "look for what would go wrong: agents, clocks, NICs, RDMA ports, cores");
  command->add_flag("--json", wishes->as_json, "as one JSON object");
  CLI::Option* local =
      command->add_flag("--local", wishes->local, "only this host, without the coordinator");
  command->add_option("--config", wishes->config, "with --local: the agent's configuration file")
      ->needs(local);
  command->callback([&context, wishes] {
    const auto code = wishes->local ? examine_this_host(*wishes)
                                    : examine_cluster(context.coordinator, wishes->as_json);
    context.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace rehearsal::cli

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
#include "cli/operator_session.hpp"
#include "cli/status_answer.hpp"
#include "core/coordination/messages.hpp"

namespace rehearsal::cli {
namespace {

struct Wishes {
  bool as_json = false;
  bool local = false;
  bool reach = false;
  std::string transport = "tcp";
  std::uint64_t seed = 1;
  std::string config;
};

/// Longer than agents may take for opening and connecting.
constexpr Duration kReachLimit = std::chrono::seconds{20};

Result<std::vector<Finding>> ask_for_reach(const std::string& coordinator, const Wishes& wishes) {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  protocol::Envelope request;
  request.mutable_reach_request()->set_transport(wishes.transport);
  request.mutable_reach_request()->set_seed(wishes.seed);
  RETURN_IF_ERROR(session.send(request));
  ASSIGN_OR_RETURN(const protocol::Envelope answer,
                   session.expect(protocol::Envelope::kReachReply, kReachLimit,
                                  "whether data addresses reach one another"));
  std::vector<Finding> findings;
  for (const protocol::HostFinding& finding : answer.reach_reply().findings())
    findings.push_back(coordination::from_message(finding));
  return findings;
}

Result<ExitCode> examine_cluster(const std::string& coordinator, const Wishes& wishes) {
  const bool as_json = wishes.as_json;
  ASSIGN_OR_RETURN(const protocol::StatusReply status, ask_for_status(coordinator));
  std::vector<Finding> findings = diagnose(status);
  if (wishes.reach) {
    ASSIGN_OR_RETURN(const std::vector<Finding> more, ask_for_reach(coordinator, wishes));
    findings.insert(findings.end(), more.begin(), more.end());
  }
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
  CLI::Option* reach =
      command
          ->add_flag("--reach", wishes->reach,
                     "also connect all agents' data addresses with one another, as a run would, "
                     "and send a message on each way; not while a run is on")
          ->excludes(local);
  command->add_option("--transport", wishes->transport, "with --reach: tcp (default) or rdma")
      ->check(CLI::IsMember({"tcp", "rdma"}))
      ->needs(reach);
  command
      ->add_option("--seed", wishes->seed,
                   "with --reach and many hosts: which of the others each one tries")
      ->needs(reach);
  command->add_option("--config", wishes->config, "with --local: the agent's configuration file")
      ->needs(local);
  command->callback([&context, wishes] {
    const auto code =
        wishes->local ? examine_this_host(*wishes) : examine_cluster(context.coordinator, *wishes);
    context.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace rehearsal::cli

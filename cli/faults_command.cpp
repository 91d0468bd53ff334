#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/faults_text.hpp"
#include "cli/operator_session.hpp"

namespace rehearsal::cli {
namespace {

/// Longer than the coordinator waits for its agents.
constexpr Duration kFaultsLimit = std::chrono::seconds{75};

struct Options {
  std::string host;
  bool as_json = false;
};

Result<ExitCode> ask(const std::string& coordinator, const Options& options, bool clear) {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  protocol::Envelope request;
  request.mutable_faults_request()->set_clear(clear);
  request.mutable_faults_request()->set_host(options.host);
  RETURN_IF_ERROR(session.send(request));
  ASSIGN_OR_RETURN(
      const protocol::Envelope answer,
      session.expect(protocol::Envelope::kFaultsReply, kFaultsLimit, "what faults are on"));
  const protocol::FaultsReply& reply = answer.faults_reply();
  std::fputs((options.as_json ? faults_json(reply) : faults_text(reply)).c_str(), stdout);
  return faults_exit_code(reply);
}

void add(CLI::App& faults, Context& context, const std::string& name, const std::string& help,
         bool clear) {
  auto options = std::make_shared<Options>();
  CLI::App* command = faults.add_subcommand(name, help);
  command->add_option("--host", options->host, "only this one (default: all)");
  command->add_flag("--json", options->as_json, "as one JSON object");
  command->callback([&context, options, clear] {
    const auto code = ask(context.coordinator, *options, clear);
    context.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace

void add_faults_command(CLI::App& app, Context& context) {
  CLI::App* faults = app.add_subcommand(
      "faults",
      "faults of hosts that outlive their agents: by rehearsal-helper, rehearsal-external");
  faults->require_subcommand(1);
  add(*faults, context, "list", "show those that are on, or could not be undone", false);
  add(*faults, context, "clear",
      "undo them all, which ends a run that they belong to; what somebody else changed since stays",
      true);
}

}  // namespace rehearsal::cli

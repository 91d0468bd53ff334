#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/operator_session.hpp"
#include "cli/status_text.hpp"

namespace rehearsal::cli {
namespace {

constexpr Duration kStatusLimit = std::chrono::seconds{5};

Result<void> show_status(const std::string& coordinator, bool as_json) {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  protocol::Envelope request;
  request.mutable_status_request();
  RETURN_IF_ERROR(session.send(request));
  ASSIGN_OR_RETURN(const protocol::Envelope answer,
                   session.expect(protocol::Envelope::kStatusReply, kStatusLimit, "its status"));
  const protocol::StatusReply& status = answer.status_reply();
  std::fputs((as_json ? status_json(status) : status_text(status)).c_str(), stdout);
  return {};
}

}  // namespace

void add_status_command(CLI::App& app, Context& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("status", "show the agents and the run that is on");
  command->add_flag("--json", *as_json, "as one JSON object");
  command->callback([&context, as_json] {
    const auto done = show_status(context.coordinator, *as_json);
    context.exit_code = done ? ExitCode::pass : report_error(done.error());
  });
}

}  // namespace rehearsal::cli

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/operator_session.hpp"

namespace rehearsal::cli {
namespace {

constexpr Duration kStatusLimit = std::chrono::seconds{5};

Result<ExitCode> examine(const std::string& coordinator, bool as_json) {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  protocol::Envelope request;
  request.mutable_status_request();
  RETURN_IF_ERROR(session.send(request));
  ASSIGN_OR_RETURN(const protocol::Envelope answer,
                   session.expect(protocol::Envelope::kStatusReply, kStatusLimit, "its status"));
  const std::vector<Finding> findings = diagnose(answer.status_reply());
  std::fputs((as_json ? findings_json(findings) : findings_text(findings)).c_str(), stdout);
  const auto worst = std::ranges::max_element(findings, {}, &Finding::health)->health;
  if (worst == Finding::Health::bad) return ExitCode::fail;
  return worst == Finding::Health::good ? ExitCode::pass : ExitCode::warn;
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("doctor", "look for what would go wrong: agents, clocks, RDMA ports");
  command->add_flag("--json", *as_json, "as one JSON object");
  command->callback([&context, as_json] {
    const auto code = examine(context.coordinator, *as_json);
    context.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace rehearsal::cli

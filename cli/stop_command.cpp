#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/operator_session.hpp"

namespace rehearsal::cli {
namespace {

constexpr Duration kStopLimit = std::chrono::seconds{5};

Result<void> stop(const std::string& coordinator, const std::string& run) {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  protocol::Envelope request;
  request.mutable_stop_request()->set_run(run);
  RETURN_IF_ERROR(session.send(request));
  ASSIGN_OR_RETURN(const protocol::Envelope answer,
                   session.expect(protocol::Envelope::kStopReply, kStopLimit, "a reply to stop"));
  if (answer.stop_reply().run().empty())
    std::puts("nothing is running");
  else
    std::printf("stopping %s\n", answer.stop_reply().run().c_str());
  return {};
}

}  // namespace

void add_stop_command(CLI::App& app, Context& context) {
  auto run = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "stop", "stop the run that is on: no traffic after a second, a partial report stays");
  command->add_option("RUN", *run, "only if this run is on (default: whichever is)");
  command->callback([&context, run] {
    const auto done = stop(context.coordinator, *run);
    context.exit_code = done ? ExitCode::pass : report_error(done.error());
  });
}

}  // namespace rehearsal::cli

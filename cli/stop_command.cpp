#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/operator_session.hpp"

namespace rehearsal::cli {
namespace {

constexpr Duration kStopLimit = std::chrono::seconds{10};

Result<void> stop(const std::string& coordinator, const std::string& run) {
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  protocol::Envelope request;
  request.mutable_stop_request()->set_run(run);
  RETURN_IF_ERROR(session.send(request));
  const auto answer =
      session.expect(protocol::Envelope::kStopReply, kStopLimit, "that the run has stopped");
  if (!answer && answer.error().code == ErrorCode::not_found && run.empty()) {
    std::puts("no run is on");  // what was asked for holds already
    return {};
  }
  if (!answer) return Failure{answer.error()};
  std::printf("run %s has stopped\n", answer->stop_reply().run().c_str());
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

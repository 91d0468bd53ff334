#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/drill_file.hpp"
#include "cli/operator_session.hpp"
#include "core/protocol/parts.hpp"
#include "runtime/clock.hpp"

namespace rehearsal::cli {
namespace {

constexpr Duration kPlanLimit = std::chrono::seconds{60};
constexpr std::uint64_t kPlanBytesMax = std::uint64_t{1} << 30;

struct Answer {
  std::string json;
  std::string table;
};

/// A large plan.json comes in parts before the reply, a small one in it.
Result<Answer> take_answer(OperatorSession& session) {
  const Instant deadline = runtime::now() + kPlanLimit;
  protocol::PartAssembler parts{kPlanBytesMax, "plan.json"};
  while (true) {
    ASSIGN_OR_RETURN(const auto message, session.receive(deadline, "a plan"));
    if (!message) continue;
    if (message->has_file_part()) {
      const protocol::FilePart& file = message->file_part();
      RETURN_IF_ERROR(parts.add({file.size(), file.offset(), file.part()}));
    }
    if (!message->has_plan_reply()) continue;
    const protocol::PlanReply& reply = message->plan_reply();
    return Answer{parts.complete() ? parts.take() : reply.plan_json(), reply.table()};
  }
}

Result<void> show_plan(const std::string& coordinator, const std::string& path, bool as_json) {
  ASSIGN_OR_RETURN(const DrillFile drill, load_drill(path));
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(coordinator));
  RETURN_IF_ERROR(upload_profiles(session, drill));
  protocol::Envelope request;
  request.mutable_plan_request()->set_drill_text(drill.text);
  request.mutable_plan_request()->set_drill_file(drill.name);
  RETURN_IF_ERROR(session.send(request));
  ASSIGN_OR_RETURN(const Answer answer, take_answer(session));
  std::fputs((as_json ? answer.json : answer.table).c_str(), stdout);
  return {};
}

}  // namespace

void add_plan_command(CLI::App& app, Context& context) {
  struct Options {
    std::string drill;
    bool as_json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "plan", "show what a drill would do on the agents that are there; sends no traffic");
  command->add_option("DRILL", options->drill, "the drill, a YAML file")->required();
  command->add_flag("--json", options->as_json, "print plan.json instead of the table");
  command->callback([&context, options] {
    const auto done = show_plan(context.coordinator, options->drill, options->as_json);
    context.exit_code = done ? ExitCode::pass : report_error(done.error());
  });
}

}  // namespace rehearsal::cli

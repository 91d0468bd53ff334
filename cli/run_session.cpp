#include "cli/run_session.hpp"

#include <unistd.h>

#include <cstdio>

#include "cli/drill_file.hpp"
#include "cli/interrupts.hpp"
#include "cli/operator_session.hpp"
#include "cli/plan_answer.hpp"
#include "cli/run_folder.hpp"
#include "cli/terminal.hpp"
#include "core/report/table.hpp"
#include "runtime/clock.hpp"

namespace rehearsal::cli {
namespace {

using protocol::Envelope;

constexpr Duration kStartLimit = std::chrono::seconds{60};
/// For the partial report after an interrupt: the coordinator gives agents three seconds.
constexpr Duration kStopLimit = std::chrono::seconds{5};
/// What a run may take beside its traffic: more than the coordinator's deadlines for all states
/// together, so it is the coordinator that says for whom a run waits in vain.
constexpr Duration kOverheadMax = std::chrono::minutes{2};

/// One run, seen by the operator who started it.
class RunSession {
 public:
  RunSession(OperatorSession& session, Interrupts& interrupts, const RunOptions& options)
      : session_(session), interrupts_(interrupts), options_(options), progress_(stderr) {
    session_.watch(interrupts_);
  }

  Result<ExitCode> run(const DrillFile& drill) {
    RETURN_IF_ERROR(upload_profiles(session_, drill));
    if (interrupts_.requested())
      return fail(ErrorCode::refused, ErrorSource::control, "interrupted before the run began");
    ASSIGN_OR_RETURN(const std::string hash, required_hash(drill));
    RETURN_IF_ERROR(request(drill, hash));
    deadline_ = runtime::now() + kStartLimit;
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<Envelope> message,
                       session_.receive(deadline_, awaited()));
      if (!message) {
        RETURN_IF_ERROR(begin_to_stop());
        continue;
      }
      if (message->has_run_finished()) return finish(message->run_finished());
      RETURN_IF_ERROR(take(*message, drill));
    }
  }

 private:
  /// The whole hash that begins as the operator said: the coordinator compares all of it. Empty:
  /// any.
  Result<std::string> required_hash(const DrillFile& drill) {
    if (options_.plan_hash.empty()) return std::string{};
    ASSIGN_OR_RETURN(const PlanAnswer plan, ask_for_plan(session_, drill));
    if (plan.hash.starts_with(options_.plan_hash)) return plan.hash;
    return fail(ErrorCode::refused, ErrorSource::control,
                "the plan is now " + plan.hash + ", not " + options_.plan_hash +
                    ": the drill, a profile or the agents have changed; plan again");
  }

  Result<void> request(const DrillFile& drill, const std::string& plan_hash) {
    Envelope message;
    message.mutable_run_request()->set_drill_text(drill.text);
    message.mutable_run_request()->set_drill_file(drill.name);
    add_nodes(drill, *message.mutable_run_request());
    message.mutable_run_request()->set_plan_hash(plan_hash);
    return session_.send(message);
  }

  std::string awaited() const {
    if (!folder_) return "that the run has started";
    return is_stopping_ ? "the partial report" : "the end of run " + run_;
  }

  Result<void> take(const Envelope& message, const DrillFile& drill) {
    if (message.has_run_started()) return on_started(message.run_started(), drill);
    if (message.has_run_progress() && message.run_progress().run() == run_) {
      const protocol::RunProgress& now = message.run_progress();
      progress_.show({now.state(), now.iterations_done(), now.iterations(), now.note()},
                     runtime::now());
    }
    if (message.has_file_part() && folder_) {
      const protocol::FilePart& file = message.file_part();
      return folder_->take(file.name(), {file.size(), file.offset(), file.part()});
    }
    return {};
  }

  Result<void> on_started(const protocol::RunStarted& started, const DrillFile& drill) {
    run_ = started.run();
    const std::filesystem::path out =
        options_.out ? *options_.out : std::filesystem::path{"runs"} / run_;
    RETURN_IF_ERROR(check_run_folder_is_free(out));
    folder_.emplace(out);
    progress_.say("run " + run_ + ", plan " + shown_hash(started.plan_hash()));
    if (!is_stopping_) deadline_ = runtime::now() + drill.drill.limits.duration + kOverheadMax;
    return is_stopping_ ? send_stop() : Result<void>{};
  }

  Result<void> begin_to_stop() {
    is_stopping_ = true;
    deadline_ = runtime::now() + kStopLimit;
    progress_.say("stopping (once more: at once, without a report)");
    // Without a run id the coordinator would stop whichever is on, perhaps somebody else's.
    return folder_ ? send_stop() : Result<void>{};
  }

  Result<void> send_stop() {
    Envelope message;
    message.mutable_stop_request()->set_run(run_);
    return session_.send(message);
  }

  Result<ExitCode> finish(const protocol::RunFinished& finished) {
    progress_.clear();
    if (folder_) RETURN_IF_ERROR(folder_->check_complete());
    std::fputs(table_of(finished).c_str(), stdout);
    if (folder_ && !folder_->is_empty()) std::printf("run folder: %s\n", folder_->path().c_str());
    return exit_code_of_number(finished.exit_code());
  }

  /// The coordinator's table; on a terminal the same with colours.
  std::string table_of(const protocol::RunFinished& finished) const {
    if (isatty(STDOUT_FILENO) == 1 && folder_ && folder_->summary())
      if (const auto summary = report::read_summary(*folder_->summary()))
        return report::summary_table(*summary, true);
    return finished.table();
  }

  OperatorSession& session_;
  Interrupts& interrupts_;
  const RunOptions& options_;
  ProgressLine progress_;
  std::string run_;
  std::optional<RunFolder> folder_;  ///< from RunStarted on
  Instant deadline_{};
  bool is_stopping_ = false;
};

}  // namespace

Result<ExitCode> run_drill(const DrillFile& drill, const RunOptions& options,
                           Interrupts& interrupts) {
  if (options.out) RETURN_IF_ERROR(check_run_folder_is_free(*options.out));
  ASSIGN_OR_RETURN(OperatorSession session, OperatorSession::open(options.coordinator));
  RunSession run{session, interrupts, options};
  return run.run(drill);
}

}  // namespace rehearsal::cli

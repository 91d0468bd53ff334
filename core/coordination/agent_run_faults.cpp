// The faults of a run that outlive the agent: those of the host's kernel, and operators' commands.
#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/coordination/agent_run.hpp"
#include "core/coordination/log.hpp"
#include "core/measure/agent_measurements.hpp"
#include "core/plan/external_faults.hpp"
#include "core/plan/kernel_faults.hpp"

namespace rehearsal::coordination {
namespace {

std::string_view kind_of(Helper helper) {
  return helper == Helper::kernel ? "fault of the kernel" : "fault by a command";
}

}  // namespace

/// What the host allows is looked at again.
Result<void> AgentRun::take_faults(const plan::Plan& plan, HostIndex host, Instant now) {
  ASSIGN_OR_RETURN(auto of_kernel, plan::kernel_parts(plan, host, options_.inventory));
  ASSIGN_OR_RETURN(auto commands, plan::external_parts(plan, host, options_.inventory));
  for (Faults& faults : faults_) {
    auto& parts = faults.helper == Helper::kernel ? of_kernel : commands;
    faults.undo_limit = options_.worker_stop_deadline;
    for (const fault::KernelPart& part : parts) faults.undo_limit += part.time_max;
    if (!parts.empty()) faults.runner.emplace(std::move(parts), tickets_, now);
  }
  return {};
}

void AgentRun::on(const WorkerFault& event, Instant now) {
  if (worker_ != Worker::connected || leaving()) return;
  if (stop_wanted_ || finish_wanted_ || failed_) return;
  for (Faults& faults : faults_) {
    if (faults.runner) faults.runner->want(event.fault, event.level, event.until, now);
  }
}

bool AgentRun::answered(const HelperAnswered& event, Instant now) {
  return std::ranges::any_of(faults_, [&](Faults& faults) {
    return faults.runner && faults.runner->answered(event.ticket, event.reply, now);
  });
}

void AgentRun::helper_gone(Helper helper, const std::string& reason, Instant now) {
  for (Faults& faults : faults_) {
    if (faults.runner && faults.helper == helper) faults.runner->helper_gone(reason, now);
  }
}

void AgentRun::faults_cleared(Instant now) {
  for (Faults& faults : faults_) {
    if (faults.runner) faults.runner->end_early("an operator had it undone before its end", now);
  }
}

bool AgentRun::has_faults() const {
  return std::ranges::any_of(faults_,
                             [](const Faults& faults) { return faults.runner.has_value(); });
}

bool AgentRun::faults_are_off() const {
  return std::ranges::all_of(
      faults_, [](const Faults& faults) { return !faults.runner || faults.runner->idle(); });
}

std::uint32_t AgentRun::faults_applied() const {
  std::uint32_t count = 0;
  for (const Faults& faults : faults_) count += faults.runner ? faults.runner->applied() : 0;
  return count;
}

std::optional<std::pair<std::string, std::string>> AgentRun::name_of(Helper helper,
                                                                     std::uint64_t id) const {
  for (const Faults& faults : faults_) {
    if (!faults.runner || faults.helper != helper) continue;
    if (const auto fault = faults.runner->fault_of(id))
      return std::pair{id_, plan_->faults[*fault].name};
  }
  return std::nullopt;
}

std::string AgentRun::take_suspicion(Helper helper) {
  for (Faults& faults : faults_) {
    if (faults.helper == helper) return std::exchange(faults.suspicion, {});
  }
  return {};
}

void AgentRun::end_faults(Instant now) {
  for (Faults& faults : faults_) end_faults(faults, now);
}

void AgentRun::end_faults(Faults& faults, Instant now) {
  if (!faults.runner) return;
  faults.runner->end(now);
  if (!faults.runner->idle() && faults.deadline == kNever)
    faults.deadline = now + faults.undo_limit;
}

void AgentRun::tick_faults(Faults& faults, Instant now) {
  if (!faults.runner) return;
  faults.runner->tick(now);
  if (now < faults.deadline || faults.runner->idle()) return;
  const std::string reason = "not undone within " + format_duration(faults.undo_limit);
  faults.helper_dropped = true;
  out_.push_back(DropHelper{.reason = reason, .helper = faults.helper});
  faults.runner->helper_gone(reason, now);
}

void AgentRun::carry_on(Instant now) {
  if (!has_faults() || over_) return;
  for (Faults& faults : faults_) carry_on(faults);
  if (faults_are_off() && (leaving() || finish_wanted_ || stop_wanted_)) hand_over(now);
}

void AgentRun::carry_on(Faults& faults) {
  if (!faults.runner) return;
  fault::KernelRunner& runner = *faults.runner;
  if (runner.is_helper_dead() && !std::exchange(faults.helper_dropped, true))
    out_.push_back(DropHelper{.reason = "no answer", .helper = faults.helper});
  if (runner.idle()) faults.deadline = kNever;
  for (fault::KernelRunner::Ask& ask : runner.take_asks())
    out_.push_back(AskHelper{
        .ticket = ask.ticket, .request = std::move(ask.request), .helper = faults.helper});
  log_faults(faults);
  tell_troubles(faults);
}

/// A fault that is on, or over, is something that an operator may act on.
void AgentRun::log_faults(Faults& faults) {
  const auto spells = faults.runner->spells();
  const auto log = [&](std::string_view what, const fault::Spell& spell) {
    out_.push_back(log_line(LogLevel::info, std::string(kind_of(faults.helper)) + std::string(what),
                            {{"run", id_},
                             {"fault", plan_->faults[spell.fault].name},
                             {"level", std::to_string(spell.level)}}));
  };
  for (; faults.spells_logged < spells.size(); ++faults.spells_logged) {
    log(" is on", spells[faults.spells_logged]);
    faults.spells_on.push_back(faults.spells_logged);
  }
  std::erase_if(faults.spells_on, [&](std::size_t index) {
    if (spells[index].ended == kNever) return false;
    log(" is over", spells[index]);
    return true;
  });
}

/// A run whose faults are not those of its plan says nothing: it ends.
void AgentRun::tell_troubles(Faults& faults) {
  const auto troubles = faults.runner->troubles();
  for (; faults.troubles_told < troubles.size(); ++faults.troubles_told) {
    const fault::KernelTrouble& trouble = troubles[faults.troubles_told];
    const std::string text =
        "fault " + in_quotes(plan_->faults[trouble.fault].name) + ": " + trouble.text;
    if (trouble.may_be_on) faults.suspicion = text;
    out_.push_back(log_line(LogLevel::error,
                            "a " + std::string(kind_of(faults.helper)) + " is not as planned",
                            {{"run", id_}, {"reason", text}}));
    if (failed_ || stop_wanted_ || finish_wanted_ || leaving()) continue;
    failed_ = true;
    send_failed(text, {});
  }
}

void AgentRun::add_faults_to_results() {
  if (!has_faults() || results_->empty()) return;
  auto measurements = measure::decode_agent_measurements(*results_);
  if (!measurements) return;  // the coordinator says so
  for (const Faults& faults : faults_) {
    if (!faults.runner) continue;
    for (const fault::Spell& spell : faults.runner->spells())
      measurements->faults.spells.push_back({.fault = spell.fault,
                                             .level = spell.level,
                                             .began = spell.began,
                                             .ended = std::max(spell.began, spell.ended)});
    measurements->faults.spells_dropped += faults.runner->spells_dropped();
    for (const fault::KernelTrouble& trouble : faults.runner->troubles())
      measurements->faults.problems.push_back({.fault = trouble.fault, .text = trouble.text});
  }
  results_ = measure::encode(*measurements);
}

}  // namespace rehearsal::coordination

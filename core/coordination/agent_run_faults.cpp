// The faults of a run that the host's kernel does.
#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/coordination/agent_run.hpp"
#include "core/coordination/log.hpp"
#include "core/measure/agent_measurements.hpp"

namespace rehearsal::coordination {

void AgentRun::on(const WorkerFault& event, Instant now) {
  if (!faults_ || worker_ != Worker::connected || leaving()) return;
  if (stop_wanted_ || finish_wanted_ || failed_) return;
  faults_->want(event.fault, event.level, event.until, now);
}

bool AgentRun::answered(const HelperAnswered& event, Instant now) {
  return faults_ && faults_->answered(event.ticket, event.reply, now);
}

void AgentRun::helper_gone(const std::string& reason, Instant now) {
  if (faults_) faults_->helper_gone(reason, now);
}

void AgentRun::faults_cleared(Instant now) {
  if (faults_) faults_->end_early("an operator had it undone before its end", now);
}

std::optional<std::pair<std::string, std::string>> AgentRun::name_of(std::uint64_t id) const {
  const auto fault = faults_ ? faults_->fault_of(id) : std::nullopt;
  if (!fault) return std::nullopt;
  return std::pair{id_, plan_->faults[*fault].name};
}

void AgentRun::end_faults(Instant now) {
  if (!faults_) return;
  faults_->end(now);
  if (!faults_->idle() && faults_deadline_ == kNever)
    faults_deadline_ = now + options_.worker_stop_deadline;
}

void AgentRun::carry_on(Instant now) {
  if (!faults_ || over_) return;
  if (faults_->is_helper_dead() && !std::exchange(helper_dropped_, true))
    out_.push_back(DropHelper{"no answer"});
  if (faults_->idle()) faults_deadline_ = kNever;
  for (fault::KernelRunner::Ask& ask : faults_->take_asks())
    out_.push_back(AskHelper{.ticket = ask.ticket, .request = std::move(ask.request)});
  log_faults();
  tell_troubles();
  if (faults_->idle() && (leaving() || finish_wanted_ || stop_wanted_)) hand_over(now);
}

/// A fault that is on, or over, is something that an operator may act on.
void AgentRun::log_faults() {
  const auto spells = faults_->spells();
  const auto log = [&](std::string_view what, const fault::Spell& spell) {
    out_.push_back(log_line(LogLevel::info, what,
                            {{"run", id_},
                             {"fault", plan_->faults[spell.fault].name},
                             {"level", std::to_string(spell.level)}}));
  };
  for (; spells_logged_ < spells.size(); ++spells_logged_) {
    log("fault of the kernel is on", spells[spells_logged_]);
    spells_on_.push_back(spells_logged_);
  }
  std::erase_if(spells_on_, [&](std::size_t index) {
    if (spells[index].ended == kNever) return false;
    log("fault of the kernel is over", spells[index]);
    return true;
  });
}

/// A run whose faults are not those of its plan says nothing: it ends.
void AgentRun::tell_troubles() {
  const auto troubles = faults_->troubles();
  for (; troubles_told_ < troubles.size(); ++troubles_told_) {
    const fault::KernelTrouble& trouble = troubles[troubles_told_];
    const std::string text =
        "fault " + in_quotes(plan_->faults[trouble.fault].name) + ": " + trouble.text;
    if (trouble.text.starts_with("STUCK") || trouble.text.starts_with("the helper is gone"))
      suspicion_ = text;
    out_.push_back(log_line(LogLevel::error, "a fault of the kernel is not as planned",
                            {{"run", id_}, {"reason", text}}));
    if (failed_ || stop_wanted_ || finish_wanted_ || leaving()) continue;
    failed_ = true;
    send_failed(text, {});
  }
}

void AgentRun::add_faults_to_results() {
  if (!faults_ || results_->empty()) return;
  auto measurements = measure::decode_agent_measurements(*results_);
  if (!measurements) return;  // the coordinator says so
  for (const fault::Spell& spell : faults_->spells())
    measurements->faults.spells.push_back({.fault = spell.fault,
                                           .level = spell.level,
                                           .began = spell.began,
                                           .ended = std::max(spell.began, spell.ended)});
  measurements->faults.spells_dropped += faults_->spells_dropped();
  for (const fault::KernelTrouble& trouble : faults_->troubles())
    measurements->faults.problems.push_back({.fault = trouble.fault, .text = trouble.text});
  results_ = measure::encode(*measurements);
}

}  // namespace rehearsal::coordination

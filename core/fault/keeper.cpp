#include "core/fault/keeper.hpp"

#include <algorithm>
#include <utility>

namespace rehearsal::fault {
namespace {

using Severity = KeeperEvent::Severity;

/// A journal of this size is started over when nothing is open; one of the cap takes no new faults.
constexpr std::size_t kJournalBytesLarge = 64 * 1024;
constexpr std::size_t kRecordsOfAFaultBytes = 2 * kRecordBytesMax;
/// What the journal remembers of a command whose check said so.
constexpr std::string_view kCheckedApplied = "applied";
/// Undoing one takes three verbs of at most kCommandLimitMost each: so all are undone within the
/// 5 min that the service manager gives (systemd/rehearsal-external.service), also if all hang.
constexpr std::ptrdiff_t kCommandsOpenMax = 8;

std::string name_of(const OpenFault& fault) {
  return "fault " + std::to_string(fault.intent.id) + " (" + describe(fault.intent.fault) + ")";
}

/// Only the root is of use for undoing, and a journal's record has a cap.
InterfaceState without_others(InterfaceState state) {
  std::erase_if(state.qdiscs, [](const Qdisc& qdisc) { return !qdisc.is_root(); });
  return state;
}

std::string options_of_root(const InterfaceState& state) {
  const Qdisc* root = state.root();
  return root == nullptr ? std::string() : root->options;
}

Effect effect_of(const QueueSettings& settings) {
  if (const auto* cap = std::get_if<RateCap>(&settings)) return *cap;
  if (const auto* impairment = std::get_if<Impairment>(&settings)) return *impairment;
  return Blackhole{};
}

}  // namespace

std::string_view to_string(UndoOutcome outcome) {
  switch (outcome) {
    case UndoOutcome::clean:
      return "clean";
    case UndoOutcome::conflict:
      return "conflict";
    case UndoOutcome::stuck:
      return "stuck";
  }
  return "?";
}

FaultKeeper::FaultKeeper(KernelPort& kernel, JournalPort& journal, KeeperSetup setup)
    : kernel_(kernel), journal_(journal), setup_(std::move(setup)) {}

Result<std::uint64_t> FaultKeeper::apply(OwnerId owner, const FaultRequest& request,
                                         const HostPolicy& policy, Instant now) {
  ASSIGN_OR_RETURN(Intent intent, intend(request, policy, now));
  return take_on(owner, request, std::move(intent), now);
}

Result<std::uint64_t> FaultKeeper::apply(OwnerId owner, const FaultRequest& request,
                                         const ExternalPolicy& policy, Instant now) {
  ASSIGN_OR_RETURN(Intent intent, intend(request, policy, now));
  return take_on(owner, request, std::move(intent), now);
}

Result<std::uint64_t> FaultKeeper::take_on(OwnerId owner, const FaultRequest& request,
                                           Intent intent, Instant now) {
  step(Step::before_write);
  RETURN_IF_ERROR(journal_.append(intent));
  step(Step::after_write);
  const Instant deadline = intent.deadline;
  OpenFault& fault = book_.add({.intent = std::move(intent),
                                .left = {},
                                .owner = owner,
                                .lease_until = now + request.lease,
                                .deadline = deadline,
                                .problem = {}});
  const std::uint64_t id = fault.intent.id;
  auto applied = carry_out(fault, now);
  if (applied) return applied;
  // `fault` may be closed, and gone, after this.
  const Undone undone = undo_one(fault, UndoReason::failed_to_apply, now);
  if (undone.outcome == UndoOutcome::clean) return applied;
  return tl::unexpected(applied.error().within("fault " + std::to_string(id) + " is " +
                                               std::string(to_string(undone.outcome))));
}

Result<void> FaultKeeper::may_begin(const KernelFault& fault) const {
  RETURN_IF_ERROR(book_.may_add(fault));
  const auto is_command = [](const auto& entry) {
    return is_external(entry.second.intent.fault.effect);
  };
  if (is_external(fault.effect) &&
      std::ranges::count_if(book_.faults(), is_command) >= kCommandsOpenMax) {
    return fail(ErrorCode::refused, ErrorSource::host,
                "there are " + std::to_string(kCommandsOpenMax) +
                    " faults by commands already, as many as can surely be undone in time");
  }
  if (journal_.size_bytes() + kRecordsOfAFaultBytes <= kJournalBytesMax) return {};
  return fail(ErrorCode::refused, ErrorSource::host,
              "the journal is full; it is started over when no fault is on");
}

/// Without what is there before, and what is to be done.
Intent FaultKeeper::intent_of(const FaultRequest& request, Instant now) {
  return {.id = next_id_++,
          .fault = request.fault,
          .before = {},
          .change = {},
          .boot_id = setup_.boot_id,
          .deadline = now + request.duration,
          .wall_ns = setup_.wall_ns()};
}

Result<Intent> FaultKeeper::intend(const FaultRequest& request, const HostPolicy& policy,
                                   Instant now) {
  if (const std::string why = blocked(); !why.empty())
    return fail(ErrorCode::refused, ErrorSource::host, why);
  ASSIGN_OR_RETURN(const LinkTable table, kernel_.links());
  ASSIGN_OR_RETURN(const std::uint32_t index, decide(policy, request, table));
  RETURN_IF_ERROR(may_begin(request.fault));
  ASSIGN_OR_RETURN(InterfaceState before, kernel_.read(index));
  Intent intent = intent_of(request, now);
  ASSIGN_OR_RETURN(intent.change, plan_change(request.fault, before, handle_of(intent.id)));
  intent.before = without_others(std::move(before));
  return intent;
}

Result<Intent> FaultKeeper::intend(const FaultRequest& request, const ExternalPolicy& policy,
                                   Instant now) {
  if (const std::string why = blocked(); !why.empty())
    return fail(ErrorCode::refused, ErrorSource::host, why);
  ASSIGN_OR_RETURN(const KernelFault fault, decide(policy, request));
  RETURN_IF_ERROR(may_begin(fault));
  const auto& call = std::get<ExternalCall>(fault.effect);
  ASSIGN_OR_RETURN(const Finding finding, setup_.commands->check(call));
  if (finding.standing != Standing::untouched)
    return fail(ErrorCode::refused, ErrorSource::host,
                describe(call) + " is not clear before it is applied, so it is somebody else's" +
                    (finding.text.empty() ? "" : ": " + finding.text));
  Intent intent = intent_of(request, now);
  intent.fault = fault;
  intent.change = plan_command(call);
  return intent;
}

Result<FaultKeeper::Look> FaultKeeper::look(const OpenFault& fault, const std::string& left) {
  const Change& change = fault.intent.change;
  if (const auto* run = std::get_if<RunCommand>(&change.act)) {
    if (setup_.commands == nullptr)
      return fail(ErrorCode::unsupported, ErrorSource::host, "no commands are run here");
    return setup_.commands->check(run->call).map([](Finding&& finding) {
      return Look{std::move(finding), std::string(kCheckedApplied)};
    });
  }
  ASSIGN_OR_RETURN(const std::uint32_t index, present_index(fault));
  ASSIGN_OR_RETURN(const InterfaceState present, kernel_.read(index));
  const bool is_root = change.target() == Target::root_qdisc;
  return Look{find(change, fault.intent.before, present, left),
              is_root ? options_of_root(present) : std::string()};
}

Result<void> FaultKeeper::act(const OpenFault& fault, const Act& act) {
  if (const auto* run = std::get_if<RunCommand>(&act)) {
    if (setup_.commands == nullptr)
      return fail(ErrorCode::unsupported, ErrorSource::host, "no commands are run here");
    return setup_.commands->run(*run);
  }
  ASSIGN_OR_RETURN(const std::uint32_t index, present_index(fault));
  return kernel_.change(index, act);
}

/// From "it is in the journal" to "it is on, read back, and the journal says so".
Result<std::uint64_t> FaultKeeper::carry_out(OpenFault& fault, Instant) {
  step(Step::before_apply);
  RETURN_IF_ERROR(act(fault, fault.intent.change.act));
  step(Step::after_apply);
  ASSIGN_OR_RETURN(Look there, look(fault, {}));
  if (there.finding.standing != Standing::ours) {
    return fail(ErrorCode::system, ErrorSource::host,
                name_of(fault) + " is not what was read back" +
                    (there.finding.text.empty() ? std::string() : ": " + there.finding.text));
  }
  fault.left = std::move(there.left);
  step(Step::before_record);
  RETURN_IF_ERROR(journal_.append(AppliedRecord{fault.intent.id, fault.left}));
  step(Step::after_record);
  fault.state = FaultState::applied;
  say(Severity::info, name_of(fault) + " is on");
  return fault.intent.id;
}

std::size_t FaultKeeper::renew(OwnerId owner, std::optional<std::uint64_t> id, Duration lease,
                               Instant now) {
  return book_.renew(owner, id, lease, now);
}

std::vector<Undone> FaultKeeper::undo(std::optional<std::uint64_t> id, Instant now) {
  if (!id) return undo_these(book_.ids(), UndoReason::asked, now);
  return undo_these({*id}, UndoReason::asked, now);
}

void FaultKeeper::disconnected(OwnerId owner, Instant now) {
  undo_these(book_.ids_of(owner), UndoReason::agent_gone, now);
}

void FaultKeeper::on_time(Instant now) {
  for (const LeaseBook::Due& due : book_.due(now)) undo_these({due.id}, due.reason, now);
}

std::vector<Undone> FaultKeeper::clear(bool accept_stuck, Instant now) {
  std::vector<Undone> results;
  for (const std::uint64_t id : book_.ids()) {
    OpenFault* fault = book_.find(id);
    if (fault->state != FaultState::conflict && fault->state != FaultState::stuck) continue;
    Undone result = undo_one(*fault, UndoReason::asked, now);
    fault = book_.find(id);
    if (fault != nullptr && fault->state == FaultState::conflict) {
      result = close(*fault, Closing::conflict, "the other's change stays: " + result.text, now);
    } else if (fault != nullptr && accept_stuck) {
      result = close(*fault, Closing::accepted, "left as it is: " + result.text, now);
    }
    results.push_back(std::move(result));
  }
  if (accept_stuck && !journal_problem_.empty()) {
    say(Severity::warning, "an operator accepted that " + journal_problem_);
    journal_problem_.clear();
  }
  start_over_if_large();
  return results;
}

std::string FaultKeeper::blocked() const {
  if (!journal_problem_.empty()) return "STUCK: " + journal_problem_;
  for (const auto& [id, fault] : book_.faults()) {
    if (fault.state == FaultState::stuck) {
      return "STUCK: " + name_of(fault) + " could not be undone: " + fault.problem;
    }
  }
  return {};
}

std::vector<std::string> FaultKeeper::protected_names(const HostPolicy& policy) {
  std::vector<std::string> names;
  const auto table = kernel_.links();
  if (!table) return names;
  const auto indices = protected_interfaces(*table, policy.control_interfaces);
  for (const Link& link : table->links) {
    if (indices.contains(link.index)) names.push_back(link.name);
  }
  return names;
}

std::vector<KeeperEvent> FaultKeeper::take_events() { return std::exchange(events_, {}); }

std::vector<Undone> FaultKeeper::undo_these(const std::vector<std::uint64_t>& ids,
                                            UndoReason reason, Instant now) {
  std::vector<Undone> results;
  for (const std::uint64_t id : ids) {
    if (OpenFault* fault = book_.find(id)) results.push_back(undo_one(*fault, reason, now));
  }
  start_over_if_large();
  return results;
}

/// The interface that the fault is on; not_found if it is gone, and with it all that was done to
/// it.
Result<std::uint32_t> FaultKeeper::present_index(const OpenFault& fault) {
  const Change& change = fault.intent.change;
  if (!fault.before_reboot) return change.interface_index;
  ASSIGN_OR_RETURN(const LinkTable table, kernel_.links());
  for (const Link& link : table.links) {
    if (link.name == change.interface) return link.index;
  }
  return fail(ErrorCode::not_found, ErrorSource::host, "there is no " + change.interface);
}

Undone FaultKeeper::undo_one(OpenFault& fault, UndoReason reason, Instant now) {
  const Change& change = fault.intent.change;
  const Target target = change.target();
  const bool is_command = target == Target::command;
  const std::string why = "undone: " + (is_command && reason == UndoReason::helper_restarted
                                            ? "rehearsal-external was started again"
                                            : std::string(to_string(reason)));
  // A switch has not started again with this host.
  const bool rebooted = fault.before_reboot && !is_command;
  // What a start of the kernel left of link and MTU is its own configuration.
  if (rebooted && target != Target::root_qdisc)
    return close(fault, Closing::gone, "gone by a reboot", now);

  // A command that did not get to its end may have left anything, and all was clear before: it is
  // undone whatever its check says.
  if (!is_command || !fault.left.empty()) {
    const auto present = look(fault, fault.left);
    if (!present && present.error().code == ErrorCode::not_found && !is_command) {
      return close(fault, Closing::gone, "gone with its interface", now);
    }
    if (!present) return stuck(fault, present.error().text(), now);
    if (present->finding.standing == Standing::untouched) {
      const bool never = reason == UndoReason::failed_to_apply;
      return close(fault, never ? Closing::never_done : Closing::undone, why, now);
    }
    if (present->finding.standing == Standing::foreign) {
      if (rebooted) return close(fault, Closing::gone, "gone by a reboot", now);
      return conflict(fault, present->finding.text);
    }
  }
  if (is_command) remember_half_done(fault);
  step(Step::before_undo);
  const auto changed = act(fault, change.undo);
  step(Step::after_undo);
  if (!changed) {
    return stuck(fault, "cannot " + describe(change, change.undo) + ": " + changed.error().text(),
                 now);
  }
  const auto after = look(fault, fault.left);
  if (!after) return stuck(fault, after.error().text(), now);
  if (after->finding.standing != Standing::untouched) {
    return stuck(fault,
                 std::string(is_command ? "the command" : "the kernel") + " said yes to \"" +
                     describe(change, change.undo) + "\", but it is not so when read back",
                 now);
  }
  return close(fault, Closing::undone, why, now);
}

/// From here on it may be half undone, which its check cannot tell from another's hand: also a
/// later try, and whoever is started next, undoes it. A journal that cannot be written keeps nobody
/// from undoing.
void FaultKeeper::remember_half_done(OpenFault& fault) {
  if (fault.left.empty()) return;
  fault.left.clear();
  if (const auto written = journal_.append(AppliedRecord{fault.intent.id, {}}); !written)
    say(Severity::warning, "the journal cannot be written: " + written.error().text());
}

Undone FaultKeeper::close(OpenFault& fault, Closing closing, const std::string& text, Instant now) {
  const std::uint64_t id = fault.intent.id;
  const std::string name = name_of(fault);
  step(Step::before_close);
  if (const auto written = journal_.append(ClosedRecord{id, closing}); !written) {
    return stuck(fault,
                 "it is undone, but the journal cannot be written: " + written.error().text(), now);
  }
  step(Step::after_close);
  book_.remove(id);
  say(Severity::info, name + " " + text);
  return {.id = id, .outcome = UndoOutcome::clean, .text = name + " " + text};
}

Undone FaultKeeper::conflict(OpenFault& fault, const std::string& text) {
  if (fault.problem != text) say(Severity::error, "CONFLICT: " + name_of(fault) + ": " + text);
  fault.state = FaultState::conflict;
  fault.problem = text;
  return {.id = fault.intent.id,
          .outcome = UndoOutcome::conflict,
          .text = name_of(fault) + ": " + text};
}

Undone FaultKeeper::stuck(OpenFault& fault, const std::string& text, Instant now) {
  if (fault.problem != text) {
    say(Severity::error, "STUCK: " + name_of(fault) + " could not be undone: " + text);
  }
  fault.state = FaultState::stuck;
  fault.problem = text;
  fault.retry_at = now + kRetryInterval;
  return {
      .id = fault.intent.id, .outcome = UndoOutcome::stuck, .text = name_of(fault) + ": " + text};
}

void FaultKeeper::replay(const Journal& journal, Instant now) {
  open_from(journal);
  if (journal.end == JournalEnd::damaged) {
    journal_problem_ = "the journal is damaged (" + journal.problem + "): " +
                       (setup_.commands == nullptr
                            ? "a link or an MTU may still be changed by a fault that is not known"
                            : "a command may still be applied by a fault that is not known");
    say(Severity::error, "STUCK: " + journal_problem_);
  }
  // Without a journal, what carries our handles is all there is to go by.
  if (journal.end == JournalEnd::damaged || journal.records.empty()) adopt_strays();
  std::vector<JournalRecord> open;
  for (const auto& [id, fault] : book_.faults()) {
    open.emplace_back(fault.intent);
    if (!fault.left.empty()) open.emplace_back(AppliedRecord{id, fault.left});
  }
  if (const auto written = journal_.restart(open); !written) {
    journal_problem_ = "the journal cannot be written: " + written.error().text();
    say(Severity::error, "STUCK: " + journal_problem_);
  }
  undo_these(book_.ids(), UndoReason::helper_restarted, now);
}

void FaultKeeper::open_from(const Journal& journal) {
  for (const JournalRecord& record : journal.records) {
    if (const auto* intent = std::get_if<Intent>(&record)) {
      if (book_.find(intent->id) != nullptr) continue;
      book_.add({.intent = *intent,
                 .left = {},
                 .deadline = intent->deadline,
                 .problem = {},
                 .before_reboot = intent->boot_id != setup_.boot_id});
      next_id_ = std::max(next_id_, intent->id + 1);
    } else if (const auto* applied = std::get_if<AppliedRecord>(&record)) {
      OpenFault* fault = book_.find(applied->id);
      if (fault != nullptr) fault->left = applied->left;
    } else {
      book_.remove(std::get<ClosedRecord>(record).id);
    }
  }
}

void FaultKeeper::adopt_strays() {
  const auto table = kernel_.links();
  if (!table) return;
  for (const Link& link : table->links) {
    const auto state = kernel_.read(link.index);
    const Qdisc* root = state ? state->root() : nullptr;
    if (root == nullptr || !is_own_handle(root->handle)) continue;
    const auto of_same = [&](const auto& entry) {
      return entry.second.intent.change.act == Act{SetRoot{root->handle, root->settings}} &&
             entry.second.intent.change.interface_index == link.index;
    };
    if (std::any_of(book_.faults().begin(), book_.faults().end(), of_same)) continue;
    say(Severity::warning, link.name + " has a queueing discipline of ours that no journal knows");
    const std::uint64_t id = next_id_++;
    book_.add({.intent = {.id = id,
                          .fault = {link.name, Direction::sent, effect_of(root->settings)},
                          .before = {.index = link.index, .name = link.name, .qdiscs = {}},
                          .change = {.interface_index = link.index,
                                     .interface = link.name,
                                     .act = SetRoot{root->handle, root->settings},
                                     .undo = RemoveRoot{root->handle}},
                          .boot_id = setup_.boot_id},
               .left = {},
               .problem = {}});
  }
}

void FaultKeeper::start_over_if_large() {
  if (!book_.faults().empty() || journal_.size_bytes() < kJournalBytesLarge) return;
  if (const auto written = journal_.restart({}); !written) {
    say(Severity::warning, "the journal cannot be started over: " + written.error().text());
  }
}

void FaultKeeper::say(Severity severity, std::string text) {
  events_.push_back({severity, std::move(text)});
}

}  // namespace rehearsal::fault

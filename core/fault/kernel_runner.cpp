#include "core/fault/kernel_runner.hpp"

#include <algorithm>
#include <utility>

#include "core/base/units.hpp"

namespace rehearsal::fault {
namespace {

constexpr Duration kRenewalInterval = kRunLease / 5;
/// While something else is being asked, renewing waits: how many leases there are is not sure.
constexpr Duration kRenewalRetry = std::chrono::milliseconds{50};
/// The helper ends a fault by itself so long after it was to end: it was asked to before.
constexpr Duration kDurationSlack = std::chrono::seconds{1};

template <typename Wanted>
const Wanted* as(const HelperReply& reply) {
  return std::get_if<Wanted>(&reply);
}

/// The program that keeps the fault.
std::string keeper_of(const KernelPart& part) {
  return is_external(part.levels.front().effect) ? "rehearsal-external" : "the helper";
}

std::string why_not(const HelperReply& reply) {
  const auto* refused = as<RefusedReply>(reply);
  return refused != nullptr ? refused->text : "the answer is to something else";
}

}  // namespace

KernelRunner::KernelRunner(std::vector<KernelPart> parts, std::uint64_t& tickets, Instant now)
    : tickets_(tickets), heard_(now) {
  for (KernelPart& part : parts) {
    patience_ = std::max(patience_, kHelperPatience + part.time_max);
    parts_.push_back({.planned = std::move(part), .helper_ends = {}});
  }
}

// --- what is wanted ----------------------------------------------------------------------------

void KernelRunner::want(std::uint32_t fault, std::uint32_t level, Instant until, Instant now) {
  for (Part& part : parts_) {
    if (part.planned.fault != fault || ending_) continue;
    if (level != Schedule::kOff && level >= part.planned.levels.size()) continue;
    part.wanted = level;
    part.until = until;
    move_on(part, now);
  }
}

void KernelRunner::end(Instant now) {
  ending_ = true;
  for (Part& part : parts_) {
    part.wanted = Schedule::kOff;
    move_on(part, now);
  }
}

void KernelRunner::end_early(std::string_view why, Instant now) {
  ending_ = true;  // below, after all have been named
  for (const Part& part : parts_) {
    if (part.state == State::on || part.state == State::applying)
      trouble(part, std::string(why), now);
  }
  end(now);
}

/// One step from where a part is to where it is to be.
void KernelRunner::move_on(Part& part, Instant now) {
  if (part.state == State::off && part.wanted != Schedule::kOff) return apply(part, now);
  if (part.state == State::on && part.wanted != part.level) return undo(part, now);
}

// --- what is asked -----------------------------------------------------------------------------

void KernelRunner::ask(Purpose purpose, std::size_t part, HelperRequest request, Instant now) {
  const std::uint64_t ticket = ++tickets_;
  std::size_t expected = 0;
  if (purpose == Purpose::renew) expected = applied();
  open_.push_back(
      {.ticket = ticket, .purpose = purpose, .part = part, .expected = expected, .asked = now});
  asks_.push_back({ticket, std::move(request)});
}

void KernelRunner::apply(Part& part, Instant now) {
  const Duration lease = std::min(lease_left(now), kLeaseMost);
  if (lease < kLeaseLeast) return trouble(part, "the coordinator is silent", now);
  const Duration most = part.planned.duration_max;
  Duration duration = most;
  if (part.until != kNever && part.until - now < most - kDurationSlack)
    duration = std::max(part.until - now, Duration::zero()) + kDurationSlack;
  part.state = State::applying;
  part.level = part.wanted;
  part.helper_ends = now + duration;
  ask(Purpose::apply, index_of(part),
      ApplyRequest{
          {.fault = part.planned.levels[part.level], .lease = lease, .duration = duration}},
      now);
}

void KernelRunner::undo(Part& part, Instant now) {
  part.state = State::undoing;
  ask(Purpose::undo, index_of(part), UndoRequest{part.id}, now);
}

void KernelRunner::renew(Instant now) {
  const Duration lease = std::min(lease_left(now), kLeaseMost);
  next_renewal_ = now + kRenewalInterval;
  if (lease >= kLeaseLeast) ask(Purpose::renew, 0, RenewRequest{std::nullopt, lease}, now);
}

// --- what is answered --------------------------------------------------------------------------

bool KernelRunner::answered(std::uint64_t ticket, const HelperReply& reply, Instant now) {
  const auto found = std::ranges::find(open_, ticket, &Open::ticket);
  if (found == open_.end()) return false;
  const Open asked = *found;
  open_.erase(found);
  // One is answered after the other: the next one's time begins now.
  if (!open_.empty()) open_.front().asked = std::max(open_.front().asked, now);
  switch (asked.purpose) {
    case Purpose::apply:
      on_applied(parts_[asked.part], reply, now);
      break;
    case Purpose::undo:
      on_undone(parts_[asked.part], reply, now);
      break;
    case Purpose::renew:
      on_renewed(asked.expected, reply, now);
      break;
    case Purpose::list:
      on_list(reply, now);
      break;
  }
  return true;
}

void KernelRunner::on_applied(Part& part, const HelperReply& reply, Instant now) {
  const auto* applied = as<AppliedReply>(reply);
  if (applied == nullptr) {
    part.state = State::off;
    return trouble(part, why_not(reply), now);
  }
  part.state = State::on;
  part.id = applied->id;
  if (next_renewal_ == kNever) next_renewal_ = now + kRenewalInterval;
  begin_spell(part, now);
  move_on(part, now);
}

void KernelRunner::on_undone(Part& part, const HelperReply& reply, Instant now) {
  part.state = State::off;
  end_spell(part, now);
  const auto* undone = as<UndoneReply>(reply);
  if (undone == nullptr) return stuck(part, why_not(reply), now);
  const auto found = std::ranges::find(undone->faults, part.id, &Undone::id);
  if (found == undone->faults.end()) {
    // Undone by itself: fine, if that was to be.
    if (now < part.helper_ends)
      return trouble(part, "it was undone before its end, and not by this run", now);
  } else if (found->outcome == UndoOutcome::conflict) {
    return trouble(part, "CONFLICT: " + found->text, now);
  } else if (found->outcome == UndoOutcome::stuck) {
    return stuck(part, found->text, now);
  }
  move_on(part, now);
}

/// A lease that is not there belongs to a fault that is not on any more.
void KernelRunner::on_renewed(std::size_t expected, const HelperReply& reply, Instant now) {
  const auto* renewed = as<RenewedReply>(reply);
  if (renewed == nullptr || renewed->count < expected) ask(Purpose::list, 0, ListRequest{}, now);
}

void KernelRunner::on_list(const HelperReply& reply, Instant now) {
  const auto* list = as<ListReply>(reply);
  if (list == nullptr) return end_early(why_not(reply), now);
  for (Part& part : parts_) {
    if (part.state != State::on) continue;
    const auto found = std::ranges::find(list->faults, part.id, &ListedFault::id);
    if (found != list->faults.end() && found->state == FaultState::applied) continue;
    part.state = State::off;
    end_spell(part, now);
    if (found == list->faults.end()) {
      part.wanted = Schedule::kOff;
      if (now < part.helper_ends)
        trouble(part, "it was undone before its end, and not by this run", now);
    } else if (found->state == FaultState::conflict) {
      trouble(part, "CONFLICT: " + found->problem, now);
    } else {
      stuck(part, found->problem, now);
    }
  }
}

void KernelRunner::helper_gone(std::string_view reason, Instant now) {
  open_.clear();
  asks_.clear();
  for (Part& part : parts_) {
    if (part.state == State::off) continue;
    part.state = State::off;
    end_spell(part, now);
    trouble(part,
            keeper_of(part.planned) + " is gone (" + std::string(reason) +
                "): it undoes the fault when it is started again",
            now, true);
  }
}

// --- time --------------------------------------------------------------------------------------

void KernelRunner::tick(Instant now) {
  if (!open_.empty() && now >= open_.front().asked + patience_) {
    helper_dead_ = true;
    return helper_gone("no answer within " + format_duration(patience_), now);
  }
  if (idle()) next_renewal_ = kNever;
  if (!ending_ && lease_left(now) <= Duration::zero() && !idle())
    end_early("the coordinator was silent for " + format_duration(now - heard_), now);
  if (now < next_renewal_) return;
  if (ending_) {
    next_renewal_ = kNever;
  } else if (open_.empty()) {
    renew(now);
  } else {
    next_renewal_ = now + kRenewalRetry;
  }
}

Instant KernelRunner::deadline() const {
  Instant next = idle() ? kNever : next_renewal_;
  if (!open_.empty()) next = std::min(next, open_.front().asked + patience_);
  if (!ending_ && !idle()) next = std::min(next, heard_ + kRunLease);
  return next;
}

// --- what is known -----------------------------------------------------------------------------

bool KernelRunner::idle() const {
  return std::ranges::all_of(parts_, [](const Part& part) { return part.state == State::off; });
}

std::uint32_t KernelRunner::applied() const {
  return static_cast<std::uint32_t>(
      std::ranges::count(parts_, State::on, [](const Part& part) { return part.state; }));
}

std::optional<std::uint32_t> KernelRunner::fault_of(std::uint64_t id) const {
  for (const Part& part : parts_) {
    if (part.id == id && part.state != State::off) return part.planned.fault;
  }
  return std::nullopt;
}

/// Once it is on everywhere.
void KernelRunner::begin_spell(const Part& part, Instant now) {
  const auto of_fault = [&](const Part& other) {
    return other.planned.fault == part.planned.fault;
  };
  for (const Part& other : parts_) {
    if (of_fault(other) && (!is_on(other) || other.level != part.level)) return;
  }
  if (spells_.size() == kSpellsMax) {
    ++spells_dropped_;
    return;
  }
  const auto spell = static_cast<std::uint32_t>(spells_.size());
  spells_.push_back({.fault = part.planned.fault, .level = part.level, .began = now});
  for (Part& other : parts_) {
    if (of_fault(other)) other.spell = spell;
  }
}

void KernelRunner::end_spell(const Part& part, Instant now) {
  const std::uint32_t spell = part.spell;
  if (spell == Schedule::kOff) return;
  spells_[spell].ended = now;
  for (Part& other : parts_) {
    if (other.spell == spell) other.spell = Schedule::kOff;
  }
}

void KernelRunner::stuck(const Part& part, const std::string& why, Instant now) {
  trouble(part, "STUCK: " + why, now, true);
}

void KernelRunner::trouble(const Part& part, std::string text, Instant now, bool may_be_on) {
  const auto known = std::ranges::find(troubles_, part.planned.fault, &KernelTrouble::fault);
  if (known == troubles_.end()) {
    troubles_.push_back({part.planned.fault, std::move(text), may_be_on});
  } else {
    if (known->text.find(text) == std::string::npos) known->text += "; " + text;
    known->may_be_on |= may_be_on;
  }
  if (!ending_) end(now);
}

}  // namespace rehearsal::fault

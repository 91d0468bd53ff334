#include "core/fault/lease_book.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace rehearsal::fault {
namespace {

bool is_on(const OpenFault& fault) {
  return fault.state == FaultState::applying || fault.state == FaultState::applied;
}

Instant due_at(const OpenFault& fault) {
  if (is_on(fault)) return std::min(fault.lease_until, fault.deadline);
  return fault.state == FaultState::stuck ? fault.retry_at : kNever;
}

UndoReason reason_of(const OpenFault& fault, Instant now) {
  if (fault.state == FaultState::stuck) return UndoReason::retry;
  return fault.deadline <= now ? UndoReason::deadline : UndoReason::lease_ran_out;
}

Failure refuse(std::string message) {
  return fail(ErrorCode::refused, ErrorSource::host, std::move(message));
}

}  // namespace

std::string_view to_string(FaultState state) {
  switch (state) {
    case FaultState::applying:
      return "applying";
    case FaultState::applied:
      return "applied";
    case FaultState::conflict:
      return "conflict";
    case FaultState::stuck:
      return "stuck";
  }
  return "?";
}

std::string_view to_string(UndoReason reason) {
  switch (reason) {
    case UndoReason::asked:
      return "asked for";
    case UndoReason::agent_gone:
      return "the agent is gone";
    case UndoReason::lease_ran_out:
      return "its lease ran out";
    case UndoReason::deadline:
      return "its longest duration is over";
    case UndoReason::helper_restarted:
      return "the helper was started again";
    case UndoReason::failed_to_apply:
      return "it could not be applied";
    case UndoReason::retry:
      return "tried again";
  }
  return "?";
}

Result<void> LeaseBook::may_add(const KernelFault& fault) const {
  if (faults_.size() >= kFaultsMax) {
    return refuse("there are " + std::to_string(kFaultsMax) + " faults already");
  }
  for (const auto& [id, open] : faults_) {
    const std::string name =
        "fault " + std::to_string(id) + " (" + describe(open.intent.fault) + ")";
    if (open.state == FaultState::stuck) {
      return refuse("STUCK: " + name + " could not be undone: " + open.problem);
    }
    const bool is_same = same_target(open.intent.fault, fault);
    const bool is_beside =
        !is_external(fault.effect) && open.intent.fault.interface == fault.interface;
    if (open.state == FaultState::conflict && (is_same || is_beside)) {
      return refuse("CONFLICT: " + name + ": " + open.problem);
    }
    if (is_same) return refuse(name + " is on the same target");
  }
  return {};
}

OpenFault& LeaseBook::add(OpenFault fault) {
  const std::uint64_t id = fault.intent.id;
  const auto [at, is_new] = faults_.emplace(id, std::move(fault));
  CHECK(is_new, "each fault has a number of its own");
  return at->second;
}

OpenFault* LeaseBook::find(std::uint64_t id) {
  const auto found = faults_.find(id);
  return found == faults_.end() ? nullptr : &found->second;
}

std::size_t LeaseBook::renew(OwnerId owner, std::optional<std::uint64_t> id, Duration lease,
                             Instant now) {
  std::size_t count = 0;
  for (auto& [key, fault] : faults_) {
    if (fault.owner != owner || !is_on(fault) || (id && *id != key)) continue;
    fault.lease_until = now + std::clamp(lease, Duration::zero(), kLeaseMost);
    ++count;
  }
  return count;
}

void LeaseBook::wait(Duration time) {
  for (auto& [id, fault] : faults_) {
    if (is_on(fault) && fault.lease_until < kNever - time) fault.lease_until += time;
    if (fault.state == FaultState::stuck && fault.retry_at < kNever - time) fault.retry_at += time;
  }
}

std::vector<LeaseBook::Due> LeaseBook::due(Instant now) const {
  std::vector<Due> found;
  for (const auto& [id, fault] : faults_) {
    if (due_at(fault) <= now) found.push_back({id, reason_of(fault, now)});
  }
  return found;
}

Instant LeaseBook::next_due() const {
  Instant next = kNever;
  for (const auto& [id, fault] : faults_) next = std::min(next, due_at(fault));
  return next;
}

std::vector<std::uint64_t> LeaseBook::ids() const {
  std::vector<std::uint64_t> found;
  for (const auto& [id, fault] : faults_) found.push_back(id);
  return found;
}

std::vector<std::uint64_t> LeaseBook::ids_of(OwnerId owner) const {
  std::vector<std::uint64_t> found;
  for (const auto& [id, fault] : faults_) {
    if (fault.owner == owner && is_on(fault)) found.push_back(id);
  }
  return found;
}

bool LeaseBook::is_stuck() const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [](const auto& entry) { return entry.second.state == FaultState::stuck; });
}

}  // namespace rehearsal::fault

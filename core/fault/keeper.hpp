#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/fault/external_policy.hpp"
#include "core/fault/host_policy.hpp"
#include "core/fault/journal.hpp"
#include "core/fault/lease_book.hpp"
#include "core/fault/ports.hpp"

namespace rehearsal::fault {

/// How undoing one fault ended.
enum class UndoOutcome : std::uint8_t { clean, conflict, stuck };
inline constexpr std::array kUndoOutcomes = {UndoOutcome::clean, UndoOutcome::conflict,
                                             UndoOutcome::stuck};
std::string_view to_string(UndoOutcome outcome);

struct Undone {
  std::uint64_t id = 0;
  UndoOutcome outcome = UndoOutcome::clean;
  std::string text;  ///< what was undone, and what is wrong
  bool operator==(const Undone&) const = default;
};

/// Something that an operator may act on: for the log.
struct KeeperEvent {
  enum class Severity : std::uint8_t { info, warning, error };
  Severity severity = Severity::info;
  std::string text;
};

/// Where the keeper lives: what stays the same for its whole life.
struct KeeperSetup {
  std::string boot_id;
  std::function<std::uint64_t()> wall_ns;       ///< for people who read the journal
  std::function<void(Step)> on_step = nullptr;  ///< tests stop here
  CommandPort* commands = nullptr;              ///< outlives the keeper; none: no commands
};

/// Does faults to the kernel's network, or by operators' commands, so that they can always be
/// undone: nothing is touched before the state before, the change and its undo are on disk;
/// everything is read back; whoever dies, the fault is undone by whoever is left, or by the helper
/// when it is started again. One thread; calls return when the kernel has answered.
class FaultKeeper {
 public:
  FaultKeeper(KernelPort& kernel, JournalPort& journal, KeeperSetup setup);

  /// Undoes all that an earlier helper left, before any request is taken.
  void replay(const Journal& journal, Instant now);

  /// Returns the fault's number.
  Result<std::uint64_t> apply(OwnerId owner, const FaultRequest& request, const HostPolicy& policy,
                              Instant now);
  /// An operator's command: refused also where its own check says that it is applied already, for
  /// then it is somebody else's.
  Result<std::uint64_t> apply(OwnerId owner, const FaultRequest& request,
                              const ExternalPolicy& policy, Instant now);
  std::size_t renew(OwnerId owner, std::optional<std::uint64_t> id, Duration lease, Instant now);
  /// One fault, or all; whoever asked for them.
  std::vector<Undone> undo(std::optional<std::uint64_t> id, Instant now);
  /// Undoes all that `owner` asked for.
  void disconnected(OwnerId owner, Instant now);
  /// Undoes what is due: call it at next_due(), or later.
  void on_time(Instant now);
  Instant next_due() const { return book_.next_due(); }
  /// A request took so long, while no other could be taken: where it may have been commands, leases
  /// last longer by it.
  void busy(Duration time) {
    if (setup_.commands != nullptr) book_.wait(time);
  }

  /// Tries once more to undo what is in conflict or stuck; then closes what is in conflict (the
  /// other's change stays), and, with `accept_stuck`, also what is stuck and a damaged journal.
  std::vector<Undone> clear(bool accept_stuck, Instant now);

  const std::map<std::uint64_t, OpenFault>& faults() const { return book_.faults(); }
  /// Why nothing new is done: a fault that is stuck, a damaged journal. Empty: nothing.
  std::string blocked() const;

  /// The names of interfaces that no fault may touch; none where the kernel does not tell.
  std::vector<std::string> protected_names(const HostPolicy& policy);
  /// The wall clock: nanoseconds since 1970, as in the journal.
  std::uint64_t wall_ns() const { return setup_.wall_ns(); }

  std::vector<KeeperEvent> take_events();

 private:
  /// What stands there of a fault, and what has to be remembered to know it again.
  struct Look {
    Finding finding;
    std::string left;
  };

  Result<Intent> intend(const FaultRequest& request, const HostPolicy& policy, Instant now);
  Result<Intent> intend(const FaultRequest& request, const ExternalPolicy& policy, Instant now);
  Result<void> may_begin(const KernelFault& fault) const;
  Intent intent_of(const FaultRequest& request, Instant now);
  Result<std::uint64_t> take_on(OwnerId owner, const FaultRequest& request, Intent intent,
                                Instant now);
  Result<Look> look(const OpenFault& fault, const std::string& left);
  Result<void> act(const OpenFault& fault, const Act& act);
  Result<std::uint64_t> carry_out(OpenFault& fault, Instant now);
  Undone undo_one(OpenFault& fault, UndoReason reason, Instant now);
  void remember_half_done(OpenFault& fault);
  Undone close(OpenFault& fault, Closing closing, const std::string& text, Instant now);
  Undone conflict(OpenFault& fault, const std::string& text);
  Undone stuck(OpenFault& fault, const std::string& text, Instant now);
  std::vector<Undone> undo_these(const std::vector<std::uint64_t>& ids, UndoReason reason,
                                 Instant now);
  Result<std::uint32_t> present_index(const OpenFault& fault);
  void open_from(const Journal& journal);
  void adopt_strays();
  void start_over_if_large();
  void step(Step step) {
    if (setup_.on_step) setup_.on_step(step);
  }
  void say(KeeperEvent::Severity severity, std::string text);

  KernelPort& kernel_;
  JournalPort& journal_;
  KeeperSetup setup_;
  LeaseBook book_;
  std::uint64_t next_id_ = 1;
  std::string journal_problem_;
  std::vector<KeeperEvent> events_;
};

}  // namespace rehearsal::fault

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/fault/journal.hpp"

namespace rehearsal::fault {

/// Who asked for a fault: a connection to the helper. 0: nobody any more.
using OwnerId = Id<struct OwnerTag, std::uint64_t>;

/// How many faults can be on at once.
inline constexpr std::size_t kFaultsMax = 64;

/// How often undoing is tried again where it failed.
inline constexpr Duration kRetryInterval = std::chrono::seconds{1};

enum class FaultState : std::uint8_t {
  applying,  ///< in the journal; not yet read back
  applied,
  conflict,  ///< somebody else changed it since: left as it is until an operator clears it
  stuck,     ///< undoing failed: tried again and again, and nothing new is done meanwhile
};
inline constexpr std::array kFaultStates = {FaultState::applying, FaultState::applied,
                                            FaultState::conflict, FaultState::stuck};
std::string_view to_string(FaultState state);

/// A fault that is on, or that could not be undone.
struct OpenFault {
  Intent intent;
  std::string left;  ///< options of our root as they were read back
  FaultState state = FaultState::applying;
  OwnerId owner{};
  Instant lease_until{};
  Instant deadline{};
  Instant retry_at = kNever;  ///< stuck: when undoing is tried again
  std::string problem;        ///< conflict, stuck: what is wrong
  /// The kernel has started again since: its state, and the numbers of its interfaces, are gone.
  bool before_reboot = false;
};

/// Why a fault is undone.
enum class UndoReason : std::uint8_t {
  asked,
  agent_gone,
  lease_ran_out,
  deadline,
  helper_restarted,
  failed_to_apply,
  retry,
};
std::string_view to_string(UndoReason reason);

/// Which faults are on, who holds them and until when. Time comes in as an argument.
class LeaseBook {
 public:
  struct Due {
    std::uint64_t id = 0;
    UndoReason reason{};
  };

  /// Refused: too many; one that is stuck; one on the same target, or in conflict on the same
  /// interface.
  Result<void> may_add(const KernelFault& fault) const;
  OpenFault& add(OpenFault fault);
  /// None if it is closed.
  OpenFault* find(std::uint64_t id);
  void remove(std::uint64_t id) { faults_.erase(id); }

  /// Extends the leases of `owner`'s faults (of that one, if named) to `now + lease`; returns how
  /// many.
  std::size_t renew(OwnerId owner, std::optional<std::uint64_t> id, Duration lease, Instant now);

  /// Nobody could have asked for anything for so long: the leases of all that are on last longer by
  /// it, and what is stuck is tried again later by it, so that requests get their turn between.
  void wait(Duration time);

  /// What is to be undone now: lease or deadline passed, or another try.
  std::vector<Due> due(Instant now) const;
  /// The instant at which due() has something, if nothing happens until then.
  Instant next_due() const;

  std::vector<std::uint64_t> ids() const;
  /// Those that are not in conflict or stuck already.
  std::vector<std::uint64_t> ids_of(OwnerId owner) const;
  const std::map<std::uint64_t, OpenFault>& faults() const { return faults_; }
  bool is_stuck() const;

 private:
  std::map<std::uint64_t, OpenFault> faults_;
};

}  // namespace rehearsal::fault

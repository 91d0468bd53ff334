#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "core/fault/helper_messages.hpp"
#include "core/fault/kernel_fault.hpp"
#include "core/fault/schedule.hpp"

namespace rehearsal::fault {

/// The lease of a run's faults: without a word of the coordinator for so long they are undone,
/// whoever else lives.
inline constexpr Duration kRunLease = std::chrono::seconds{5};
static_assert(kRunLease <= kLeaseMost);
/// A helper that takes longer to answer, beside the time of its commands, is taken for dead.
inline constexpr Duration kHelperPatience = std::chrono::seconds{4};

/// One interface of this host on which a fault of the plan acts, or a command that it is.
struct KernelPart {
  std::uint32_t fault = 0;  ///< index in the plan
  std::vector<KernelFault> levels;
  Duration duration_max{};  ///< that the host allows
  Duration time_max{};      ///< of a command: doing or undoing may take so long
};

/// What went wrong with a fault of the plan.
struct KernelTrouble {
  std::uint32_t fault = 0;  ///< index in the plan
  std::string text;         ///< "STUCK: …", "refused: …"
  /// Something of it may still be on: it could not be undone, or whoever keeps it is gone.
  bool may_be_on = false;
};

/// Has the host's helper, or its rehearsal-external, do the faults of one run, and keeps when they
/// truly were on. A state machine: told by the worker which level each fault is to be at, by the
/// helper what became of what was asked, it asks; it extends the leases by the coordinator's word
/// alone. Whatever is not as asked for is a trouble, ends everything that is on, and begins nothing
/// more: a run whose faults are not those of its plan says nothing.
class KernelRunner {
 public:
  struct Ask {
    std::uint64_t ticket = 0;
    HelperRequest request;
  };

  /// `tickets` counts what is asked of the helper, also by others; it
  /// outlives this. `now`: the coordinator has spoken.
  KernelRunner(std::vector<KernelPart> parts, std::uint64_t& tickets, Instant now);

  /// The fault is to be at this level (Schedule::kOff: off), until `until` at the latest.
  void want(std::uint32_t fault, std::uint32_t level, Instant until, Instant now);
  /// The coordinator spoke.
  void heard(Instant at) { heard_ = std::max(heard_, at); }
  /// Undoes all; nothing begins any more.
  void end(Instant now);
  /// The same, since somebody said so on the way: a trouble, if anything is on.
  void end_early(std::string_view why, Instant now);

  /// False: it was somebody else's ticket.
  bool answered(std::uint64_t ticket, const HelperReply& reply, Instant now);
  void helper_gone(std::string_view reason, Instant now);
  void tick(Instant now);
  Instant deadline() const;

  /// Nothing is on and nothing being asked for.
  bool idle() const;
  /// The helper does not answer: let go of it.
  bool is_helper_dead() const { return helper_dead_; }
  /// How many faults are on.
  std::uint32_t applied() const;
  /// The fault of the plan that the helper knows by this number.
  std::optional<std::uint32_t> fault_of(std::uint64_t id) const;

  std::vector<Ask> take_asks() { return std::exchange(asks_, {}); }
  /// Read back on every interface of the fault, to the first undoing; ascending by beginning.
  std::span<const Spell> spells() const { return spells_; }
  std::uint64_t spells_dropped() const { return spells_dropped_; }
  std::span<const KernelTrouble> troubles() const { return troubles_; }

 private:
  enum class State : std::uint8_t { off, applying, on, undoing };
  struct Part {
    KernelPart planned;
    std::uint32_t wanted = Schedule::kOff;
    std::uint32_t level = Schedule::kOff;  // applying and on: what was asked for
    Instant until = kNever;
    State state = State::off;
    std::uint64_t id = 0;  // of the helper
    Instant helper_ends;   // when the helper undoes it by itself
    std::uint32_t spell = Schedule::kOff;
  };
  enum class Purpose : std::uint8_t { apply, undo, renew, list };
  struct Open {
    std::uint64_t ticket = 0;
    Purpose purpose{};
    std::size_t part = 0;
    std::size_t expected = 0;  // renew: leases
    Instant asked;
  };

  void ask(Purpose purpose, std::size_t part, HelperRequest request, Instant now);
  void move_on(Part& part, Instant now);
  void apply(Part& part, Instant now);
  void undo(Part& part, Instant now);
  void on_applied(Part& part, const HelperReply& reply, Instant now);
  void on_undone(Part& part, const HelperReply& reply, Instant now);
  void on_renewed(std::size_t expected, const HelperReply& reply, Instant now);
  void on_list(const HelperReply& reply, Instant now);
  void begin_spell(const Part& part, Instant now);
  void end_spell(const Part& part, Instant now);
  void trouble(const Part& part, std::string text, Instant now, bool may_be_on = false);
  void stuck(const Part& part, const std::string& why, Instant now);
  void renew(Instant now);
  std::size_t index_of(const Part& part) const {
    return static_cast<std::size_t>(&part - parts_.data());
  }
  bool is_on(const Part& part) const { return part.state == State::on; }
  Duration lease_left(Instant now) const { return heard_ + kRunLease - now; }

  std::vector<Part> parts_;
  Duration patience_ = kHelperPatience;
  std::uint64_t& tickets_;
  Instant heard_;
  Instant next_renewal_ = kNever;
  bool ending_ = false;
  bool helper_dead_ = false;
  std::vector<Open> open_;  // in the order of asking
  std::vector<Ask> asks_;
  std::vector<Spell> spells_;
  std::uint64_t spells_dropped_ = 0;
  std::vector<KernelTrouble> troubles_;
};

}  // namespace rehearsal::fault

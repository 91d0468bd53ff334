#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/coordination/agent_session.hpp"

namespace rehearsal::coordination {

/// What an agent knows of the programs of its host that keep faults (rehearsal-helper,
/// rehearsal-external) and tells the coordinator: whether they are there, what the host allows,
/// which faults are on or could not be undone; and what the coordinator orders about them. A run
/// asks them for its own faults (AgentRun).
class HelperSide {
 public:
  /// The run and the fault of a plan that a helper knows by a number.
  using Name =
      std::function<std::optional<std::pair<std::string, std::string>>(Helper, std::uint64_t)>;

  /// All outlive this. `inventory` is kept as the helper says; `tickets` counts what is asked.
  HelperSide(plan::Inventory& inventory, std::vector<AgentAction>& out, std::uint64_t& tickets,
             Name name);

  void on(const HelperUp& event, Instant now);
  void on(const HelperDown& event, Instant now);
  /// False: it was somebody else's ticket.
  bool on(const HelperAnswered& event, Instant now);
  void on(const protocol::FaultsOrder& order, Instant now);
  /// The coordinator has welcomed this agent: it is told all.
  void joined(Instant now);
  /// No coordinator: nobody is told.
  void left();
  /// A fault may still be on that should not be; the next look says whether.
  void suspect(Helper helper, const std::string& why, Instant now);
  void look(Instant now);
  void tick(Instant now, bool run_is_on);
  Instant deadline() const { return next_look_; }

  bool is_up(Helper helper) const { return side(helper).is_up; }
  /// Why no run may use this host; empty: any may.
  std::string blocked() const;

 private:
  enum class Purpose : std::uint8_t { hello, list, undo, clear };
  struct Open {
    std::uint64_t ticket = 0;
    Purpose purpose{};
    std::uint64_t order = 0;  // list, undo and clear: for this one; 0: none
  };
  struct Side {
    bool is_up = false;
    std::string blocked = {};
    std::vector<fault::ListedFault> faults = {};
    std::deque<Open> open = {};
  };
  Side& side(Helper helper) { return sides_[static_cast<std::size_t>(helper)]; }
  const Side& side(Helper helper) const { return sides_[static_cast<std::size_t>(helper)]; }

  void ask(Helper helper, Purpose purpose, std::uint64_t order, fault::HelperRequest request);
  void take(Helper helper, const fault::WelcomeReply& welcome);
  void listed(std::uint64_t order);
  void add(Helper helper, const fault::ListedFault& fault, protocol::HostFaults& message) const;
  void add_undone(const fault::HelperReply& reply);
  void tell_if_changed();
  void tell(std::uint64_t order);
  protocol::HostFaults state() const;

  plan::Inventory& inventory_;
  std::vector<AgentAction>& out_;
  std::uint64_t& tickets_;
  Name name_;
  const std::vector<std::string> control_interfaces_;  // that the agent knows without a helper
  bool is_joined_ = false;
  std::string no_helper_;
  std::array<Side, kHelpers.size()> sides_;
  std::vector<std::string> undone_;  // by the order that is being carried out
  std::string told_;                 // as serialised, without what changes with time
  Instant next_look_ = kNever;
};

}  // namespace rehearsal::coordination

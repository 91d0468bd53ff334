#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/coordination/agent_session.hpp"

namespace rehearsal::coordination {

/// What an agent knows of its host's helper and tells the coordinator: whether there is one, what
/// the host allows, which faults are on or could not be undone; and what the coordinator orders
/// about them. A run asks the helper for its own faults (AgentRun).
class HelperSide {
 public:
  /// The run and the fault of a plan that the helper knows by a number.
  using Name = std::function<std::optional<std::pair<std::string, std::string>>(std::uint64_t)>;

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
  void suspect(const std::string& why, Instant now);
  void look(Instant now);
  void tick(Instant now, bool run_is_on);
  Instant deadline() const { return next_look_; }

  bool is_up() const { return is_up_; }
  /// Why no run may use this host; empty: any may.
  const std::string& blocked() const { return blocked_; }

 private:
  enum class Purpose : std::uint8_t { hello, list, undo, clear };
  struct Open {
    std::uint64_t ticket = 0;
    Purpose purpose{};
    std::uint64_t order = 0;  // list, undo and clear: for this one; 0: none
  };

  void ask(Purpose purpose, std::uint64_t order, fault::HelperRequest request);
  void take(const fault::WelcomeReply& welcome);
  void add_undone(const fault::HelperReply& reply);
  void tell_if_changed();
  void tell(std::uint64_t order);
  protocol::HostFaults state() const;

  plan::Inventory& inventory_;
  std::vector<AgentAction>& out_;
  std::uint64_t& tickets_;
  Name name_;
  const std::vector<std::string> control_interfaces_;  // that the agent knows without a helper
  bool is_up_ = false;
  bool is_joined_ = false;
  std::string no_helper_;
  std::string blocked_;
  std::vector<fault::ListedFault> faults_;
  std::vector<std::string> undone_;  // by the order that is being carried out
  std::deque<Open> open_;
  std::string told_;  // as serialised, without what changes with time
  Instant next_look_ = kNever;
};

}  // namespace rehearsal::coordination

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/coordination/clock_estimator.hpp"
#include "core/coordination/coordinator.hpp"
#include "core/host/finding.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::coordination {

/// One agent that has joined.
struct AgentEntry {
  SessionId session;
  std::string peer;  ///< where it connects from
  std::string software;
  plan::Inventory inventory;
  std::vector<host::Finding> findings = {};  ///< as it last said
  std::optional<ClockOffset> clock;          ///< as it last said
  std::string run;                           ///< that it is reserved for; empty: none
  protocol::HostFaults faults = {};          ///< of its kernel, as it last said
};

/// The agents that are here, by name of their host and by session.
class AgentTable {
 public:
  /// The entry of this host or session; null: not here. Valid until the table changes.
  AgentEntry* by_host(std::string_view host);
  const AgentEntry* by_host(std::string_view host) const;
  AgentEntry* by_session(SessionId session);

  /// No other agent of that host may be here.
  void add(AgentEntry entry);
  void remove(SessionId session);

  std::size_t size() const { return by_host_.size(); }
  /// By name of host.
  const std::map<std::string, AgentEntry, std::less<>>& entries() const { return by_host_; }
  std::vector<plan::Inventory> inventories() const;

 private:
  std::map<std::string, AgentEntry, std::less<>> by_host_;
  std::map<SessionId, std::string> hosts_;
};

}  // namespace rehearsal::coordination

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/base/time.hpp"
#include "core/coordination/agent_table.hpp"
#include "core/coordination/outbox.hpp"

namespace rehearsal::coordination {

/// What an agent last said of its host's kernel, as people may read it: texts are cut to a line, at
/// most so many faults are kept as a helper can have.
protocol::HostFaults checked(const protocol::HostFaults& message);

/// Why a run may not use this host now: a fault could not be undone, or somebody else's stands on
/// an interface that the run wants a fault on. Empty: it may.
std::string why_not_now(const AgentEntry& agent, const plan::Plan& plan, HostIndex host);

/// Operators' questions about the faults of hosts, and their orders to clear them: handed on to
/// agents, and answered when all have answered or time is up.
class FaultDesk {
 public:
  /// How long agents may take: their helpers answer when the kernel has. Commands that are to be
  /// undone may take longer, see their limits.
  static constexpr Duration kPatience = std::chrono::seconds{5};

  /// Outlives this.
  explicit FaultDesk(Outbox& outbox) : outbox_(outbox) {}

  /// Asks the agent of `host`, or all. not_found: it is not here.
  Result<void> ask(SessionId person, const protocol::FaultsRequest& request,
                   const AgentTable& agents, Instant now);
  void answered(SessionId agent, const protocol::HostFaults& message, const std::string& host);
  void agent_lost(SessionId agent, const std::string& host);
  void person_gone(SessionId person);
  void tick(Instant now);
  Instant deadline() const;

 private:
  struct Order {
    SessionId person;
    std::map<SessionId, std::string> waiting;             // agents, with their hosts
    std::map<std::string, protocol::HostFaults> answers;  // by host
    Duration patience = kPatience;
    Instant deadline;
  };
  void settle(std::uint64_t id);
  void no_answer(Order& order, const std::string& host, const std::string& why);

  Outbox& outbox_;
  std::uint64_t orders_ = 0;
  std::map<std::uint64_t, Order> open_;
};

}  // namespace rehearsal::coordination

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/time.hpp"
#include "core/coordination/agent_table.hpp"
#include "core/coordination/outbox.hpp"
#include "core/host/finding.hpp"

namespace rehearsal::coordination {

/// One way from a data NIC of a host to the same rail of another.
struct ReachPath {
  std::string from;  ///< host
  std::string to;
  NicIndex from_nic;
  NicIndex to_nic;

  bool operator==(const ReachPath&) const = default;
};

/// The ways to be tried between these hosts: all, up to kReachHostsMax hosts; with more, each
/// host's next one in a ring and kReachRandom others, drawn by the seed.
inline constexpr std::size_t kReachHostsMax = 16;
inline constexpr std::size_t kReachRandom = 4;
std::vector<ReachPath> reach_paths(const std::vector<plan::Inventory>& hosts, std::uint64_t seed);

/// What stood in a way, as it was known where it arose.
enum class ReachCause : std::uint8_t {
  unknown,
  timed_out,
  refused,
  unreachable,  ///< no route
  no_address,   ///< the NIC's address is not on its host
  path_mtu,     ///< short packets arrive, long ones do not
  no_agent,     ///< the agent of an end left, or did not answer
};

/// What both ends said of one way.
struct ReachOutcome {
  bool connected = false;                  ///< the sending end
  bool moved = false;                      ///< the message came out at the receiving end
  std::string problem = {};                ///< of the sending end, or before
  std::string receiver = {};               ///< of the receiving end
  ReachCause cause = ReachCause::unknown;  ///< of `problem`; else of `receiver`
  std::uint32_t path_mtu = 0;              ///< bytes; zero: the transport has none
};

/// One finding a way that failed, with its fix, and one that counts them all.
std::vector<host::Finding> reach_findings(const std::vector<ReachPath>& paths,
                                          const std::vector<ReachOutcome>& outcomes,
                                          const std::vector<plan::Inventory>& hosts,
                                          plan::TransportKind transport);

/// Operators' question whether the agents' data addresses reach one another. The agents open,
/// connect and close by the very transport that a run uses, with one message on each connection;
/// this says who, when, and what the outcomes mean. One question at a time.
class ReachDesk {
 public:
  /// For opening, and for connecting: a transport gives up by itself before.
  static constexpr Duration kOpenPatience = std::chrono::seconds{5};
  static constexpr Duration kConnectPatience = std::chrono::seconds{10};
  static constexpr Duration kConnectLimit = std::chrono::seconds{8};

  /// Outlives this.
  explicit ReachDesk(Outbox& outbox) : outbox_(outbox) {}

  /// `token`: known to the agents of this question only.
  Result<void> ask(SessionId person, const protocol::ReachRequest& request,
                   const AgentTable& agents, std::string token, Instant now);
  void answered(SessionId agent, const protocol::ReachReport& report, Instant now);
  void agent_lost(SessionId agent, Instant now);
  void person_gone(SessionId person);
  void tick(Instant now);
  Instant deadline() const { return question_ ? question_->deadline : kNever; }

 private:
  struct Question {
    std::uint64_t order = 0;
    SessionId person;
    plan::TransportKind transport{};
    std::vector<plan::Inventory> hosts = {};
    std::vector<ReachPath> paths = {};
    std::vector<ReachOutcome> outcomes = {};
    std::vector<std::string> to_sender = {};    // addresses, by path
    std::vector<std::string> to_receiver = {};  // … empty: none
    std::map<SessionId, std::string> agents = {};
    std::set<SessionId> waiting = {};
    bool connecting = false;
    Instant deadline = kNever;
  };
  void open(std::string token, Instant now);
  void connect(Instant now);
  void go_on(Instant now);
  void finish();
  void take(const std::string& host, const protocol::ReachReport& report);
  void problem_of(const std::string& host, const std::string& problem);
  void tell_all(protocol::ReachOrder order);

  Outbox& outbox_;
  std::uint64_t orders_ = 0;
  std::optional<Question> question_;
};

}  // namespace rehearsal::coordination

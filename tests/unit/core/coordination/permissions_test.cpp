#include "core/coordination/permissions.hpp"

#include <gmock/gmock.h>

#include "core/protocol/codec.hpp"

namespace rehearsal::coordination {
namespace {

using protocol::Envelope;
using testing::UnorderedElementsAre;

/// Every message of the protocol that this peer may send, found by walking all field numbers.
std::vector<std::string> allowed(Peer peer) {
  std::vector<std::string> names;
  for (int number = 0; number < 64; ++number) {
    const auto message = static_cast<Envelope::MessageCase>(number);
    if (may_send(peer, message)) names.emplace_back(protocol::message_name(message));
  }
  return names;
}

TEST(Permissions, AStrangerMaySayHelloAndNoMore) {
  EXPECT_THAT(allowed(Peer::unknown), UnorderedElementsAre("hello"));
}

TEST(Permissions, AnAgentAnswersCommandsAndGivesNone) {
  EXPECT_THAT(allowed(Peer::agent),
              UnorderedElementsAre("heartbeat", "clock_probe", "reserved", "prepared", "connected",
                                   "step_done", "progress", "results", "failed", "stopped",
                                   "released", "host_faults", "reach_report"));
}

TEST(Permissions, AnOperatorAsksAndSpeaksForNoAgent) {
  EXPECT_THAT(
      allowed(Peer::person),
      UnorderedElementsAre("heartbeat", "profile_part", "plan_request", "run_request",
                           "status_request", "stop_request", "faults_request", "reach_request"));
}

}  // namespace
}  // namespace rehearsal::coordination

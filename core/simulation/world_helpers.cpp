// The helpers of a World's hosts, and their agents' connections to them.
#include <utility>

#include "core/base/check.hpp"
#include "core/simulation/world.hpp"
#include "core/simulation/world_parties.hpp"

namespace rehearsal::simulation {
namespace {

/// Netlink and a disk.
constexpr Duration kHelperTime = std::chrono::milliseconds{2};
constexpr Duration kConnectAgain = std::chrono::seconds{1};

}  // namespace

SimulatedHost& World::host(std::size_t agent) {
  CHECK(agents_[agent]->host != nullptr, "a world with helpers");
  return *agents_[agent]->host;
}

void World::start_helper(std::size_t i) {
  Agent& agent = *agents_[i];
  if (!agent.helper)
    agent.helper = std::make_unique<SimulatedHelper>(host(i), options_.commands, now_);
}

void World::kill_helper(std::size_t i) {
  agents_[i]->helper.reset();
  drop_helper(i, "the helper closed the connection");
}

/// What the agent's host does by itself: a connection, and again after it was lost.
void World::connect_helper(std::size_t i) {
  if (!agents_[i]->host) return;
  queue_.at(now_ + kHelperTime, [this, i, life = agents_[i]->life] {
    Agent& agent = *agents_[i];
    if (!agent.session || agent.life != life || agent.owner.value != 0) return;
    if (!agent.helper) return drop_helper(i, "no helper listens");
    agent.owner = fault::OwnerId{++owners_};
    agent_on(i, coordination::HelperUp{agent.helper->welcome(), helper_kind()});
  });
}

void World::ask_helper(std::size_t i, const coordination::AskHelper& asked) {
  queue_.at(now_ + kHelperTime, [this, i, asked, owner = agents_[i]->owner] {
    Agent& agent = *agents_[i];
    if (!agent.helper || agent.owner != owner || owner.value == 0) return;
    const auto reply = agent.helper->answer(owner, asked.request, now_);
    agent_on(i, coordination::HelperAnswered{asked.ticket, reply});
  });
}

void World::drop_helper(std::size_t i, const std::string& reason) {
  Agent& agent = *agents_[i];
  const fault::OwnerId owner = std::exchange(agent.owner, {});
  if (agent.helper && owner.value != 0) agent.helper->disconnected(owner, now_);
  queue_.at(now_, [this, i, reason, life = agent.life] {
    if (agents_[i]->life == life) agent_on(i, coordination::HelperDown{reason, helper_kind()});
  });
  queue_.at(now_ + kConnectAgain, [this, i, life = agent.life] {
    if (agents_[i]->life == life) connect_helper(i);
  });
}

}  // namespace rehearsal::simulation

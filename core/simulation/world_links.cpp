// The control connections of a World, and what comes over them.
#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/protocol/codec.hpp"
#include "core/simulation/world.hpp"
#include "core/simulation/world_parties.hpp"

namespace rehearsal::simulation {

using coordination::SessionId;

Duration World::delay() {
  const auto least = static_cast<std::uint64_t>(options_.control.delay_min.count());
  const auto most = static_cast<std::uint64_t>(options_.control.delay_max.count());
  return Duration{static_cast<std::int64_t>(random_.between(least, most))};
}

World::LinkPtr World::open_link(std::size_t peer, bool is_agent) {
  auto link = std::make_shared<Link>();
  link->session = SessionId{++sessions_};
  link->peer = peer;
  link->is_agent = is_agent;
  links_[link->session] = link;
  coordinator_on(coordination::SessionOpened{link->session, "10.0.0.1:1"});
  return link;
}

/// Repeats are for agents and what is said to them; a session begins once.
bool World::may_repeat(const Link& link, const protocol::Envelope& message) {
  if (!link.is_agent || message.has_hello() || message.has_refused()) return false;
  return random_.chance(options_.control.duplicate_chance);
}

/// A message lost is a connection lost, at both ends.
bool World::lost(const LinkPtr& link) {
  if (link->coordinator_end) {
    link->coordinator_end = false;
    queue_.at(now_ + delay(), [this, link] {
      if (links_.erase(link->session) == 0) return;
      coordinator_on(coordination::SessionClosed{link->session, "connection timed out"});
    });
  }
  queue_.at(now_ + delay(), [this, link] { link_down(link, "connection timed out"); });
  return true;
}

void World::to_coordinator(const LinkPtr& link, const protocol::Envelope& message) {
  if (!link || !link->peer_end) return;
  if (random_.chance(options_.control.break_chance) && lost(link)) return;
  Instant& last = link->last_to_coordinator;
  last = std::max(last, now_ + delay());
  const auto arrives = [this, link, bytes = protocol::encode(message)] {
    if (!link->coordinator_end) return;
    Result<protocol::Envelope> decoded = protocol::decode(bytes);
    CHECK(decoded.has_value(), "what is encoded can be decoded");
    coordinator_on(coordination::MessageReceived{link->session, std::move(*decoded)});
  };
  queue_.at(last, arrives);
  if (may_repeat(*link, message)) queue_.at(last, arrives);
}

void World::to_peer(const LinkPtr& link, const protocol::Envelope& message) {
  if (random_.chance(options_.control.break_chance) && lost(link)) return;
  Instant& last = link->last_to_peer;
  last = std::max(last, now_ + delay());
  const auto arrives = [this, link, bytes = protocol::encode(message)] {
    Result<protocol::Envelope> decoded = protocol::decode(bytes);
    CHECK(decoded.has_value(), "what is encoded can be decoded");
    deliver(link, *decoded);
  };
  queue_.at(last, arrives);
  if (may_repeat(*link, message)) queue_.at(last, arrives);
}

void World::close_from_coordinator(const LinkPtr& link, const std::string& reason) {
  link->coordinator_end = false;
  links_.erase(link->session);
  link->last_to_peer = std::max(link->last_to_peer, now_ + delay());
  queue_.at(link->last_to_peer, [this, link, reason] { link_down(link, reason); });
}

void World::close_from_peer(const LinkPtr& link, const std::string& reason) {
  link->peer_end = false;
  link->last_to_coordinator = std::max(link->last_to_coordinator, now_ + delay());
  queue_.at(link->last_to_coordinator, [this, link, reason] {
    if (!link->coordinator_end) return;
    link->coordinator_end = false;
    links_.erase(link->session);
    coordinator_on(coordination::SessionClosed{link->session, reason});
  });
}

void World::deliver(const LinkPtr& link, const protocol::Envelope& message) {
  if (!link->peer_end) return;
  if (!link->is_agent) {
    if (!message.has_heartbeat()) people_[link->peer]->told.push_back(message);
    return;
  }
  Agent& agent = *agents_[link->peer];
  if (agent.paused) {
    agent.missed.push_back([this, link, message] { deliver(link, message); });
    return;
  }
  agent_on(link->peer, coordination::LinkMessage{message});
}

void World::link_down(const LinkPtr& link, const std::string& reason) {
  if (!link->peer_end) return;
  if (!link->is_agent) {
    link->peer_end = false;
    people_[link->peer]->next_heartbeat = kNever;
    people_[link->peer]->link.reset();
    return;
  }
  Agent& agent = *agents_[link->peer];
  if (agent.paused) {
    agent.missed.push_back([this, link, reason] { link_down(link, reason); });
    return;
  }
  link->peer_end = false;
  agent.link.reset();
  agent_on(link->peer, coordination::LinkDown{reason});
}

void World::coordinator_on(const coordination::Event& event) {
  if (!coordinator_) return;
  for (coordination::Action& action : coordinator_->on(event, now_)) {
    if (auto* send = std::get_if<coordination::Send>(&action)) {
      if (const auto link = links_.find(send->session); link != links_.end()) {
        to_peer(LinkPtr(link->second), send->message);
      }
    } else if (auto* close = std::get_if<coordination::Close>(&action)) {
      if (const auto link = links_.find(close->session); link != links_.end()) {
        close_from_coordinator(LinkPtr(link->second), close->reason);
      }
    } else if (auto* store = std::get_if<coordination::StoreRun>(&action)) {
      stored_.push_back(std::move(*store));
    } else if (auto* compute = std::get_if<coordination::Compute>(&action)) {
      queue_.at(now_, [this, id = compute->id, make = std::move(compute->make)] {
        coordinator_on(coordination::Computed{id, make()});
      });
    } else {
      log_.push_back(std::get<coordination::Log>(action).text);
    }
  }
}

// Agents.

void World::agent_connects(std::size_t i, std::uint64_t life) {
  queue_.at(now_ + delay(), [this, i, life] {
    Agent& agent = *agents_[i];
    if (!agent.session || agent.life != life || agent.link) return;
    if (!coordinator_) return agent_on(i, coordination::LinkDown{"connection refused"});
    agent.link = open_link(i, /*is_agent=*/true);
    agent_on(i, coordination::LinkUp{});
  });
}

void World::agent_on(std::size_t i, const coordination::AgentEvent& event) {
  Agent& agent = *agents_[i];
  if (!agent.session) return;
  if (agent.paused) {
    agent.missed.push_back([this, i, event, life = agent.life] {
      if (agents_[i]->life == life) agent_on(i, event);
    });
    return;
  }
  for (coordination::AgentAction& action : agent.session->on(event, agent_time(i))) {
    act(i, std::move(action));
  }
}

std::unique_ptr<replay::Transport> World::network_of(HostIndex host) {
  if (nics_) return nics_->transport(host);
  return std::make_unique<replay::MemoryTransport>(fabric_);
}

void World::act(std::size_t i, coordination::AgentAction action) {
  Agent& agent = *agents_[i];
  if (auto* send = std::get_if<coordination::SendToCoordinator>(&action)) {
    to_coordinator(agent.link, send->message);
  } else if (auto* again = std::get_if<coordination::Reconnect>(&action)) {
    queue_.at(world_time(i, again->at), [this, i, life = agent.life] { agent_connects(i, life); });
  } else if (auto* close = std::get_if<coordination::CloseLink>(&action)) {
    if (agent.link) close_from_peer(std::exchange(agent.link, nullptr), close->reason);
  } else if (auto* open = std::get_if<coordination::OpenWorker>(&action)) {
    const SimulatedWorker::Options options{
        .plan = open->plan, .host = open->host, .clock_offset = options_.clock_offsets[i]};
    agent.worker.reset();  // before another is on its network
    agent.worker = std::make_unique<SimulatedWorker>(options, network_of(open->host), now_);
    ++agent.workers;
  } else if (std::holds_alternative<coordination::ReleaseWorker>(action)) {
    agent.worker.reset();
  } else if (auto* ask = std::get_if<coordination::AskHelper>(&action)) {
    ask_helper(i, *ask);
  } else if (auto* drop = std::get_if<coordination::DropHelper>(&action)) {
    drop_helper(i, drop->reason);
  } else if (std::holds_alternative<coordination::TryReach>(action) ||
             std::holds_alternative<coordination::EndReach>(action)) {
    // Nobody asks it here: there are no addresses.
  } else if (auto* log = std::get_if<coordination::Log>(&action)) {
    log_.push_back("host" + std::to_string(i) + ": " + log->text);
  } else {
    CHECK(agent.worker != nullptr, "commands for a worker that there is");
    if (auto* connect = std::get_if<coordination::ConnectWorker>(&action)) {
      agent.worker->connect(connect->addresses);
    } else if (auto* start = std::get_if<coordination::StartWorker>(&action)) {
      agent.worker->start({start->iteration, start->phase}, start->instant);
    } else if (std::holds_alternative<coordination::StopWorker>(action)) {
      agent.worker->stop();
    } else {
      agent.worker->finish();
    }
  }
  take_worker_events(i);
}

/// Events reach the session as events of their own, not in the middle of its actions.
void World::take_worker_events(std::size_t i) {
  Agent& agent = *agents_[i];
  if (!agent.worker) return;
  for (coordination::AgentEvent& event : agent.worker->take_events()) {
    queue_.at(now_, [this, i, event = std::move(event), worker = agent.workers] {
      if (agents_[i]->worker && agents_[i]->workers == worker) agent_on(i, event);
    });
  }
}

}  // namespace rehearsal::simulation

#include "core/simulation/world.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/simulation/world_parties.hpp"

namespace rehearsal::simulation {

namespace {

constexpr Duration kOperatorHeartbeat = std::chrono::milliseconds{400};

}  // namespace

World::World(WorldOptions options)
    : options_(std::move(options)), random_(options_.seed), fabric_(options_.fabric) {
  CHECK(options_.clock_offsets.size() == options_.inventories.size(), "a clock for each agent");
  if (options_.nics) nics_ = std::make_unique<NicNetwork>(*options_.nics);
  start_coordinator();
  for (std::size_t i = 0; i < options_.inventories.size(); ++i) {
    Agent& agent = *agents_.emplace_back(std::make_unique<Agent>());
    if (options_.helpers) {
      agent.host = std::make_unique<SimulatedHost>();
      for (const plan::Nic& nic : options_.inventories[i].nics) agent.host->add_interface(nic.name);
      start_helper(i);
    }
    start_agent(i);
  }
}

World::~World() = default;

// Time.

Instant World::next() const {
  Instant next = queue_.next();
  if (coordinator_) next = std::min(next, coordinator_->next_deadline());
  for (std::size_t i = 0; i < agents_.size(); ++i) next = std::min(next, agent_due(i));
  for (const auto& person : people_) next = std::min(next, person->next_heartbeat);
  return next;
}

Instant World::agent_due(std::size_t i) const {
  const Agent& agent = *agents_[i];
  const Instant helper_due = agent.helper ? agent.helper->next_due() : kNever;
  if (!agent.session || agent.paused) return helper_due;
  Instant due = world_time(i, agent.session->next_deadline());
  if (agent.worker) due = std::min(due, agent.worker->next_turn());
  return std::min(due, helper_due);
}

void World::step() {
  now_ = std::max(now_, next());
  if (queue_.next() <= now_) queue_.take()();
  if (coordinator_ && coordinator_->next_deadline() <= now_) coordinator_on(coordination::Tick{});
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    Agent& agent = *agents_[i];
    if (agent.helper && agent.helper->next_due() <= now_) agent.helper->tick(now_);
    if (!agent.session || agent.paused) continue;
    if (agent.worker && agent.worker->next_turn() <= now_) {
      agent.worker->turn(now_);
      if (agent.worker->crashes()) {
        kill_agent(i);
        continue;
      }
      take_worker_events(i);
    }
    if (world_time(i, agent.session->next_deadline()) <= now_) agent_on(i, coordination::Tick{});
  }
  for (const auto& person : people_) {
    if (person->next_heartbeat > now_) continue;
    person->next_heartbeat = now_ + kOperatorHeartbeat;
    protocol::Envelope heartbeat;
    heartbeat.mutable_heartbeat();
    to_coordinator(person->link, heartbeat);
  }
}

void World::run_for(Duration duration) {
  run_until([] { return false; }, duration);
}

bool World::run_until(const std::function<bool()>& done, Duration limit) {
  const Instant end = now_ + limit;
  while (!done()) {
    if (next() > end) {
      now_ = end;
      return done();
    }
    step();
  }
  return true;
}

Instant World::agent_time(std::size_t agent) const { return now_ - options_.clock_offsets[agent]; }

Instant World::world_time(std::size_t agent, Instant instant) const {
  return instant == kNever ? kNever : instant + options_.clock_offsets[agent];
}

// Operators.

std::size_t World::open_operator() {
  CHECK(coordinator_ != nullptr, "operators come when there is a coordinator");
  const std::size_t index = people_.size();
  people_.push_back(std::make_unique<Person>());
  Person& person = *people_.back();
  person.link = open_link(index, /*is_agent=*/false);
  person.next_heartbeat = now_ + kOperatorHeartbeat;
  protocol::Envelope hello;
  hello.mutable_hello()->set_version_min(1);
  hello.mutable_hello()->set_version_max(1);
  hello.mutable_hello()->set_role(protocol::ROLE_OPERATOR);
  to_coordinator(person.link, hello);
  return index;
}

void World::send(std::size_t person, protocol::Envelope message) {
  to_coordinator(people_[person]->link, message);
}

void World::close_operator(std::size_t index) {
  Person& person = *people_[index];
  person.next_heartbeat = kNever;
  if (person.link) close_from_peer(std::exchange(person.link, nullptr), "the process ended");
}

bool World::operator_connected(std::size_t person) const {
  return people_[person]->link != nullptr;
}

const std::vector<protocol::Envelope>& World::told(std::size_t person) const {
  return people_[person]->told;
}

// Faults.

void World::kill_agent(std::size_t i) {
  Agent& agent = *agents_[i];
  if (!agent.session) return;
  agent.session.reset();
  agent.worker.reset();
  agent.paused = false;
  agent.missed.clear();
  if (agent.helper && agent.owner.value != 0) agent.helper->disconnected(agent.owner, now_);
  agent.owner = {};
  if (agent.link) close_from_peer(std::exchange(agent.link, nullptr), "connection reset by peer");
}

void World::start_agent(std::size_t i) {
  Agent& agent = *agents_[i];
  if (agent.session) return;
  coordination::AgentOptions options = options_.agent;
  options.inventory = options_.inventories[i];
  options.seed = random_.next();
  agent.session = std::make_unique<coordination::AgentSession>(std::move(options));
  agent_connects(i, ++agent.life);
  connect_helper(i);
}

void World::pause_agent(std::size_t agent) {
  if (agents_[agent]->session) agents_[agent]->paused = true;
}

void World::resume_agent(std::size_t i) {
  Agent& agent = *agents_[i];
  agent.paused = false;
  // What came meanwhile lies in its socket.
  for (auto& event : std::exchange(agent.missed, {})) event();
}

void World::cut_agent(std::size_t i) {
  if (agents_[i]->link) lost(agents_[i]->link);
}

void World::kill_coordinator() {
  coordinator_.reset();
  for (const auto& entry : std::exchange(links_, {})) {
    const LinkPtr link = entry.second;
    link->coordinator_end = false;
    queue_.at(now_ + delay(), [this, link] { link_down(link, "connection reset by peer"); });
  }
}

void World::start_coordinator() {
  if (coordinator_) return;
  coordination::CoordinatorOptions options = options_.coordinator;
  options.epoch = ++epoch_;
  options.seed = random_.next();
  coordinator_ = std::make_unique<coordination::Coordinator>(std::move(options));
}

coordination::AgentView World::agent(std::size_t agent) const {
  return agents_[agent]->session ? agents_[agent]->session->view(agent_time(agent))
                                 : coordination::AgentView{};
}

bool World::agent_alive(std::size_t agent) const { return agents_[agent]->session != nullptr; }

bool World::agent_sends(std::size_t agent) const {
  return agents_[agent]->worker != nullptr && agents_[agent]->worker->next_turn() != kNever;
}

}  // namespace rehearsal::simulation

#include "tests/support/cluster/cluster.hpp"

#include <poll.h>

#include <algorithm>
#include <map>

#include "core/replay/faulted_transport.hpp"
#include "core/replay/post.hpp"

namespace rehearsal::test {

namespace {

Instant earliest(std::span<const replay::Wakeup> wakeups) {
  Instant deadline = kNever;
  for (const auto& wakeup : wakeups) deadline = std::min(deadline, wakeup.deadline);
  return deadline;
}

}  // namespace

bool VirtualClock::wait(std::span<const replay::Wakeup> wakeups) {
  const Instant deadline = earliest(wakeups);
  if (deadline == kNever || deadline <= now_) return false;
  now_ = deadline;
  return true;
}

bool MonotonicClock::wait(std::span<const replay::Wakeup> wakeups) {
  constexpr std::chrono::milliseconds kPatience{10'000};
  std::vector<pollfd> descriptors;
  for (const auto& wakeup : wakeups)
    if (wakeup.file_descriptor >= 0) descriptors.push_back({wakeup.file_descriptor, POLLIN, 0});
  const Instant deadline = earliest(wakeups);
  auto timeout = kPatience;
  if (deadline != kNever)
    timeout = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(deadline - now()),
                         std::chrono::milliseconds{0}, kPatience);
  const int ready =
      ::poll(descriptors.data(), descriptors.size(), static_cast<int>(timeout.count()));
  return ready > 0 || timeout < kPatience;
}

struct Cluster::Agent {
  plan::Connections connections;
  ConnectionIndex first_local;
  std::unique_ptr<replay::Transport> wire;
  replay::FaultedTransport* faulted = nullptr;  // wire, if the plan has faults for it
  std::optional<replay::BackgroundTraffic> background;
  std::unique_ptr<replay::MemoryFabric> local_fabric;
  std::unique_ptr<replay::MemoryTransport> local;
  std::vector<std::unique_ptr<replay::Replayer>> replayers;
};

Cluster::Cluster(const plan::Plan& plan, Clock& clock, const MakeTransport& make_transport)
    : plan_(plan), clock_(clock) {
  const auto& bindings = plan.jobs[0].bindings;
  by_rank_.resize(bindings.size());
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    auto agent = std::make_unique<Agent>();
    agent->connections = plan::connections_of(plan, HostIndex{host});
    agent->first_local = ConnectionIndex{static_cast<std::uint32_t>(
        agent->connections.outgoing.size() + agent->connections.incoming.size())};
    agent->wire = make_transport(HostIndex{host});
    if (replay::FaultedTransport::needed(plan, HostIndex{host})) {
      auto faulted =
          std::make_unique<replay::FaultedTransport>(std::move(agent->wire), plan, HostIndex{host});
      agent->faulted = faulted.get();
      agent->wire = std::move(faulted);
    }
    if (replay::BackgroundTraffic::needed(agent->connections))
      agent->background.emplace(plan, agent->connections);
    agent->local_fabric = std::make_unique<replay::MemoryFabric>(
        replay::MemoryFabric::Options{.latency = plan.local.latency,
                                      .rate = plan.local.rate,
                                      .sharing = replay::MemoryFabric::Sharing::rank_pair});
    agent->local = std::make_unique<replay::MemoryTransport>(*agent->local_fabric);
    for (std::uint32_t rank = 0; rank < bindings.size(); ++rank) {
      if (bindings[rank].host.value != host) continue;
      agent->replayers.push_back(
          std::make_unique<replay::Replayer>(plan, JobIndex{0}, Rank{rank}, agent->connections));
      by_rank_[rank] = agent->replayers.back().get();
    }
    agents_.push_back(std::move(agent));
  }
}

Cluster::~Cluster() = default;

replay::Transport& Cluster::transport(HostIndex host) { return *agents_[host.value]->wire; }
replay::FaultedTransport* Cluster::faulted(HostIndex host) { return agents_[host.value]->faulted; }

replay::BackgroundTraffic* Cluster::background(HostIndex host) {
  auto& background = agents_[host.value]->background;
  return background ? &*background : nullptr;
}

std::string Cluster::connect() {
  std::map<plan::ConnectionKey, replay::Address> addresses;
  for (auto& agent : agents_) {
    for (const auto& spec : received_by(*agent)) {
      auto address = agent->wire->open(spec);
      if (!address) return address.error().text();
      addresses[spec.key] = *address;
    }
    for (const auto& spec : agent->connections.local) {
      const auto address = agent->local->open(spec);
      if (!address) return address.error().text();
      if (auto done = agent->local->connect(spec, *address); !done) return done.error().text();
    }
  }
  std::map<plan::ConnectionKey, replay::Address> offers;
  for (auto& agent : agents_)
    for (const auto& spec : sent_by(*agent)) {
      const auto offer = agent->wire->offer(spec);
      if (!offer) return offer.error().text();
      if (!offer->empty()) offers[spec.key] = *offer;
    }
  for (auto& agent : agents_)
    for (const auto& spec : received_by(*agent)) {
      const auto offer = offers.find(spec.key);
      if (offer == offers.end()) continue;
      if (auto done = agent->wire->accept(spec, offer->second); !done) return done.error().text();
    }
  for (auto& agent : agents_)
    for (const auto& spec : sent_by(*agent)) {
      const auto address = addresses.find(spec.key);
      if (address == addresses.end()) return "the receiving end does not know a connection";
      if (auto done = agent->wire->connect(spec, address->second); !done)
        return done.error().text();
    }
  return until([&] {
    return std::all_of(by_rank_.begin(), by_rank_.end(),
                       [](const auto* replayer) { return replayer->connected(); }) &&
           std::all_of(agents_.begin(), agents_.end(), [](const auto& agent) {
             return !agent->background || agent->background->connected();
           });
  });
}

std::vector<plan::ConnectionSpec> Cluster::sent_by(const Agent& agent) {
  std::vector<plan::ConnectionSpec> specs = agent.connections.outgoing;
  const auto& more = agent.connections.background_outgoing;
  specs.insert(specs.end(), more.begin(), more.end());
  return specs;
}

std::vector<plan::ConnectionSpec> Cluster::received_by(const Agent& agent) {
  std::vector<plan::ConnectionSpec> specs = agent.connections.incoming;
  const auto& more = agent.connections.background_incoming;
  specs.insert(specs.end(), more.begin(), more.end());
  return specs;
}

bool Cluster::turn(Agent& agent, Instant now) {
  replay::Completion completions[64];
  std::size_t work = 0;
  for (replay::Transport* transport :
       {agent.wire.get(), static_cast<replay::Transport*>(agent.local.get())}) {
    const std::size_t count = transport->poll(completions, now);
    completions_seen_ += count;
    work += count;
    for (auto& replayer : agent.replayers) replayer->on({completions, count}, now);
    if (agent.background && transport == agent.wire.get())
      agent.background->on({completions, count});
  }
  for (auto& replayer : agent.replayers) {
    replayer->advance(now);
    const auto [iteration, phase] = replayer->position();
    if (agent.faulted != nullptr) agent.faulted->schedule().edge(replayer->job(), iteration, phase);
    if (agent.background) agent.background->schedule().edge(replayer->job(), iteration, phase);
    const std::size_t accepted = replay::post_in_order(replayer->requests(), agent.first_local,
                                                       *agent.wire, *agent.local, now);
    replayer->accepted(accepted);
    work += accepted;
  }
  if (agent.background) {
    agent.background->advance(now);
    const std::size_t accepted = agent.wire->post(agent.background->requests(), now);
    agent.background->accepted(accepted);
    work += accepted;
  }
  return work > 0;
}

bool Cluster::turn() {
  bool moved = false;
  const Instant now = clock_.now();
  for (auto& agent : agents_) moved |= turn(*agent, now);
  return moved;
}

std::string Cluster::trouble() const {
  for (const auto* replayer : by_rank_)
    if (const auto& failure = replayer->failure())
      return "rank " + std::to_string(replayer->rank().value) + ": " +
             std::string(failure->reason) + " (peer " + std::to_string(failure->peer.value) + ")";
  return {};
}

std::string Cluster::until(const std::function<bool()>& done) {
  while (true) {
    const bool moved = turn();
    if (auto wrong = trouble(); !wrong.empty()) return wrong;
    take_records();
    if (done()) return {};
    if (moved) continue;
    std::vector<replay::Wakeup> wakeups;
    for (auto& agent : agents_) {
      wakeups.push_back(agent->wire->wakeup());
      wakeups.push_back(agent->local->wakeup());
      for (auto& replayer : agent->replayers)
        wakeups.push_back({.deadline = replayer->next_deadline()});
      if (agent->background) wakeups.push_back({.deadline = agent->background->next_deadline()});
    }
    if (clock_.wait(wakeups)) continue;
    std::string text = "stands still:";
    for (const auto* replayer : by_rank_)
      for (const Rank peer : replayer->waiting_for())
        text += " " + std::to_string(replayer->rank().value) + " waits for " +
                std::to_string(peer.value) + ";";
    return text;
  }
}

bool Cluster::all_idle() const {
  return std::all_of(by_rank_.begin(), by_rank_.end(),
                     [](const auto* replayer) { return replayer->idle(); });
}

void Cluster::start(std::uint32_t iteration, std::uint32_t phase) {
  const Instant now = clock_.now();
  for (auto& agent : agents_) {
    if (agent->faulted != nullptr) agent->faulted->schedule().start(now);
    if (agent->background) agent->background->schedule().start(now);
  }
  for (auto* replayer : by_rank_) replayer->start(iteration, phase, now, now);
}

std::string Cluster::run() {
  const bool free = plan_.synchronisation == plan::SyncMode::free;
  const bool phased = plan_.synchronisation == plan::SyncMode::phase;
  const std::uint32_t phases = phased ? by_rank_[0]->phase_count() : 1;
  for (std::uint32_t iteration = 0; iteration < (free ? 1 : plan_.iterations); ++iteration)
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
      start(iteration, phase);
      if (auto wrong = until([&] { return all_idle(); }); !wrong.empty()) return wrong;
    }
  return {};
}

// A transport that is polled never says that nothing is under way: it has this long to show more.
constexpr Duration kSettledAfter = std::chrono::milliseconds{50};

void Cluster::settle() {
  bool more = true;
  Instant moved = clock_.now();
  while (more) {
    more = turn();
    if (more) moved = clock_.now();
    if (more) continue;
    std::vector<replay::Wakeup> wakeups;
    for (auto& agent : agents_) {
      wakeups.push_back({.deadline = agent->wire->wakeup().deadline});
      wakeups.push_back({.deadline = agent->local->wakeup().deadline});
    }
    if (earliest(wakeups) == kNever) return;
    if (earliest(wakeups) < moved && clock_.now() - moved > kSettledAfter) return;
    more = clock_.wait(wakeups);
  }
}

void Cluster::take_records() {
  for (auto* replayer : by_rank_) {
    ops_.insert(ops_.end(), replayer->op_records().begin(), replayer->op_records().end());
    iterations_.insert(iterations_.end(), replayer->iteration_records().begin(),
                       replayer->iteration_records().end());
    replayer->clear_records();
  }
}

}  // namespace rehearsal::test

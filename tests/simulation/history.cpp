#include "tests/simulation/history.hpp"

#include <array>
#include <cmath>
#include <map>
#include <sstream>

#include "core/base/check.hpp"
#include "core/base/random.hpp"
#include "core/replay/memory_transport.hpp"
#include "core/replay/post.hpp"
#include "core/replay/replayer.hpp"
#include "core/report/observe.hpp"

namespace rehearsal::simulation {
namespace {

constexpr BitRate kRate{10'000'000'000};

profile::Op op_of(profile::OpKind kind, Bytes bytes) {
  profile::Op op;
  op.kind = kind;
  op.bytes = bytes;
  return op;
}

profile::Profile profile_of(const HistoryOptions& options, Duration compute) {
  profile::Profile profile;
  profile.name = "history";
  profile.ranks = options.hosts * options.ranks_per_host;
  profile.streams = {"main"};
  profile.phases = {"iteration"};
  profile::Communicator world{.name = "world", .ranks = {}};
  for (std::uint32_t rank = 0; rank < profile.ranks; ++rank) world.ranks.push_back(Rank{rank});
  profile::Op work;
  work.duration = compute;
  std::vector<profile::Op> ops = {work};
  if (options.workload != Workload::exchange)
    ops.push_back(op_of(profile::OpKind::all_reduce, options.bytes));
  if (options.workload != Workload::ring)
    ops.push_back(op_of(profile::OpKind::all_to_all, options.bytes));
  profile.classes.push_back({.name = "all", .ranks = world.ranks, .ops = std::move(ops)});
  profile.communicators.push_back(std::move(world));
  return profile;
}

plan::Plan plan_of(const HistoryOptions& options, Duration compute) {
  plan::Plan plan;
  plan.drill = "history";
  plan::PlannedJob job;
  job.name = "job";
  for (std::uint32_t host = 0; host < options.hosts; ++host) {
    plan::Inventory inventory{.host = "h" + std::to_string(host), .nics = {}};
    for (std::uint32_t nic = 0; nic < options.nics; ++nic)
      inventory.nics.push_back({.name = "rail" + std::to_string(nic),
                                .address = "127.0.0.1",
                                .line_rate = kRate,
                                .mtu = 9000});
    plan.hosts.push_back(std::move(inventory));
    for (std::uint32_t rank = 0; rank < options.ranks_per_host; ++rank)
      job.bindings.push_back({HostIndex{host}, NicIndex{rank % options.nics}});
  }
  job.profile = std::make_shared<const profile::Profile>(profile_of(options, compute));
  plan.jobs.push_back(std::move(job));
  plan.collectives.chunk = Bytes{256U << 10};
  plan.iterations = options.iterations;
  return plan;
}

/// Agents without a coordinator: every iteration starts everywhere at once.
class Agents {
 public:
  Agents(const HistoryOptions& options, const plan::Plan& plan)
      : options_(options),
        plan_(plan),
        slow_plan_(plan_of(options, slow_compute(options))),
        network_({.rate = kRate, .jitter = options.jitter, .seed = options.seed}),
        sleep_(options.seed * 13 + 5) {
    Random random(options.seed * 7 + 1);
    for (std::uint32_t host = 0; host < options.hosts; ++host) {
      for (std::uint32_t nic = 0; nic < options.nics; ++nic) {
        rates_[{HostIndex{host}, NicIndex{nic}}] = 1 - options.unevenness * random.fraction();
      }
      add_agent(HostIndex{host});
    }
    connect();
  }

  std::vector<measure::IterationTime> run() {
    std::vector<measure::IterationTime> times;
    for (std::uint32_t iteration = 0; iteration < options_.iterations; ++iteration) {
      now_ += std::chrono::microseconds{50};
      set_rates(iteration);
      const Instant start = now_;
      for (Agent& agent : agents_)
        for (auto& replayer : agent.replayers) replayer.start(iteration, 0, now_, now_);
      put_to_sleep();
      until_idle();
      times.push_back({.job = JobIndex{0}, .iteration = iteration, .time = now_ - start});
      for (Agent& agent : agents_)
        for (auto& replayer : agent.replayers) replayer.clear_records();
    }
    return times;
  }

  diagnosis::Observations observe(std::span<const measure::IterationTime> times) const {
    std::vector<measure::FlowMeasurements> measured(agents_.size());
    std::vector<report::AgentFlows> flows;
    for (std::size_t i = 0; i < agents_.size(); ++i) {
      for (const auto& replayer : agents_[i].replayers) replayer.append_flow_times(measured[i]);
      const HostIndex host{static_cast<std::uint32_t>(i)};
      CHECK(report::contradiction_of(plan_, host, measured[i]).empty(), "what is measured fits");
      flows.push_back({.host = host, .measurements = &measured[i]});
    }
    return report::observe(plan_, flows, times);
  }

 private:
  struct Agent {
    plan::Connections connections;
    ConnectionIndex first_local;
    std::unique_ptr<replay::Transport> wire;
    std::unique_ptr<replay::MemoryFabric> local_fabric;
    std::unique_ptr<replay::MemoryTransport> local;
    std::vector<replay::Replayer> replayers;
    Instant asleep_until = Instant::min();
  };

  static Duration slow_compute(const HistoryOptions& options) {
    return options.compute +
           (options.truth.kind == Truth::Kind::straggler ? options.truth.delay : Duration{0});
  }

  void add_agent(HostIndex host) {
    Agent& agent = agents_.emplace_back();
    agent.connections = plan::connections_of(plan_, host);
    agent.first_local = ConnectionIndex{static_cast<std::uint32_t>(
        agent.connections.outgoing.size() + agent.connections.incoming.size())};
    agent.wire = network_.transport(host);
    agent.local_fabric = std::make_unique<replay::MemoryFabric>(
        replay::MemoryFabric::Options{.latency = plan_.local.latency,
                                      .rate = plan_.local.rate,
                                      .sharing = replay::MemoryFabric::Sharing::rank_pair});
    agent.local = std::make_unique<replay::MemoryTransport>(*agent.local_fabric);
    for (std::uint32_t i = 0; i < options_.ranks_per_host; ++i) {
      const Rank rank{host.value * options_.ranks_per_host + i};
      const bool slow = options_.truth.kind == Truth::Kind::straggler &&
                        host.value == options_.truth.host && i == options_.truth.nic;
      agent.replayers.emplace_back(slow ? slow_plan_ : plan_, JobIndex{0}, rank, agent.connections);
    }
  }

  void connect() {
    std::map<plan::ConnectionKey, replay::Address> addresses;
    for (Agent& agent : agents_) {
      for (const auto& spec : agent.connections.incoming)
        addresses[spec.key] = *agent.wire->open(spec);
      for (const auto& spec : agent.connections.local)
        CHECK(agent.local->connect(spec, *agent.local->open(spec)).has_value(), "local");
    }
    for (Agent& agent : agents_)
      for (const auto& spec : agent.connections.outgoing)
        CHECK(agent.wire->connect(spec, addresses.at(spec.key)).has_value(), "connects");
  }

  BitRate rate_of(NicNetwork::Nic nic, double factor) const {
    const auto rate = static_cast<double>(kRate.bits_per_second()) * rates_.at(nic) * factor;
    return BitRate{static_cast<std::uint64_t>(rate)};
  }

  void set_rates(std::uint32_t iteration) {
    const Truth& truth = options_.truth;
    const bool on = iteration >= truth.first && iteration < truth.last;
    using enum Truth::Kind;
    for (const auto& [nic, unused] : rates_) {
      const bool here = on && nic.host.value == truth.host && nic.nic.value == truth.nic;
      const bool sends = here && (truth.kind == Truth::Kind::nic || truth.kind == nic_sending);
      const bool receives = here && (truth.kind == Truth::Kind::nic || truth.kind == nic_receiving);
      network_.set_send_rate(nic, rate_of(nic, sends ? truth.rate : 1));
      network_.set_receive_rate(nic, rate_of(nic, receives ? truth.rate : 1));
    }
    if (truth.kind != link && truth.kind != latency) return;
    const NicNetwork::Nic from{HostIndex{truth.host}, NicIndex{truth.nic}};
    const NicNetwork::Nic to{HostIndex{truth.peer}, NicIndex{truth.nic}};
    network_.set_link(from, to, rate_of(from, on && truth.kind == link ? truth.rate : 1),
                      on && truth.kind == latency ? truth.delay : Duration{0});
  }

  void put_to_sleep() {
    for (Agent& agent : agents_) {
      if (!sleep_.chance(options_.hiccup_chance)) continue;
      const double mean = static_cast<double>(options_.hiccup.count());
      agent.asleep_until =
          now_ + Duration{static_cast<std::int64_t>(-std::log(1 - sleep_.fraction()) * mean)};
    }
  }

  bool turn(Agent& agent) {
    if (now_ < agent.asleep_until) return false;
    std::array<replay::Completion, 64> completions;
    bool moved = false;
    for (replay::Transport* transport :
         {agent.wire.get(), static_cast<replay::Transport*>(agent.local.get())}) {
      const std::size_t count = transport->poll(completions, now_);
      moved |= count > 0;
      for (auto& replayer : agent.replayers) replayer.on({completions.data(), count}, now_);
    }
    for (auto& replayer : agent.replayers) {
      replayer.advance(now_);
      CHECK(!replayer.failure(), "nothing fails here");
      const std::size_t accepted = replay::post_in_order(replayer.requests(), agent.first_local,
                                                         *agent.wire, *agent.local, now_);
      replayer.accepted(accepted);
      moved |= accepted > 0;
    }
    return moved;
  }

  void until_idle() {
    while (true) {
      bool moved = false;
      bool idle = true;
      Instant next = kNever;
      for (Agent& agent : agents_) {
        moved |= turn(agent);
        if (now_ < agent.asleep_until) {
          next = std::min(next, agent.asleep_until);
          idle = false;
          continue;
        }
        next = std::min({next, agent.wire->wakeup().deadline, agent.local->wakeup().deadline});
        for (const auto& replayer : agent.replayers) {
          idle &= replayer.idle();
          next = std::min(next, replayer.next_deadline());
        }
      }
      if (idle && !moved) return;
      if (moved) continue;
      CHECK(next != kNever, "something always moves");
      now_ = std::max(now_, next);
    }
  }

  const HistoryOptions& options_;
  const plan::Plan& plan_;
  plan::Plan slow_plan_;
  NicNetwork network_;
  Random sleep_;
  std::map<NicNetwork::Nic, double> rates_;
  std::vector<Agent> agents_;
  Instant now_{std::chrono::seconds{1}};
};

}  // namespace

std::string to_string(const Truth& truth) {
  constexpr std::array kNames = {"none", "nic",     "nic_sending", "nic_receiving",
                                 "link", "latency", "straggler"};
  std::ostringstream text;
  text << kNames[static_cast<std::size_t>(truth.kind)] << " h" << truth.host << "/rail" << truth.nic
       << " peer h" << truth.peer << " rate " << truth.rate << " delay " << truth.delay.count()
       << " ns, iterations " << truth.first << " to " << truth.last;
  return text.str();
}

History live_through(const HistoryOptions& options) {
  History history;
  history.plan = plan_of(options, options.compute);
  Agents agents(options, history.plan);
  history.iterations = agents.run();
  history.observations = agents.observe(history.iterations);
  history.suspects = diagnosis::find_suspects(history.observations);
  return history;
}

std::string describe(const History& history) {
  const auto host_count = static_cast<std::uint32_t>(history.plan.hosts.size());
  const auto nics =
      static_cast<std::uint32_t>(history.observations.host_of_nic.size()) / host_count;
  const auto name = [&](std::uint32_t nic) {
    return "h" + std::to_string(nic / nics) + "/rail" + std::to_string(nic % nics);
  };
  std::ostringstream text;
  for (const diagnosis::Suspect& suspect : history.suspects) {
    text << to_string(suspect.place) << " nic " << name(suspect.nic) << " to "
         << name(suspect.destination) << " host " << suspect.host.value << " rank "
         << suspect.rank.value << " factor " << suspect.factor << " confidence "
         << suspect.confidence << " in " << suspect.windows << "/" << suspect.windows_of << "; ";
  }
  text << "\n";
  for (const diagnosis::Flow& flow : history.observations.flows) {
    diagnosis::Passage sum;
    for (const auto& window : flow.windows) {
      sum.bytes += window.bytes;
      sum.exposed += window.exposed;
      sum.starved += window.starved;
      sum.blocked += window.blocked;
    }
    text << "  " << name(flow.source) << " to " << name(flow.destination) << ": "
         << to_seconds(sum.exposed) / sum.bytes * 1e9 << " ns/B exposed, starved "
         << to_seconds(sum.starved) << " s, blocked " << to_seconds(sum.blocked) << " s\n";
  }
  return text.str();
}

}  // namespace rehearsal::simulation

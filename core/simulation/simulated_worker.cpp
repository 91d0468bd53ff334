#include "core/simulation/simulated_worker.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.hpp"
#include "core/replay/crash_schedule.hpp"
#include "core/replay/fault_log.hpp"

namespace rehearsal::simulation {
namespace {

constexpr Duration kProgressInterval = std::chrono::milliseconds{100};
constexpr std::size_t kBins = 4096;

}  // namespace

SimulatedWorker::SimulatedWorker(const Options& options, std::unique_ptr<replay::Transport> network,
                                 Instant now)
    : options_(options),
      connections_(plan::connections_of(*options.plan, options.host)),
      local_fabric_(std::make_unique<replay::MemoryFabric>(
          replay::MemoryFabric::Options{.latency = options.plan->local.latency,
                                        .rate = options.plan->local.rate,
                                        .sharing = replay::MemoryFabric::Sharing::rank_pair})),
      local_(std::make_unique<replay::MemoryTransport>(*local_fabric_)),
      remote_(std::move(network)),
      crashes_(replay::crash_schedule(*options.plan, options.host)),
      kernel_(*options.plan, options.host) {
  const plan::Plan& plan = *options_.plan;
  if (replay::FaultedTransport::needed(plan, options_.host)) {
    auto faulted =
        std::make_unique<replay::FaultedTransport>(std::move(remote_), plan, options_.host);
    faulted_ = faulted.get();
    remote_ = std::move(faulted);
  }
  if (replay::BackgroundTraffic::needed(connections_)) background_.emplace(plan, connections_);
  std::vector<measure::ReducedJob> jobs;
  for (std::uint32_t job = 0; job < plan.jobs.size(); ++job) {
    measure::ReducedJob reduced{
        .job = JobIndex{job}, .profile = plan.jobs[job].profile, .ranks = {}};
    for (std::uint32_t rank = 0; rank < plan.jobs[job].bindings.size(); ++rank) {
      if (plan.jobs[job].bindings[rank].host != options_.host) continue;
      reduced.ranks.push_back(Rank{rank});
      replayers_.emplace_back(plan, JobIndex{job}, Rank{rank}, connections_);
    }
    if (!reduced.ranks.empty()) jobs.push_back(std::move(reduced));
  }
  reducer_ = std::make_unique<measure::AgentReducer>(
      jobs,
      measure::AgentReducerOptions{.iterations = plan.iterations,
                                   .free_running = plan.synchronisation == plan::SyncMode::free});
  for (std::size_t nic = 0; nic < plan.hosts[options_.host.value].nics.size(); ++nic) {
    bins_.push_back(
        {measure::ByteBins(agent_time(now), kBins), measure::ByteBins(agent_time(now), kBins)});
  }
  open();
}

void SimulatedWorker::open() {
  for (const fault::PlannedFault& fault : options_.plan->faults)
    if (fault.mechanism == fault::Mechanism::device)
      return fail("fault " + in_quotes(fault.name) +
                      ": the simulated network has no devices; right would be mechanism: sender",
                  {});
  coordination::WorkerOpened opened;
  first_local_ =
      static_cast<std::uint32_t>(connections_.outgoing.size() + connections_.incoming.size());
  nic_of_.resize(first_local_ + connections_.local.size() +
                 connections_.background_outgoing.size() + connections_.background_incoming.size());
  for (const auto* specs : {&connections_.outgoing, &connections_.background_outgoing}) {
    for (const plan::ConnectionSpec& spec : *specs) {
      nic_of_[spec.index.value] = spec.nic;
      outgoing_.emplace(spec.key, spec);
    }
  }
  for (const auto* specs : {&connections_.incoming, &connections_.background_incoming}) {
    for (const plan::ConnectionSpec& spec : *specs) {
      nic_of_[spec.index.value] = spec.nic;
      Result<replay::Address> address = remote_->open(spec);
      if (!address) return fail(address.error().text(), {});
      opened.addresses.push_back({spec.key, std::move(*address)});
    }
  }
  events_.push_back(std::move(opened));
}

Instant SimulatedWorker::world_time(Instant agent) const {
  return agent == kNever ? kNever : agent + options_.clock_offset;
}

void SimulatedWorker::connect(const std::vector<coordination::KeyedAddress>& addresses) {
  if (over()) return;
  connecting_ = true;
  for (const plan::ConnectionSpec& spec : connections_.local) {
    const Result<replay::Address> address = local_->open(spec);
    if (!address) return fail(address.error().text(), {});
    if (const auto made = local_->connect(spec, *address); !made)
      return fail(made.error().text(), {});
  }
  for (const coordination::KeyedAddress& address : addresses) {
    const auto spec = outgoing_.find(address.key);
    if (spec == outgoing_.end()) return fail("an address of no connection of this agent", {});
    const Result<void> made = remote_->connect(spec->second, address.address);
    if (!made) return fail(made.error().text(), {});
  }
}

void SimulatedWorker::start(coordination::Step step, Instant instant) {
  if (over()) return;
  appointed_ = step;
  appointment_ = instant;
}

void SimulatedWorker::stop() {
  if (stopped_) return;
  events_.push_back(coordination::WorkerStopped{measurements()});
  stopped_ = true;
  // What the others sent here, and what is under way to them, is dropped.
  remote_.reset();
  local_.reset();
}

void SimulatedWorker::finish() {
  if (stopped_) return;
  events_.push_back(coordination::WorkerStopped{measurements()});
  stopped_ = true;
}

void SimulatedWorker::fail(const std::string& reason, std::vector<HostIndex> waiting) {
  if (over()) return;
  failed_ = true;
  events_.push_back(coordination::WorkerFailed{reason, std::move(waiting)});
}

void SimulatedWorker::turn(Instant now) {
  now_ = now;
  bool moved = true;
  while (moved && !over()) {
    moved = poll(*remote_, now);
    moved |= poll(*local_, now);
    start_if_due(now);
    moved |= run_ranks(now);
    if (background_) moved |= run_background(now);
    take_records();
  }
  crashes_.at(agent_time(now));
  if (!over()) look_around(now);
}

void SimulatedWorker::start_if_due(Instant now) {
  if (!appointed_ || agent_time(now) < appointment_) return;
  running_ = std::exchange(appointed_, std::nullopt);
  begun_ = true;
  next_progress_ = now + kProgressInterval;
  if (faulted_ != nullptr) faulted_->schedule().start(world_time(appointment_));
  if (background_) background_->schedule().start(world_time(appointment_));
  crashes_.start(appointment_);
  kernel_.start(appointment_);
  for (replay::Replayer& replayer : replayers_) {
    replayer.start(running_->iteration, running_->phase, appointment_, agent_time(now));
  }
  appointment_ = kNever;
}

bool SimulatedWorker::run_ranks(Instant now) {
  bool moved = false;
  for (replay::Replayer& replayer : replayers_) {
    replayer.advance(agent_time(now));
    tell_faults(replayer);
    moved |= post(replayer, now);
  }
  return moved;
}

void SimulatedWorker::tell_faults(const replay::Replayer& replayer) {
  const auto [iteration, phase] = replayer.position();
  if (faulted_ != nullptr) faulted_->schedule().edge(replayer.job(), iteration, phase);
  if (background_) background_->schedule().edge(replayer.job(), iteration, phase);
  crashes_.edge(replayer.job(), iteration, phase);
  kernel_.edge(replayer.job(), iteration, phase);
}

/// Its clock is the world's, as that of the network is.
bool SimulatedWorker::run_background(Instant now) {
  if (begun_ && iterations_done() == options_.plan->iterations) background_->end(now);
  background_->advance(now);
  const std::size_t done = remote_->post(background_->requests(), now);
  background_->accepted(done);
  return done > 0;
}

bool SimulatedWorker::crashes() const {
  for (std::size_t i = 0; i < crashes_.size(); ++i)
    if (crashes_.level(i) != fault::Schedule::kOff) return true;
  return false;
}

bool SimulatedWorker::poll(replay::Transport& transport, Instant now) {
  std::array<replay::Completion, 64> completions;
  bool any = false;
  while (const std::size_t count = transport.poll(completions, now)) {
    any = true;
    for (std::size_t i = 0; i < count; ++i) {
      if (&transport == remote_.get()) this->count(completions[i], now);
    }
    for (replay::Replayer& replayer : replayers_) {
      replayer.on(std::span(completions).first(count), agent_time(now));
    }
    if (background_ && &transport == remote_.get())
      background_->on(std::span(completions).first(count));
  }
  return any;
}

bool SimulatedWorker::post(replay::Replayer& replayer, Instant now) {
  bool any = false;
  while (!replayer.requests().empty()) {
    const std::span<const replay::Request> first = replayer.requests().first(1);
    replay::Transport& transport = first[0].connection.value < first_local_
                                       ? *remote_
                                       : static_cast<replay::Transport&>(*local_);
    if (transport.post(first, now) == 0) break;
    replayer.accepted(1);
    any = true;
  }
  return any;
}

void SimulatedWorker::count(const replay::Completion& completion, Instant now) {
  NicBins& bins = bins_[nic_of_[completion.connection.value].value];
  const bool beside = background_ && background_->is_mine(completion.connection);
  if (completion.kind == replay::Completion::Kind::sent) {
    bins.sent.add(agent_time(now), completion.bytes);
    (beside ? bins.background_sent : bins.bytes_sent) += Bytes{completion.bytes};
  } else if (completion.kind == replay::Completion::Kind::received) {
    bins.received.add(agent_time(now), completion.bytes);
    (beside ? bins.background_received : bins.bytes_received) += Bytes{completion.bytes};
  }
}

void SimulatedWorker::take_records() {
  for (replay::Replayer& replayer : replayers_) {
    reducer_->add(replayer.op_records());
    reducer_->add(replayer.iteration_records());
    replayer.clear_records();
  }
}

/// What the agent is to hear of.
void SimulatedWorker::look_around(Instant now) {
  kernel_.at(agent_time(now));
  while (const auto change = kernel_.take_change())
    events_.push_back(coordination::WorkerFault{change->fault, change->level, change->until});
  for (const replay::Replayer& replayer : replayers_) {
    if (!replayer.failure()) continue;
    const auto& bindings = options_.plan->jobs[replayer.job().value].bindings;
    return fail(std::string(replayer.failure()->reason),
                {bindings[replayer.failure()->peer.value].host});
  }
  if (background_ && background_->failure())
    return fail("background traffic: " + std::string(background_->failure()->reason), {});
  const auto all = [&](auto what) {
    return std::all_of(replayers_.begin(), replayers_.end(), what);
  };
  const bool connected = (!background_ || background_->connected()) &&
                         all([](const auto& r) { return r.connected(); });
  if (connecting_ && !connected_ && connected) {
    connected_ = true;
    events_.push_back(coordination::WorkerConnected{});
  }
  if (!running_) return;
  if (all([](const auto& r) { return r.idle(); })) {
    coordination::Step done = *std::exchange(running_, std::nullopt);
    if (options_.plan->synchronisation == plan::SyncMode::free) {
      done.iteration = options_.plan->iterations - 1;
    }
    events_.push_back(coordination::WorkerStepDone{done.iteration, done.phase});
    next_progress_ = kNever;
  } else if (now >= next_progress_ || iterations_done() > iterations_told_) {
    tell_progress(now);
  }
}

void SimulatedWorker::tell_progress(Instant now) {
  next_progress_ = now + kProgressInterval;
  iterations_told_ = iterations_done();
  coordination::WorkerProgress progress;
  progress.iterations_done = iterations_told_;
  for (const replay::Replayer& replayer : replayers_) {
    const replay::ReplayCounters& counters = replayer.counters();
    progress.moved += replayer.ops_done() + counters.messages_sent + counters.messages_received;
  }
  progress.waiting_for = waiting_for();
  events_.push_back(std::move(progress));
}

std::vector<HostIndex> SimulatedWorker::waiting_for() const {
  std::vector<HostIndex> hosts;
  for (const replay::Replayer& replayer : replayers_) {
    for (const Rank rank : replayer.waiting_for()) {
      hosts.push_back(options_.plan->jobs[replayer.job().value].bindings[rank.value].host);
    }
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  std::erase(hosts, options_.host);
  return hosts;
}

std::uint32_t SimulatedWorker::iterations_done() const {
  std::uint32_t least = options_.plan->iterations;
  for (const replay::Replayer& replayer : replayers_) {
    least = std::min(least, replayer.iterations_done());
  }
  return least;
}

Instant SimulatedWorker::next_turn() const {
  if (over()) return kNever;
  Instant next = std::min(remote_->wakeup().deadline, local_->wakeup().deadline);
  next = std::min({next, next_progress_, world_time(appointment_)});
  next = std::min({next, world_time(crashes_.next_change()), world_time(kernel_.next_change())});
  if (background_) next = std::min(next, background_->next_deadline());
  for (const replay::Replayer& replayer : replayers_) {
    next = std::min(next, world_time(replayer.next_deadline()));
  }
  return next;
}

std::string SimulatedWorker::measurements() {
  measure::AgentMeasurements measured;
  if (!begun_) return {};
  measured.results = reducer_->take();
  std::map<JobIndex, measure::JobBytes> jobs;
  for (std::uint32_t nic = 0; nic < bins_.size(); ++nic) {
    measured.nics.push_back({.nic = NicIndex{nic},
                             .sent = bins_[nic].bytes_sent,
                             .received = bins_[nic].bytes_received,
                             .background_sent = bins_[nic].background_sent,
                             .background_received = bins_[nic].background_received,
                             .sent_series = bins_[nic].sent.series(),
                             .received_series = bins_[nic].received.series()});
  }
  for (const replay::Replayer& replayer : replayers_) {
    const replay::ReplayCounters& counters = replayer.counters();
    measure::JobBytes& job = jobs[replayer.job()];
    job.job = replayer.job();
    job.sent += counters.sent;
    job.received += counters.received;
    job.local += counters.local;
    replayer.append_flow_times(measured.flow_times);
  }
  for (const auto& [index, job] : jobs) measured.jobs.push_back(job);
  if (faulted_ != nullptr)
    replay::log_faults(*faulted_, now_, -options_.clock_offset, measured.faults);
  if (background_) replay::log_faults(*background_, now_, -options_.clock_offset, measured.faults);
  for (replay::Replayer& replayer : replayers_)
    replay::log_faults(replayer, agent_time(now_), measured.faults);
  measured.transport.kind = "simulated";
  measured.transport.byte_source = "modelled";
  return measure::encode(measured);
}

}  // namespace rehearsal::simulation

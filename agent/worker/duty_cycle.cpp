#include "agent/worker/duty_cycle.hpp"

#include <algorithm>

#include "agent/worker/data_transport.hpp"
#include "core/base/check.hpp"
#include "core/replay/crash_schedule.hpp"
#include "core/replay/fault_log.hpp"
#include "core/replay/post.hpp"

namespace rehearsal::agent {

using replay::Completion;
using replay::Replayer;

DutyCycle::DutyCycle(std::shared_ptr<const plan::Plan> plan, HostIndex host)
    : plan_(std::move(plan)),
      host_(host),
      wiring_(wire(*plan_, host)),
      measurement_(*plan_, host, wiring_.ranks),
      fabric_({.latency = plan_->local.latency,
               .rate = plan_->local.rate,
               .sharing = replay::MemoryFabric::Sharing::rank_pair}),
      local_(fabric_),
      crashes_(replay::crash_schedule(*plan_, host)),
      kernel_(*plan_, host),
      devices_(*plan_, host, wiring_.connections),
      inboxes_(wiring_.ranks.size()),
      collected_(wiring_.ranks.size()) {
  replayers_.reserve(wiring_.ranks.size());
  for (const LocalRank& here : wiring_.ranks)
    replayers_.emplace_back(*plan_, here.job, here.rank, wiring_.connections);
  if (replay::BackgroundTraffic::needed(wiring_.connections))
    background_.emplace(*plan_, wiring_.connections);
}

DutyCycle::~DutyCycle() = default;

Result<std::unique_ptr<DutyCycle>> DutyCycle::create(std::shared_ptr<const plan::Plan> plan,
                                                     HostIndex host, const std::string& token) {
  std::unique_ptr<DutyCycle> cycle(new DutyCycle(std::move(plan), host));
  ASSIGN_OR_RETURN(cycle->transport_,
                   make_data_transport(*cycle->plan_, host, token, cycle->measurement_.meters()));
  if (cycle->transport_ == nullptr &&
      cycle->wiring_.connections.local.size() < cycle->wiring_.routes.size())
    return fail(
        ErrorCode::unsupported, ErrorSource::transport,
        "transport loopback stays inside one agent, but the plan has connections to others");
  if (cycle->transport_ != nullptr && replay::FaultedTransport::needed(*cycle->plan_, host)) {
    auto faulted = std::make_unique<replay::FaultedTransport>(std::move(cycle->transport_),
                                                              *cycle->plan_, host);
    cycle->faulted_ = faulted.get();
    cycle->transport_ = std::move(faulted);
  }
  return cycle;
}

Result<std::vector<coordination::KeyedAddress>> DutyCycle::open() {
  std::vector<coordination::KeyedAddress> addresses;
  addresses.reserve(wiring_.incoming_by_key.size());
  for (const auto& [key, index] : wiring_.incoming_by_key) {
    auto address = transport_->open(wiring_.routes[index.value].spec);
    if (!address)
      return Failure{address.error().within("opening " + wiring_.describe(*plan_, index))};
    addresses.push_back({key, std::move(*address)});
  }
  for (const auto& [key, index] : wiring_.outgoing_by_key) {
    auto address = transport_->offer(wiring_.routes[index.value].spec);
    if (!address)
      return Failure{address.error().within("preparing " + wiring_.describe(*plan_, index))};
    if (!address->empty()) addresses.push_back({key, std::move(*address)});
  }
  for (const plan::ConnectionSpec& spec : wiring_.connections.local) {
    ASSIGN_OR_RETURN(const replay::Address address, local_.open(spec));
    RETURN_IF_ERROR(local_.connect(spec, address));
  }
  return addresses;
}

Result<void> DutyCycle::connect(const std::vector<coordination::KeyedAddress>& addresses) {
  for (const coordination::KeyedAddress& keyed : addresses) {
    // An address that comes twice is taken once.
    if (const auto outgoing = wiring_.outgoing_by_key.extract(keyed.key)) {
      RETURN_IF_ERROR(connect(outgoing.mapped(), keyed.address));
    } else if (const auto incoming = wiring_.incoming_by_key.extract(keyed.key)) {
      RETURN_IF_ERROR(connect(incoming.mapped(), keyed.address));
    }
  }
  return {};
}

Result<void> DutyCycle::connect(ConnectionIndex connection, const replay::Address& address) {
  const Route& route = wiring_.routes[connection.value];
  const auto done = route.outgoing ? transport_->connect(route.spec, address)
                                   : transport_->accept(route.spec, address);
  if (done) return {};
  return Failure{done.error().within("connecting " + wiring_.describe(*plan_, connection) +
                                     (route.outgoing ? " to host " : " from host ") +
                                     plan_->hosts[route.peer.value].host)};
}

bool DutyCycle::connected() const noexcept {
  if (background_ && !background_->connected()) return false;
  return std::ranges::all_of(replayers_, [](const Replayer& r) { return r.connected(); });
}

void DutyCycle::start_step(std::uint32_t iteration, std::uint32_t phase, Instant instant) noexcept {
  iteration_ = iteration;
  phase_ = phase;
  appointment_ = instant;
}

bool DutyCycle::start_if_due(Instant now) noexcept {
  if (!appointment_ || now < *appointment_) return false;
  if (faulted_ != nullptr) faulted_->schedule().start(*appointment_);
  if (background_) background_->schedule().start(*appointment_);
  crashes_.start(*appointment_);
  kernel_.start(*appointment_);
  devices_.start(*appointment_);
  for (Replayer& replayer : replayers_) replayer.start(iteration_, phase_, *appointment_, now);
  if (!started_) measurement_.start(*appointment_);
  appointment_.reset();
  started_ = true;
  running_ = true;
  return true;
}

bool DutyCycle::turn(Instant now) noexcept {
  now_ = now;
  const bool starts = start_if_due(now);
  bool moved = starts;
  if (transport_ != nullptr) moved |= take_completions(*transport_, now);
  moved |= take_completions(local_, now);
  for (LocalRankIndex rank = 0; rank < replayers_.size(); ++rank) {
    if (starts || inboxes_[rank].count > 0 || replayers_[rank].next_deadline() <= now ||
        !replayers_[rank].requests().empty())
      moved |= run(rank, now);
  }
  if (background_) moved |= run_background(now);
  if (running_ && std::ranges::all_of(replayers_, [](const Replayer& r) { return r.idle(); })) {
    running_ = false;
    step_done_ = true;
    moved = true;
  }
  if (moved) collect_iterations();
  crashes_.at(now);
  kernel_.at(now);
  turn_devices(now);
  return moved;
}

bool DutyCycle::take_completions(replay::Transport& transport, Instant now) noexcept {
  const std::size_t count = transport.poll(batch_, now);
  for (std::size_t i = 0; i < count; ++i) {
    const Completion& completion = batch_[i];
    const Route& route = wiring_.routes[completion.connection.value];
    if (route.background) {
      const bool may_go = completion.kind == Completion::Kind::failed && finished();
      if (!may_go) background_inbox_.completions[background_inbox_.count++] = completion;
      continue;
    }
    switch (completion.kind) {
      case Completion::Kind::sent:
      case Completion::Kind::credit:
        stage(route.source, completion);
        break;
      case Completion::Kind::received:
        stage(route.destination, completion);
        break;
      case Completion::Kind::failed:
        if (finished()) break;  // the peer may go now
        [[fallthrough]];
      case Completion::Kind::connected:
        if (route.source != kNoLocalRank) stage(route.source, completion);
        if (route.destination != kNoLocalRank && route.destination != route.source)
          stage(route.destination, completion);
        break;
    }
  }
  return count > 0;
}

void DutyCycle::stage(LocalRankIndex rank, const Completion& completion) noexcept {
  Inbox& inbox = inboxes_[rank];
  inbox.completions[inbox.count++] = completion;
}

bool DutyCycle::run(LocalRankIndex rank, Instant now) noexcept {
  Replayer& replayer = replayers_[rank];
  Inbox& inbox = inboxes_[rank];
  if (inbox.count > 0) replayer.on(std::span(inbox.completions).first(inbox.count), now);
  inbox.count = 0;
  replayer.advance(now);
  tell_faults(replayer);
  turn_devices(now);
  return post(replayer, now);
}

/// After the ranks, so that it knows where they are.
bool DutyCycle::run_background(Instant now) noexcept {
  const bool heard = background_inbox_.count > 0;
  background_->on(std::span(background_inbox_.completions).first(background_inbox_.count));
  background_inbox_.count = 0;
  if (started_ && finished()) background_->end(now);
  background_->advance(now);
  const std::size_t done =
      background_->requests().empty() ? 0 : transport_->post(background_->requests(), now);
  background_->accepted(done);
  return heard || done > 0;
}

/// Edges come before the messages that follow them.
void DutyCycle::tell_faults(const Replayer& replayer) noexcept {
  if (faulted_ == nullptr && !background_ && crashes_.size() == 0 && kernel_.empty() &&
      devices_.empty())
    return;
  const auto [iteration, phase] = replayer.position();
  if (faulted_ != nullptr) faulted_->schedule().edge(replayer.job(), iteration, phase);
  if (background_) background_->schedule().edge(replayer.job(), iteration, phase);
  crashes_.edge(replayer.job(), iteration, phase);
  kernel_.edge(replayer.job(), iteration, phase);
  devices_.edge(replayer.job(), iteration, phase);
}

void DutyCycle::turn_devices(Instant now) noexcept {
  if (!devices_.empty() && transport_ != nullptr) devices_.turn(*transport_, now);
}

std::optional<coordination::WorkerFault> DutyCycle::take_fault() noexcept {
  const auto change = kernel_.take_change();
  if (!change) return std::nullopt;
  return coordination::WorkerFault{
      .fault = change->fault, .level = change->level, .until = change->until};
}

std::string_view DutyCycle::crash() const noexcept {
  for (std::size_t i = 0; i < crashes_.size(); ++i)
    if (crashes_.level(i) != fault::Schedule::kOff)
      return plan_->faults[crashes_.entry(i).fault].name;
  return {};
}

bool DutyCycle::post(Replayer& replayer, Instant now) noexcept {
  const ConnectionIndex first_local{static_cast<std::uint32_t>(
      wiring_.connections.outgoing.size() + wiring_.connections.incoming.size())};
  replay::Transport& wire = transport_ != nullptr ? *transport_ : local_;
  const std::size_t done =
      replay::post_in_order(replayer.requests(), first_local, wire, local_, now);
  if (done > 0) replayer.accepted(done);
  return done > 0;
}

void DutyCycle::collect_iterations() noexcept {
  for (LocalRankIndex rank = 0; rank < replayers_.size(); ++rank) {
    if (replayers_[rank].iterations_done() == collected_[rank]) continue;
    collected_[rank] = replayers_[rank].iterations_done();
    measurement_.collect(replayers_[rank]);
  }
}

Instant DutyCycle::next_deadline() const noexcept {
  Instant deadline = std::min({local_.wakeup().deadline, crashes_.next_change(),
                               kernel_.next_change(), devices_.next_change()});
  if (transport_ != nullptr) deadline = std::min(deadline, transport_->wakeup().deadline);
  if (background_) deadline = std::min(deadline, background_->next_deadline());
  for (const Replayer& replayer : replayers_)
    deadline = std::min(deadline, replayer.next_deadline());
  return deadline;
}

int DutyCycle::file_descriptor() const noexcept {
  return transport_ != nullptr ? transport_->wakeup().file_descriptor : -1;
}

std::optional<coordination::WorkerStepDone> DutyCycle::take_step_done() noexcept {
  if (!step_done_) return std::nullopt;
  step_done_ = false;
  // In mode free one start stands for all iterations: its end is that of the last one.
  const bool free = plan_->synchronisation == plan::SyncMode::free;
  return coordination::WorkerStepDone{.iteration = free ? plan_->iterations - 1 : iteration_,
                                      .phase = phase_};
}

bool DutyCycle::finished() const noexcept {
  return std::ranges::all_of(
      replayers_, [&](const Replayer& r) { return r.iterations_done() >= plan_->iterations; });
}

bool DutyCycle::only_waits(Instant now) const noexcept {
  return std::ranges::none_of(replayers_, [&](const Replayer& r) { return r.computes(now); });
}

bool DutyCycle::failed() const noexcept {
  if (background_ && background_->failure()) return true;
  if (!devices_.failure().empty()) return true;
  return std::ranges::any_of(replayers_, [](const Replayer& r) { return r.failure().has_value(); });
}

std::string DutyCycle::failure() const {
  const auto text = [&](ConnectionIndex connection, std::string_view reason) {
    const Route& route = wiring_.routes[connection.value];
    return wiring_.describe(*plan_, connection) + ", host " + plan_->hosts[route.peer.value].host +
           ": " + std::string(reason);
  };
  for (const Replayer& replayer : replayers_)
    if (const auto& failure = replayer.failure()) return text(failure->connection, failure->reason);
  if (background_ && background_->failure())
    return text(background_->failure()->connection, background_->failure()->reason);
  return devices_.failure();
}

std::vector<HostIndex> DutyCycle::waiting_for() const {
  std::vector<HostIndex> hosts;
  const auto add = [&](HostIndex host) {
    if (host != host_ && std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  };
  for (const Replayer& replayer : replayers_) {
    if (const auto& failure = replayer.failure())
      return {wiring_.routes[failure->connection.value].peer};
    for (const Rank rank : replayer.waiting_for())
      add(plan_->jobs[replayer.job().value].bindings[rank.value].host);
  }
  if (background_ && background_->failure())
    return {wiring_.routes[background_->failure()->connection.value].peer};
  if (!devices_.failure().empty()) return {};  // nobody but this host
  std::ranges::sort(hosts);
  return hosts;
}

/// While the queue pairs are still there to be told.
void DutyCycle::end_devices() noexcept {
  if (!devices_.empty() && transport_ != nullptr) devices_.end(*transport_, now_);
}

void DutyCycle::abort_all() noexcept {
  appointment_.reset();
  running_ = false;
  end_devices();
  for (const Route& route : wiring_.routes) {
    if (route.local)
      local_.abort(route.spec.index);
    else if (transport_ != nullptr)
      transport_->abort(route.spec.index);
  }
}

std::string DutyCycle::encode_measurements(Duration turn_max, const std::string& place) {
  for (Replayer& replayer : replayers_) measurement_.collect(replayer);
  measure::FaultMeasurements faults;
  if (faulted_ != nullptr) replay::log_faults(*faulted_, now_, Duration::zero(), faults);
  for (Replayer& replayer : replayers_) replay::log_faults(replayer, now_, faults);
  if (background_) replay::log_faults(*background_, now_, Duration::zero(), faults);
  end_devices();
  replay::log_faults(devices_, now_, faults);
  return measurement_.encode(replayers_, transport_.get(), turn_max, place, std::move(faults));
}

std::uint64_t DutyCycle::ops_done() const noexcept {
  std::uint64_t ops = 0;
  for (const Replayer& replayer : replayers_) ops += replayer.ops_done();
  return ops;
}

std::uint64_t DutyCycle::moved() const noexcept {
  const replay::ReplayCounters total = counters();
  return ops_done() + total.messages_sent + total.messages_received;
}

std::uint32_t DutyCycle::iterations_done() const noexcept {
  std::uint32_t least = plan_->iterations;
  for (const Replayer& replayer : replayers_) least = std::min(least, replayer.iterations_done());
  return least;
}

replay::ReplayCounters DutyCycle::counters() const noexcept {
  replay::ReplayCounters sum;
  for (const Replayer& replayer : replayers_) {
    const replay::ReplayCounters& one = replayer.counters();
    sum.sent += one.sent;
    sum.received += one.received;
    sum.local += one.local;
    sum.messages_sent += one.messages_sent;
    sum.messages_received += one.messages_received;
  }
  return sum;
}

replay::BackgroundCount DutyCycle::background() const noexcept {
  replay::BackgroundCount sum;
  if (!background_) return sum;
  for (const replay::BackgroundCount& one : background_->counts()) {
    sum.sent += one.sent;
    sum.received += one.received;
    sum.messages_sent += one.messages_sent;
    sum.messages_received += one.messages_received;
  }
  return sum;
}

std::uint64_t DutyCycle::system_calls() const noexcept {
  return transport_ != nullptr ? transport_->statistics().system_calls : 0;
}

}  // namespace rehearsal::agent

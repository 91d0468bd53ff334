// What agents say to a run.
#include <algorithm>
#include <utility>

#include "core/coordination/messages.hpp"
#include "core/coordination/run.hpp"
#include "core/fabric/node.hpp"
#include "core/plan/background.hpp"
#include "core/plan/checks.hpp"

namespace rehearsal::coordination {
namespace {

constexpr std::size_t kAddressBytesMax = 4096;
/// Clock estimates kept of one agent; then every other one goes.
constexpr std::size_t kClocksMax = 4096;
constexpr Duration kClockSpacing = std::chrono::milliseconds{50};

Failure broken(const RunAgent& agent, const std::string& what) {
  return fail(ErrorCode::protocol, ErrorSource::control, agent.host + ": " + what);
}

/// Keeps an estimate for the report, the better one where two are close.
void keep_clock(RunAgent& agent, const protocol::ClockEstimate& message, Instant now) {
  const std::optional<ClockOffset> clock = from_message(message);
  if (!clock) return;
  const measure::ClockOffset estimate{
      .reference = now - clock->offset, .offset = clock->offset, .error_bound = clock->error_bound};
  std::vector<measure::ClockOffset>& kept = agent.clocks;
  if (!kept.empty() && estimate.reference < kept.back().reference + kClockSpacing) {
    if (estimate.error_bound < kept.back().error_bound &&
        estimate.reference >= kept.back().reference) {
      kept.back() = estimate;
    }
    return;
  }
  kept.push_back(estimate);
  if (kept.size() < kClocksMax) return;
  for (std::size_t i = 0; i < kept.size() / 2; ++i) kept[i] = kept[2 * i];
  kept.resize(kept.size() / 2);
}

}  // namespace

void Run::heard(SessionId session, Instant now) {
  const auto index = indices_.find(session);
  if (index != indices_.end()) agents_[index->second.value].heard = now;
}

Result<void> Run::on(SessionId session, const protocol::Envelope& message, Instant now) {
  using protocol::Envelope;
  const auto index = indices_.find(session);
  if (index == indices_.end() || over_) return {};
  RunAgent& agent = agents_[index->second.value];
  if (!agent.here()) return {};
  // A message of another run was on its way when that run ended.
  const auto of_this = [&](const auto& body) { return body.run() == id(); };
  switch (message.message_case()) {
    case Envelope::kReserved:
      if (of_this(message.reserved())) on_reserved(agent, message.reserved(), now);
      break;
    case Envelope::kPrepared:
      if (of_this(message.prepared())) RETURN_IF_ERROR(on_prepared(agent, message.prepared(), now));
      break;
    case Envelope::kConnected:
      if (of_this(message.connected())) on_connected(agent, message.connected(), now);
      break;
    case Envelope::kStepDone:
      if (of_this(message.step_done())) on_step_done(agent, message.step_done(), now);
      break;
    case Envelope::kProgress:
      if (of_this(message.progress())) on_progress(agent, message.progress(), now);
      break;
    case Envelope::kResults:
      if (of_this(message.results())) RETURN_IF_ERROR(on_results(agent, message.results(), now));
      break;
    case Envelope::kFailed:
      if (of_this(message.failed())) on_failed(agent, message.failed(), now);
      break;
    case Envelope::kStopped:
      if (of_this(message.stopped()) && ending()) agent.stopped = true;
      break;
    case Envelope::kReleased:
      if (of_this(message.released()) && report_ != nullptr) agent.released = true;
      break;
    default:
      break;
  }
  move_on(now);
  return {};
}

void Run::on_reserved(RunAgent& agent, const protocol::Reserved& message, Instant now) {
  if (state_ != RunState::reserving) return;
  if (message.refusal().empty()) {
    agent.reserved = true;
    return;
  }
  agent.refused = true;
  end({.reason = report::StopReason::failed,
       .detail = agent.host + " refuses to be reserved: " + one_line(message.refusal()),
       .waited_for = {agent.host}},
      now);
}

std::uint32_t Run::channels_max(JobIndex job) const {
  // Where nodes are known, choices have up to NCCL's 64 channels, and NVLS one of each for every
  // GPU of a node.
  constexpr auto kGpus = static_cast<std::uint32_t>(fabric::kGpusMax);
  if (plan().jobs[job.value].node) return plan::kChannelsMax * kGpus;
  return std::max(plan().collectives.channels, plan().collectives.point_to_point_channels);
}

bool Run::is_channel(const plan::ConnectionKey& key) const {
  if (key.use == plan::ConnectionUse::background) return true;  // its ends say it all
  const std::size_t communicators = plan().jobs[key.job.value].profile->communicators.size();
  return key.communicator.value < communicators && key.channel < channels_max(key.job);
}

Result<void> Run::on_prepared(RunAgent& agent, const protocol::Prepared& message, Instant) {
  if (state_ != RunState::preparing || agent.prepared) return {};
  const HostIndex host = host_of(agent);
  for (const protocol::ConnectionAddress& given : message.addresses()) {
    std::optional<KeyedAddress> address = from_message(given);
    const auto ends = address ? plan::host_ends(plan(), address->key) : std::nullopt;
    if (!ends) return broken(agent, "an address of no connection of the plan");
    const plan::ConnectionKey& key = address->key;
    const auto [source, destination] = *ends;
    // The receiving end says where it is to be found; queue pairs must know each other.
    const bool both_ends = plan().transport.kind == plan::TransportKind::rdma;
    const bool is_end = destination == host || (both_ends && source == host);
    if (!is_end || source == destination) {
      return broken(agent, "an address of a connection that does not end there");
    }
    if (!is_channel(key)) return broken(agent, "an address of no connection of the plan");
    if (address->address.size() > kAddressBytesMax) return broken(agent, "an address is too long");
    if (++agent.addresses > plan::kConnectionsPerHostMax) {
      return broken(agent, "more addresses than a host may have connections");
    }
    addresses_[destination == host ? source : destination][key] = std::move(address->address);
  }
  agent.prepared = message.last();
  return {};
}

void Run::on_connected(RunAgent& agent, const protocol::Connected& message, Instant now) {
  if (state_ != RunState::connecting) return;
  keep_clock(agent, message.clock(), now);
  agent.connected = true;
}

void Run::on_step_done(RunAgent& agent, const protocol::StepDone& message, Instant now) {
  keep_clock(agent, message.clock(), now);
  if (state_ == RunState::ready) enter(RunState::running, kNever, now);
  if (state_ != RunState::running) return;
  last_progress_ = std::max(now, last_progress_);
  agent.waiting_for.clear();
  const bool last = barrier_.arrive(host_of(agent), {message.iteration(), message.phase()});
  if (!last) return;
  if (barrier_.advance()) {
    tell_progress(now, /*at_once=*/false);
    appoint(now);
  } else {
    drain(now);
  }
}

void Run::on_progress(RunAgent& agent, const protocol::Progress& message, Instant now) {
  if (ending() || reporting_) return;
  if (message.moved() > agent.moved || message.iterations_done() > agent.iterations_done) {
    last_progress_ = last_progress_ == kNever ? now : std::max(now, last_progress_);
  }
  agent.moved = std::max(agent.moved, message.moved());
  agent.iterations_done =
      std::max(agent.iterations_done, std::min(message.iterations_done(), iterations()));
  agent.waiting_for.clear();
  for (const std::uint32_t host : message.waiting_for()) {
    if (host < agents_.size()) agent.waiting_for.push_back(HostIndex{host});
  }
  tell_progress(now, /*at_once=*/false);
}

Result<void> Run::on_results(RunAgent& agent, const protocol::Results& message, Instant) {
  if (agent.results || reporting_ || state_ != RunState::draining) return {};
  if (!agent.incoming_results) {
    agent.incoming_results.emplace(options_.results_bytes_max, agent.host + ": results");
  }
  ASSIGN_OR_RETURN(const bool whole, agent.incoming_results->add({.size = message.size(),
                                                                  .offset = message.offset(),
                                                                  .bytes = message.part()}));
  if (!whole) return {};
  agent.results = agent.incoming_results->take();
  agent.incoming_results.reset();
  agent.measured = true;
  return {};
}

void Run::on_failed(RunAgent& agent, const protocol::Failed& message, Instant now) {
  std::vector<std::string> waited_for;
  for (const std::uint32_t host : message.waiting_for()) {
    if (host < agents_.size()) waited_for.push_back(agents_[host].host);
  }
  std::string detail = agent.host + " failed: " + one_line(message.reason());
  if (!waited_for.empty()) detail += " (it waited for " + joined(waited_for) + ")";
  if (waited_for.empty()) waited_for.push_back(agent.host);
  end({.reason = report::StopReason::failed,
       .detail = std::move(detail),
       .waited_for = std::move(waited_for)},
      now);
}

}  // namespace rehearsal::coordination

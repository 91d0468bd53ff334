#include "agent/worker/run_measurement.hpp"

#include "core/measure/agent_measurements.hpp"

namespace rehearsal::agent {
namespace {

// 26 s at 100 µs for 2 MiB a series; longer runs get wider bins, which the report says.
constexpr std::size_t kBins = std::size_t{1} << 18;
static_assert(kBins <= measure::kBinsMax);

measure::AgentReducer make_reducer(const plan::Plan& plan, std::span<const LocalRank> ranks) {
  std::vector<measure::ReducedJob> jobs;
  for (const LocalRank& here : ranks) {
    if (jobs.empty() || jobs.back().job != here.job)
      jobs.push_back({.job = here.job, .profile = plan.jobs[here.job.value].profile, .ranks = {}});
    jobs.back().ranks.push_back(here.rank);
  }
  return {jobs,
          {.iterations = plan.iterations,
           .free_running = plan.synchronisation == plan::SyncMode::free}};
}

std::vector<measure::JobBytes> bytes_by_job(std::span<const replay::Replayer> replayers) {
  std::vector<measure::JobBytes> jobs;
  for (const replay::Replayer& replayer : replayers) {
    if (jobs.empty() || jobs.back().job != replayer.job()) jobs.push_back({.job = replayer.job()});
    const replay::ReplayCounters& counters = replayer.counters();
    jobs.back().sent += counters.sent;
    jobs.back().received += counters.received;
    jobs.back().local += counters.local;
  }
  return jobs;
}

}  // namespace

RunMeasurement::RunMeasurement(const plan::Plan& plan, HostIndex host,
                               std::span<const LocalRank> ranks)
    : plan_(plan), reducer_(make_reducer(plan, ranks)) {
  const std::size_t nics = plan.hosts[host.value].nics.size();
  meters_.reserve(nics);
  for (std::size_t nic = 0; nic < nics; ++nic)
    meters_.push_back({.sent = measure::ByteBins(Instant{}, kBins),
                       .received = measure::ByteBins(Instant{}, kBins)});
}

void RunMeasurement::start(Instant at) noexcept {
  for (NicMeter& meter : meters_) {
    meter.sent.restart(at);
    meter.received.restart(at);
  }
}

void RunMeasurement::collect(replay::Replayer& replayer) noexcept {
  reducer_.add(replayer.op_records());
  reducer_.add(replayer.iteration_records());
  replayer.clear_records();
}

std::string RunMeasurement::encode(std::span<const replay::Replayer> replayers,
                                   const replay::Transport* transport, Duration turn_max,
                                   const std::string& place, measure::FaultMeasurements faults) {
  measure::AgentMeasurements measurements;
  measurements.results = reducer_.take();
  measurements.jobs = bytes_by_job(replayers);
  measurements.faults = std::move(faults);
  for (const replay::Replayer& replayer : replayers) {
    replayer.append_flow_times(measurements.flow_times);
  }
  for (std::uint32_t nic = 0; nic < meters_.size(); ++nic) {
    measure::NicMeasurements& figures = measurements.nics.emplace_back();
    figures.nic = NicIndex{nic};
    figures.sent_series = meters_[nic].sent.series();
    figures.received_series = meters_[nic].received.series();
    figures.background_sent = Bytes{meters_[nic].background_sent};
    figures.background_received = Bytes{meters_[nic].background_received};
    figures.sent = Bytes{figures.sent_series.total()} - figures.background_sent;
    figures.received = Bytes{figures.received_series.total()} - figures.background_received;
  }
  measurements.transport.kind = to_string(plan_.transport.kind);
  measurements.transport.turn_max = turn_max;
  if (transport != nullptr) {
    const replay::TransportStatistics statistics = transport->statistics();
    measurements.transport.byte_source = transport->capabilities().byte_source;
    measurements.transport.congestion_control = statistics.congestion_control;
    if (plan_.transport.kind == plan::TransportKind::tcp)
      measurements.transport.receive = to_string(plan_.transport.receive);
    measurements.transport.bound = transport->bound();
    measurements.transport.copied = Bytes{statistics.payload_copied};
    measurements.transport.discarded = Bytes{statistics.payload_discarded};
    measurements.transport.system_calls = statistics.system_calls;
  } else {
    measurements.transport.byte_source = "modelled";
  }
  if (!place.empty()) measurements.transport.bound.push_back(place);
  return measure::encode(measurements);
}

}  // namespace rehearsal::agent

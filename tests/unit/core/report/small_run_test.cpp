#include "tests/unit/core/report/small_run.hpp"

#include "core/measure/agent_reducer.hpp"

namespace rehearsal::report::test {
namespace {

using namespace std::chrono_literals;
using profile::OpKind;

constexpr std::uint32_t kIterations = 4;
constexpr std::uint64_t kSentPerHost = 1'600'000;
constexpr std::uint64_t kLocalPerHost = 900'000;

profile::Op op(OpKind kind, std::uint32_t communicator, std::uint64_t bytes,
               std::uint32_t peer = 0) {
  profile::Op result;
  result.kind = kind;
  result.communicator = CommunicatorIndex{communicator};
  result.bytes = Bytes{bytes};
  result.peer = peer;
  return result;
}

std::shared_ptr<const profile::Profile> small_job() {
  auto job = std::make_shared<profile::Profile>();
  job->name = "small";
  job->ranks = 4;
  job->streams = {"main"};
  job->phases = {"forward", "backward"};
  job->communicators = {{"world", {Rank{0}, Rank{1}, Rank{2}, Rank{3}}},
                        {"first host", {Rank{0}, Rank{1}}}};
  job->peer_bytes = {{"embeddings", 4, {}}};
  for (std::uint64_t i = 0; i < 16; ++i) job->peer_bytes[0].bytes.push_back(Bytes{1000 * i});
  profile::Op uneven = op(OpKind::all_to_all, 0, 0);
  uneven.peer_bytes = 0;
  const profile::Op reduce = op(OpKind::all_reduce, 0, 1U << 20);
  job->classes = {{"sender", {Rank{0}}, {uneven, reduce, op(OpKind::send, 1, 4096, 1)}},
                  {"receiver", {Rank{1}}, {uneven, reduce, op(OpKind::recv, 1, 4096, 0)}},
                  {"others", {Rank{2}, Rank{3}}, {uneven, reduce}}};
  return job;
}

// A host's clock is `ahead` of the coordinator's; its ranks begin `late` after the appointment.
AgentResult agent(HostIndex host, std::vector<Rank> ranks, Duration ahead, Duration late) {
  measure::AgentReducer reducer(
      std::vector{measure::ReducedJob{.job = JobIndex{0}, .profile = small_job(), .ranks = ranks}},
      {.iterations = kIterations});
  const Instant origin{100s + ahead};
  measure::NicMeasurements nic{.nic = NicIndex{0},
                               .sent = Bytes{kSentPerHost * kIterations},
                               .received = Bytes{kSentPerHost * kIterations}};
  nic.sent_series = {.origin = origin, .bin = 100us, .bytes = {}};
  nic.received_series = nic.sent_series;
  nic.sent_series.bytes.resize(kIterations * 100);
  nic.received_series.bytes.resize(kIterations * 100);
  for (std::uint32_t iteration = 0; iteration < kIterations; ++iteration) {
    const Instant appointment = origin + iteration * 10ms;
    const Instant start = appointment + late;
    for (const Rank rank : ranks) {
      const auto record = [&](profile::OpIndex index, Duration ready, Duration done) {
        const measure::OpRecord one{.job = JobIndex{0},
                                    .rank = rank,
                                    .iteration = iteration,
                                    .op = index,
                                    .instance = 0,
                                    .ready = start + ready,
                                    .done = start + done};
        reducer.add(std::span(&one, 1));
      };
      record(0, 0ms, 1ms + rank.value * 50us + iteration * 10us);
      record(1, 2ms + rank.value * 100us, 4ms + iteration * 20us);
      if (rank.value < 2) record(2, 5ms, 5ms + 3us + rank.value * 1us);
      const measure::IterationRecord whole{.job = JobIndex{0},
                                           .rank = rank,
                                           .iteration = iteration,
                                           .start = start,
                                           .appointment = appointment,
                                           .done = start + 6ms + iteration * 100us,
                                           .waited = 0ns};
      reducer.add(std::span(&whole, 1));
    }
    for (std::size_t bin = 0; bin < 16; ++bin) {
      nic.sent_series.bytes[iteration * 100 + 20 + bin] = kSentPerHost / 16;
      nic.received_series.bytes[iteration * 100 + 20 + bin] = kSentPerHost / 16;
    }
  }
  AgentResult result{.host = host};
  result.clocks = {{.reference = origin, .offset = -ahead, .error_bound = 3us}};
  result.measurements = measure::AgentMeasurements{};
  result.measurements->results = reducer.take();
  result.measurements->jobs = {{.job = JobIndex{0},
                                .sent = nic.sent,
                                .received = nic.received,
                                .local = Bytes{kLocalPerHost * kIterations}}};
  result.measurements->nics = {nic};
  result.measurements->transport = {.kind = "tcp",
                                    .byte_source = "posted",
                                    .congestion_control = "reno",
                                    .receive = "discard",
                                    .discarded = nic.received,
                                    .system_calls = 400,
                                    .turn_max = 120us};
  return result;
}

}  // namespace

plan::Plan small_plan() {
  plan::Plan plan;
  plan.drill = "small-drill";
  plan.hosts = {{"host1", {{"eth1", "10.79.1.1", BitRate{10'000'000'000}, 1500}}, false},
                {"host2", {{"eth1", "10.79.1.2", BitRate{0}, 1500}}, false}};
  plan::PlannedJob job;
  job.name = "training";
  job.profile = small_job();
  job.profile_identity = std::string(64, 'a');
  plan.jobs = {job};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    plan.jobs[0].bindings.push_back({HostIndex{rank / 2}, NicIndex{0}});
  }
  plan.iterations = kIterations;
  plan.seed = 1;
  return plan;
}

plan::Load small_load() {
  plan::Load load;
  load.jobs = {{.ops = 10,
                .on_wire = Bytes{2 * kSentPerHost},
                .local = Bytes{2 * kLocalPerHost},
                .local_between_nodes = {},
                .compute_max = 0ns}};
  for (std::uint32_t host = 0; host < 2; ++host) {
    load.nics.push_back({HostIndex{host}, NicIndex{0}, Bytes{kSentPerHost}, Bytes{kSentPerHost}});
  }
  return load;
}

RunMeasurements good_run() {
  RunMeasurements run{.run = "20261129-180000-1",
                      .plan_hash = std::string(64, 'b'),
                      .software = "rehearsald 0.1.0",
                      .started_at = "2026-11-29T18:00:00Z",
                      .finished_at = "2026-11-29T18:00:01Z"};
  run.agents.push_back(agent(HostIndex{0}, {Rank{0}, Rank{1}}, 0s, 20us));
  run.agents.push_back(agent(HostIndex{1}, {Rank{2}, Rank{3}}, 5s, 55us));
  return run;
}

}  // namespace rehearsal::report::test

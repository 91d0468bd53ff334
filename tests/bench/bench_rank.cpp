// One agent of a bench: a Worker (the production one: replayer, TCP transport, measurement) and a
// control plane of a few words of shared memory instead of a coordinator. Every host of the bench
// is a process of this program, in its network namespace; host 0 prints one line of JSON.
//
//   bench_rank --host I --addresses A,B,… --exchange FOLDER [--op all_reduce|send] [--bytes N]
//              [--iterations N] [--warm-up N] [--mode free|iteration] [--receive copy|discard]
//              [--congestion-control NAME] [--channels N] [--chunk N]
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/worker.hpp"
#include "core/base/check.hpp"
#include "core/base/encoding.hpp"
#include "core/measure/agent_measurements.hpp"
#include "core/plan/plan.hpp"

namespace rehearsal::bench {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t kHostsMax = 64;

struct Options {
  std::uint32_t host = 0;
  std::vector<std::string> addresses;
  std::filesystem::path exchange;
  std::string op = "all_reduce";
  std::uint64_t bytes = 64U << 20;
  std::uint32_t iterations = 20;
  std::uint32_t warm_up = 3;
  std::string mode = "free";
  std::string receive = "copy";
  std::string congestion_control;
  std::uint32_t channels = 0;
  std::uint64_t chunk = 0;
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench_rank: %s\n", why.c_str());
  std::_Exit(1);
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) give_up("not a number: " + text);
  return value;
}

Options parse(int argc, char** argv) {
  std::map<std::string, std::string> given;
  for (int i = 1; i + 1 < argc; i += 2) given[argv[i]] = argv[i + 1];
  Options options;
  const auto text = [&](const char* name, std::string& value) {
    if (given.contains(name)) value = given[name];
  };
  const auto count = [&](const char* name, auto& value) {
    if (given.contains(name))
      value = static_cast<std::remove_reference_t<decltype(value)>>(number(given[name]));
  };
  count("--host", options.host);
  std::stringstream addresses(given["--addresses"]);
  for (std::string one; std::getline(addresses, one, ',');) options.addresses.push_back(one);
  options.exchange = given["--exchange"];
  text("--op", options.op);
  count("--bytes", options.bytes);
  count("--iterations", options.iterations);
  count("--warm-up", options.warm_up);
  text("--mode", options.mode);
  text("--receive", options.receive);
  text("--congestion-control", options.congestion_control);
  count("--channels", options.channels);
  count("--chunk", options.chunk);
  if (options.addresses.size() > kHostsMax || options.host >= options.addresses.size())
    give_up("--addresses names every host, --host is one of them");
  return options;
}

profile::Profile make_profile(const Options& options) {
  const auto ranks = static_cast<std::uint32_t>(options.addresses.size());
  profile::Profile profile;
  profile.name = "bench";
  profile.ranks = ranks;
  profile.streams = {"main"};
  profile.phases = {"iteration"};
  std::vector<Rank> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) all.push_back(Rank{rank});
  profile.communicators = {{"world", all}};
  profile::Op op;
  op.bytes = Bytes{options.bytes};
  if (options.op == "all_reduce") {
    op.kind = profile::OpKind::all_reduce;
    profile.classes = {{"all", all, {op}}};
  } else {
    op.kind = profile::OpKind::send;
    op.peer = 1;
    profile::Op recv = op;
    recv.kind = profile::OpKind::recv;
    recv.peer = 0;
    profile.classes = {{"sender", {Rank{0}}, {op}}, {"receiver", {Rank{1}}, {recv}}};
  }
  return profile;
}

std::shared_ptr<const plan::Plan> make_plan(const Options& options) {
  std::vector<plan::Inventory> inventories;
  plan::Drill drill;
  drill.name = "bench";
  plan::DrillJob& job = drill.jobs.emplace_back();
  job.name = "bench";
  job.profile = "bench";
  for (std::size_t i = 0; i < options.addresses.size(); ++i) {
    plan::Inventory& inventory = inventories.emplace_back();
    inventory.host = "host" + std::to_string(i);
    inventory.nics = {
        {.name = "data0", .address = options.addresses[i], .line_rate = {}, .mtu = 9000}};
    job.hosts.push_back(inventory.host);
  }
  drill.iterations = options.warm_up + options.iterations;
  drill.synchronisation = options.mode == "free" ? plan::SyncMode::free : plan::SyncMode::iteration;
  drill.transport.congestion_control = options.congestion_control;
  drill.transport.receive =
      options.receive == "discard" ? plan::ReceiveMode::discard : plan::ReceiveMode::copy;
  if (options.channels > 0) {
    drill.collectives.channels = options.channels;
    drill.collectives.point_to_point_channels = options.channels;
  }
  if (options.chunk > 0) {
    drill.collectives.chunk = Bytes{options.chunk};
    drill.collectives.point_to_point_chunk = Bytes{options.chunk};
  }
  auto plan =
      plan::make_plan(drill, inventories,
                      {{"bench", std::make_shared<const profile::Profile>(make_profile(options))}});
  if (!plan) give_up(plan.error().text());
  return std::make_shared<const plan::Plan>(std::move(*plan));
}

/// The control plane: every process maps the same file, which starts as zeroes.
struct Shared {
  std::atomic<std::uint32_t> opened;
  std::atomic<std::uint32_t> connected;
  std::atomic<std::uint64_t> steps_done;
  std::atomic<std::uint32_t> steps_given;  // steps whose instant is set
  std::atomic<std::int64_t> instant;       // of the last one, nanoseconds of the monotonic clock
  std::atomic<std::uint32_t> stopped;
};

Shared& map_shared(const std::filesystem::path& folder) {
  const int file = ::open((folder / "control").c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(Shared)) != 0) give_up("cannot make the control file");
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) give_up("cannot map the control file");
  return *static_cast<Shared*>(memory);
}

template <typename Condition>
void wait_for(Condition&& condition, const char* what) {
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) give_up(std::string("timed out: ") + what);
    std::this_thread::sleep_for(500us);
  }
}

/// Addresses of one host, as a file.
void write_addresses(const std::filesystem::path& file,
                     const std::vector<coordination::KeyedAddress>& addresses) {
  Encoder encoder;
  encoder.number(addresses.size());
  for (const auto& [key, address] : addresses) {
    encoder.number(key.job.value);
    encoder.number(key.communicator.value);
    encoder.number(key.source.value);
    encoder.number(key.destination.value);
    encoder.number(key.channel);
    encoder.number(static_cast<std::uint64_t>(key.use));
    encoder.text(address);
  }
  std::ofstream(file, std::ios::binary) << encoder.bytes();
}

void read_addresses(const std::filesystem::path& file,
                    std::vector<coordination::KeyedAddress>& addresses) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  Decoder decoder(bytes);
  const auto next = [&] { return decoder.number().value(); };
  for (auto left = next(); left > 0; --left) {
    coordination::KeyedAddress& one = addresses.emplace_back();
    one.key.job.value = static_cast<std::uint32_t>(next());
    one.key.communicator.value = static_cast<std::uint32_t>(next());
    one.key.source.value = static_cast<std::uint32_t>(next());
    one.key.destination.value = static_cast<std::uint32_t>(next());
    one.key.channel = static_cast<std::uint16_t>(next());
    one.key.use = static_cast<plan::ConnectionUse>(next());
    one.address = decoder.text(1024).value();
  }
}

/// The worker and the events it has told of.
class Agent {
 public:
  Agent(const Options& options, std::shared_ptr<const plan::Plan> plan) {
    agent::WorkerOptions given{.plan = std::move(plan),
                               .host = HostIndex{options.host},
                               .run = "bench",
                               .token = "bench",
                               .notify = [this] {
                                 const std::lock_guard lock(mutex_);
                                 rung_ = true;
                                 bell_.notify_one();
                               }};
    auto worker = agent::Worker::start(std::move(given));
    if (!worker) give_up(worker.error().text());
    worker_ = std::move(*worker);
  }

  agent::Worker& worker() { return *worker_; }

  template <typename Event>
  Event wait() {
    const auto limit = std::chrono::steady_clock::now() + 120s;
    while (std::chrono::steady_clock::now() < limit) {
      for (auto& event : worker_->take_events()) {
        if (auto* failed = std::get_if<coordination::WorkerFailed>(&event)) give_up(failed->reason);
        if (auto* wanted = std::get_if<Event>(&event)) return std::move(*wanted);
      }
      std::unique_lock lock(mutex_);
      bell_.wait_for(lock, 100ms, [this] { return rung_; });
      rung_ = false;
    }
    give_up("timed out waiting for the worker");
  }

 private:
  std::mutex mutex_;  // protects rung_
  std::condition_variable bell_;
  bool rung_ = false;
  std::unique_ptr<agent::Worker> worker_;
};

void run_steps(const Options& options, std::uint32_t steps, Shared& shared, Agent& agent) {
  const auto hosts = options.addresses.size();
  for (std::uint32_t step = 0; step < steps; ++step) {
    if (options.host == 0) {
      wait_for([&] { return shared.steps_done == hosts * step; }, "the other hosts' step");
      shared.instant = (std::chrono::steady_clock::now() + 10ms).time_since_epoch().count();
      shared.steps_given = step + 1;
    } else {
      wait_for([&] { return shared.steps_given > step; }, "the next step");
    }
    agent.worker().start_step(step, 0, Instant(Duration(shared.instant)));
    agent.wait<coordination::WorkerStepDone>();
    ++shared.steps_done;
  }
}

/// Seconds from the end of the warm-up to the end of the last iteration, per iteration.
double seconds_per_iteration(const Options& options, const measure::AgentMeasurements& results) {
  Instant warm = Instant::max();
  Instant last = Instant::min();
  for (const auto& iteration : results.results.iterations) {
    if (iteration.iteration == options.warm_up) warm = iteration.first_start;
    if (iteration.iteration + 1 == options.warm_up + options.iterations) last = iteration.last_done;
  }
  return to_seconds(last - warm) / options.iterations;
}

void print(const Options& options, const measure::AgentMeasurements& results) {
  const double mib =
      static_cast<double>((results.nics.at(0).sent + results.nics.at(0).received).count()) /
      (1U << 20);
  std::printf(
      "{\"seconds\": %.9f, \"system_calls_per_mib\": %.3f, \"congestion_control\": \"%s\", "
      "\"receive\": \"%s\", \"turn_max_us\": %.1f}\n",
      seconds_per_iteration(options, results),
      static_cast<double>(results.transport.system_calls) / mib,
      results.transport.congestion_control.c_str(), results.transport.receive.c_str(),
      to_seconds(results.transport.turn_max) * 1e6);
}

/// A line an iteration: how long after the appointment this host started, in nanoseconds.
void write_starts(const Options& options, const measure::AgentMeasurements& results) {
  std::ofstream out(options.exchange / ("starts." + std::to_string(options.host)));
  for (const auto& iteration : results.results.iterations)
    if (iteration.iteration >= options.warm_up)
      out << iteration.iteration << ' ' << (iteration.first_start - iteration.appointment).count()
          << '\n';
}

int run(const Options& options) {
  const auto plan = make_plan(options);
  const auto hosts = static_cast<std::uint32_t>(options.addresses.size());
  Shared& shared = map_shared(options.exchange);
  Agent agent(options, plan);
  write_addresses(options.exchange / ("address." + std::to_string(options.host)),
                  agent.wait<coordination::WorkerOpened>().addresses);
  ++shared.opened;
  wait_for([&] { return shared.opened == hosts; }, "the other hosts' addresses");
  std::vector<coordination::KeyedAddress> addresses;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    if (host == options.host) continue;
    read_addresses(options.exchange / ("address." + std::to_string(host)), addresses);
  }
  // Those of the ends that this host's rank sends to, as the coordinator would choose them.
  std::erase_if(addresses, [&](const auto& one) { return one.key.source.value != options.host; });
  agent.worker().connect(std::move(addresses));
  agent.wait<coordination::WorkerConnected>();
  ++shared.connected;
  wait_for([&] { return shared.connected == hosts; }, "the other hosts' connections");

  run_steps(options, options.mode == "free" ? 1 : plan->iterations, shared, agent);
  wait_for([&] { return shared.steps_done == std::uint64_t{hosts} * shared.steps_given; },
           "the other hosts' end");
  agent.worker().finish();
  const auto results =
      measure::decode_agent_measurements(agent.wait<coordination::WorkerStopped>().results);
  ++shared.stopped;
  wait_for([&] { return shared.stopped == hosts; }, "the other hosts' results");
  if (!results) give_up(results.error().text());
  write_starts(options, *results);
  if (options.host == 0) print(options, *results);
  return 0;
}

}  // namespace
}  // namespace rehearsal::bench

int main(int argc, char** argv) {
  return rehearsal::bench::run(rehearsal::bench::parse(argc, argv));
}

#include "agent/host/wire_sampler.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "core/measure/counter_curve.hpp"

namespace rehearsal::agent {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr Duration kIntervalMin = 1ms;
constexpr Duration kIntervalMax = 100ms;
/// Of the thread's time, reading may take one part in so many.
constexpr int kShare = 20;
/// 65 s at 1 ms; then bins get wider.
constexpr std::size_t kBins = std::size_t{1} << 16;

Instant clock_now() { return std::chrono::steady_clock::now(); }

/// A counter that is kept open: read again without opening anew.
class OpenCounter {
 public:
  explicit OpenCounter(const WireCounter& counter)
      : unit_(counter.unit), descriptor_(::open(counter.file.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenCounter() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenCounter(OpenCounter&& other) noexcept
      : unit_(other.unit_), descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenCounter& operator=(OpenCounter&&) = delete;

  std::optional<std::uint64_t> read() const {
    std::array<char, 32> text{};
    const ssize_t got = ::pread(descriptor_, text.data(), text.size(), 0);
    std::uint64_t count = 0;
    if (got <= 0) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + got, count);
    if (error != std::errc{}) return std::nullopt;
    return count * unit_;
  }

 private:
  std::uint64_t unit_;
  int descriptor_;
};

struct Direction {
  OpenCounter counter;
  std::string name;
  std::optional<measure::CounterCurve> curve = std::nullopt;

  explicit Direction(const WireCounter& wire) : counter(wire), name(wire.name()) {}
  void read() {
    if (const auto count = counter.read()) curve->read(clock_now(), *count);
  }
};

bool readable(const WireCounter& counter) { return OpenCounter(counter).read().has_value(); }

}  // namespace

std::optional<WireCounters> find_wire_counters(const plan::Nic& nic, plan::TransportKind transport,
                                               const KernelFolders& folders) {
  std::vector<WireCounters> candidates;
  if (transport == plan::TransportKind::rdma && nic.rdma) {
    const fs::path port =
        folders.rdma / nic.rdma->device / "ports" / std::to_string(nic.rdma->port);
    // InfiniBand counts words of 32 bits.
    candidates.push_back(
        {{port / "counters" / "port_xmit_data", 4}, {port / "counters" / "port_rcv_data", 4}});
    candidates.push_back(
        {{port / "hw_counters" / "sent_bytes"}, {port / "hw_counters" / "rcvd_bytes"}});
  }
  const fs::path interface = folders.network / nic.name / "statistics";
  candidates.push_back({{interface / "tx_bytes"}, {interface / "rx_bytes"}});
  for (const WireCounters& counters : candidates)
    if (readable(counters.sent) && readable(counters.received)) return counters;
  return std::nullopt;
}

void add_wire(std::vector<std::optional<measure::WireMeasurements>> wire,
              measure::AgentMeasurements& measurements) {
  for (measure::NicMeasurements& nic : measurements.nics)
    if (nic.nic.value < wire.size()) nic.wire = std::move(wire[nic.nic.value]);
}

struct WireSampler::State {
  struct Watched {
    std::size_t nic = 0;
    Direction sent;
    Direction received;
  };

  std::vector<Watched> watched;
  std::size_t nics = 0;
  Duration interval = kIntervalMin;
  std::mutex mutex;  // guards `stopping`
  std::condition_variable changed;
  bool stopping = false;
  std::thread thread;

  void read_all() {
    for (Watched& one : watched) {
      one.sent.read();
      one.received.read();
    }
  }

  void run() {
    ::pthread_setname_np(::pthread_self(), "wire-counters");
    ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    Instant next = clock_now();
    std::unique_lock lock(mutex);
    while (!stopping) {
      lock.unlock();
      read_all();
      next = std::max(next + interval, clock_now());
      lock.lock();
      changed.wait_until(lock, next, [this] { return stopping; });
    }
  }

  void end() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
  }
};

WireSampler::WireSampler() : state_(std::make_unique<State>()) {}
WireSampler::~WireSampler() { state_->end(); }

std::unique_ptr<WireSampler> WireSampler::start(std::vector<std::optional<WireCounters>> nics) {
  std::unique_ptr<WireSampler> sampler(new WireSampler());
  State& state = *sampler->state_;
  state.nics = nics.size();
  for (std::size_t nic = 0; nic < nics.size(); ++nic)
    if (nics[nic])
      state.watched.push_back({.nic = nic,
                               .sent = Direction(nics[nic]->sent),
                               .received = Direction(nics[nic]->received)});
  if (state.watched.empty()) return sampler;
  const Instant begin = clock_now();
  for (const auto& one : state.watched) {
    [[maybe_unused]] const auto sent = one.sent.counter.read();
    [[maybe_unused]] const auto received = one.received.counter.read();
  }
  const Duration cost = clock_now() - begin;
  state.interval = std::clamp<Duration>(cost * kShare, kIntervalMin, kIntervalMax);
  const Instant origin = clock_now();
  for (auto& one : state.watched) {
    one.sent.curve.emplace(origin, kBins, state.interval);
    one.received.curve.emplace(origin, kBins, state.interval);
  }
  state.read_all();
  state.thread = std::thread([&state] { state.run(); });
  return sampler;
}

std::vector<std::optional<measure::WireMeasurements>> WireSampler::stop() {
  state_->end();
  std::vector<std::optional<measure::WireMeasurements>> all(state_->nics);
  state_->read_all();  // what came after the last turn
  for (const auto& one : state_->watched) {
    all[one.nic] = measure::WireMeasurements{.sent_source = one.sent.name,
                                             .received_source = one.received.name,
                                             .sent = one.sent.curve->series(),
                                             .received = one.received.curve->series()};
  }
  return all;
}

}  // namespace rehearsal::agent

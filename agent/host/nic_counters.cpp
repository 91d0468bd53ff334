#include "agent/host/nic_counters.hpp"

#include <fstream>

namespace rehearsal::agent {
namespace {

std::optional<Bytes> count_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (!(file >> value)) return std::nullopt;
  return Bytes{value};
}

std::optional<Bytes> rise(Bytes before, Bytes after) {
  if (after < before) return std::nullopt;
  return after - before;
}

// How long the kernel keeps a reading, not an event.
constexpr std::string_view kLifespan = "lifespan";

std::map<std::string, std::uint64_t> device_counts(const plan::RdmaPort& port,
                                                   const std::filesystem::path& devices) {
  std::map<std::string, std::uint64_t> counts;
  const auto folder = devices / port.device / "ports" / std::to_string(port.port);
  for (const char* kind : {"counters", "hw_counters"}) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder / kind, error), end;
         !error && entry != end; entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const auto value = count_in(entry->path());
      if (value && name != kLifespan) counts[name] = value->count();
    }
  }
  return counts;
}

std::vector<measure::CounterRise> rises(const std::map<std::string, std::uint64_t>& before,
                                        const std::map<std::string, std::uint64_t>& after) {
  std::vector<measure::CounterRise> result;
  for (const auto& [name, value] : after) {
    const auto earlier = before.find(name);
    if (earlier == before.end() || value <= earlier->second) continue;
    result.push_back({.name = name, .rise = value - earlier->second});
  }
  return result;
}

}  // namespace

NicCounts read_nic_counts(const std::vector<plan::Nic>& nics, Instant now,
                          const std::filesystem::path& devices,
                          const std::filesystem::path& rdma_devices) {
  NicCounts counts{.nics = {}, .taken = now};
  for (const plan::Nic& nic : nics) {
    const auto folder = devices / nic.name / "statistics";
    const auto sent = count_in(folder / "tx_bytes");
    const auto received = count_in(folder / "rx_bytes");
    auto& count = counts.nics.emplace_back();
    if (!sent || !received) continue;
    count = NicCount{.sent = *sent, .received = *received};
    if (nic.rdma) count->device = device_counts(*nic.rdma, rdma_devices);
  }
  return counts;
}

void add_nic_counts(const NicCounts& before, const NicCounts& after,
                    measure::AgentMeasurements& measurements) {
  for (auto& figures : measurements.nics) {
    const std::size_t nic = figures.nic.value;
    if (nic >= before.nics.size() || nic >= after.nics.size()) continue;
    const auto& first = before.nics[nic];
    const auto& last = after.nics[nic];
    if (!first || !last) continue;
    figures.counter_sent = rise(first->sent, last->sent);
    figures.counter_received = rise(first->received, last->received);
    figures.device_counters = rises(first->device, last->device);
    figures.counters_span = after.taken - before.taken;
  }
}

}  // namespace rehearsal::agent

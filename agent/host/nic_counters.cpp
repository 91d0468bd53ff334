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

}  // namespace

NicCounts read_nic_counts(const std::vector<plan::Nic>& nics,
                          const std::filesystem::path& devices) {
  NicCounts counts;
  for (const plan::Nic& nic : nics) {
    const auto folder = devices / nic.name / "statistics";
    const auto sent = count_in(folder / "tx_bytes");
    const auto received = count_in(folder / "rx_bytes");
    counts.push_back(sent && received ? std::optional(NicCount{*sent, *received}) : std::nullopt);
  }
  return counts;
}

void add_nic_counts(const NicCounts& before, const NicCounts& after,
                    measure::AgentMeasurements& measurements) {
  for (auto& figures : measurements.nics) {
    const std::size_t nic = figures.nic.value;
    if (nic >= before.size() || nic >= after.size() || !before[nic] || !after[nic]) continue;
    figures.counter_sent = rise(before[nic]->sent, after[nic]->sent);
    figures.counter_received = rise(before[nic]->received, after[nic]->received);
  }
}

}  // namespace rehearsal::agent

#include "core/report/health.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace rehearsal::report {
namespace {

constexpr std::array kLimits = {
    HealthLimit{"link_downed", 0, "the link went down"},
    HealthLimit{"symbol_error", 10, "bits arrive damaged: cable, transceiver or port"},
    HealthLimit{"link_error_recovery", 5.0 / 60, "the link had to be trained again"},
    HealthLimit{"port_rcv_errors", 10, "packets arrive damaged"},
    HealthLimit{"local_ack_timeout_err", 1, "packets or their acknowledgements were lost"},
    HealthLimit{"port_xmit_discards", 100, "packets were dropped before they left"},
    HealthLimit{"roce_slow_restart", 10, "flows were slowed down after loss"},
    HealthLimit{"retry_exceeded_err", 0, "a queue pair gave up on its peer"},
};

std::string rounded(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.3g", value);
  return buffer.data();
}

}  // namespace

const HealthLimit* health_limit(std::string_view counter) {
  const auto found = std::ranges::find(kLimits, counter, &HealthLimit::counter);
  return found == kLimits.end() ? nullptr : &*found;
}

std::vector<std::string> health_warnings(const NicSummary& nic) {
  std::vector<std::string> sentences;
  const double seconds = std::max(std::chrono::duration<double>(nic.counters_span).count(), 1e-3);
  for (const measure::CounterRise& counter : nic.device_counters) {
    const HealthLimit* limit = health_limit(counter.name);
    if (limit == nullptr) continue;
    const double rate = static_cast<double>(counter.rise) / seconds;
    if (counter.rise == 0 || rate <= limit->per_second) continue;
    const std::string bound = limit->per_second == 0
                                  ? std::string("any rise is too much")
                                  : "the limit is " + rounded(limit->per_second) + " a second";
    sentences.push_back("NIC " + nic.host + " " + nic.nic + ": " + counter.name + " rose by " +
                        std::to_string(counter.rise) + " in " + format_duration(nic.counters_span) +
                        " (" + bound + "): " + std::string(limit->meaning) + ".");
  }
  return sentences;
}

}  // namespace rehearsal::report

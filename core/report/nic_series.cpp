#include "core/report/nic_series.hpp"

namespace rehearsal::report {
namespace {

constexpr std::string_view kCounter = "counter ";

}  // namespace

std::vector<NicSeries> series_of(const measure::NicMeasurements& nic,
                                 const std::string& byte_source) {
  std::vector<NicSeries> all = {{true, byte_source, &nic.sent_series},
                                {false, byte_source, &nic.received_series}};
  if (nic.wire) {
    all.push_back({true, std::string(kCounter) + nic.wire->sent_source, &nic.wire->sent});
    all.push_back({false, std::string(kCounter) + nic.wire->received_source, &nic.wire->received});
  }
  return all;
}

bool is_counter(std::string_view source) { return source.starts_with(kCounter); }

}  // namespace rehearsal::report

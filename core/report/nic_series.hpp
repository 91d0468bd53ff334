#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/measure/agent_measurements.hpp"

namespace rehearsal::report {

/// One arrival curve of a NIC: in which direction, and where its bytes were counted.
struct NicSeries {
  bool sent = true;
  std::string source = {};  ///< "posted"; of a counter: "counter tx_bytes"
  const measure::ByteSeries* series = nullptr;
};

/// Those that were taken: of payload, and where counters were watched of bytes on the wire.
/// `byte_source`: of the payload. Valid as long as `nic`.
std::vector<NicSeries> series_of(const measure::NicMeasurements& nic,
                                 const std::string& byte_source);

/// Whether a source is a counter that was watched.
bool is_counter(std::string_view source);

}  // namespace rehearsal::report

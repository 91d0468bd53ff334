#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/report/summary.hpp"

namespace rehearsal::report {

/// A counter of an RDMA port whose rise means that a link or fabric is not well. The limits are
/// those that NVSentinel's NIC monitor is shipped with.
struct HealthLimit {
  std::string_view counter;
  double per_second = 0;  ///< 0: any rise at all
  std::string_view meaning;
};

/// The limit of a counter; null: it is shown and not judged.
const HealthLimit* health_limit(std::string_view counter);

/// One sentence for every device counter of a NIC that rose faster than its limit.
std::vector<std::string> health_warnings(const NicSummary& nic);

}  // namespace rehearsal::report

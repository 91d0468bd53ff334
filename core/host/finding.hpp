#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rehearsal::host {

/// One thing that was looked at: how it is, and what to do where it is not well.
struct Finding {
  enum class Health : std::uint8_t { good, notable, bad };

  Health health = Health::good;
  std::string subject;  ///< "h1 eth2", "h1", "cluster"
  std::string what;
  std::string fix = {};  ///< empty where all is well

  bool operator==(const Finding&) const = default;
};
std::string_view to_string(Finding::Health health);

/// A line each, what is not well last.
std::string findings_text(std::vector<Finding> findings);
std::string findings_json(std::vector<Finding> findings);
/// The worst of them; of none: good.
Finding::Health worst(const std::vector<Finding>& findings);

}  // namespace rehearsal::host

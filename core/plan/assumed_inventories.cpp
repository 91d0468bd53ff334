#include "core/plan/assumed_inventories.hpp"

#include <algorithm>

namespace rehearsal::plan {
namespace {

std::vector<std::string> nics_of(const DrillJob& job, std::uint32_t ranks) {
  if (!job.nics.empty()) return job.nics;
  const auto hosts = static_cast<std::uint32_t>(std::max<std::size_t>(job.hosts.size(), 1));
  const std::uint32_t each = (ranks + hosts - 1) / hosts;
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < std::clamp(each, 1U, kNicsAssumedMax); ++i)
    names.push_back("rail" + std::to_string(i));
  return names;
}

}  // namespace

std::vector<Inventory> assumed_inventories(const Drill& drill,
                                           const std::map<std::string, std::uint32_t>& ranks) {
  std::vector<Inventory> inventories;
  std::map<std::string_view, std::size_t> index_of;
  for (const DrillJob& job : drill.jobs) {
    const auto known = ranks.find(job.profile);
    const auto names = nics_of(job, known == ranks.end() ? 1 : known->second);
    for (const std::string& host : job.hosts) {
      const auto [found, added] = index_of.try_emplace(host, inventories.size());
      if (added) inventories.emplace_back().host = host;
      std::vector<Nic>& nics = inventories[found->second].nics;
      for (const std::string& name : names) {
        if (std::ranges::find(nics, name, &Nic::name) == nics.end())
          nics.push_back({.name = name, .address = {}, .line_rate = {}});
      }
    }
  }
  return inventories;
}

}  // namespace rehearsal::plan

#include "core/plan/assumed_inventories.hpp"

#include <algorithm>

#include "core/plan/node_placement.hpp"

namespace rehearsal::plan {
namespace {

std::vector<Nic> nics_of(const DrillJob& job, std::uint32_t ranks, const Nodes& nodes) {
  std::vector<Nic> nics;
  for (const std::string& name : job.nics)
    nics.push_back({.name = name, .address = {}, .line_rate = {}});
  std::vector<BitRate> rates;  // by rail
  if (const auto node = find_node(job, nodes, ""); !job.node.empty() && node) {
    for (const std::uint32_t rail : node->rails()) rates.push_back(node->nics[rail].rate);
  } else if (nics.empty()) {
    const auto hosts = static_cast<std::uint32_t>(std::max<std::size_t>(job.hosts.size(), 1));
    rates.resize(std::clamp((ranks + hosts - 1) / hosts, 1U, kNicsAssumedMax));
  }
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (job.nics.empty())
      nics.push_back({.name = "rail" + std::to_string(i), .address = {}, .line_rate = rates[i]});
    else if (i < nics.size())
      nics[i].line_rate = rates[i];
  }
  return nics;
}

}  // namespace

std::vector<Inventory> assumed_inventories(const Drill& drill,
                                           const std::map<std::string, std::uint32_t>& ranks,
                                           const Nodes& nodes) {
  std::vector<Inventory> inventories;
  std::map<std::string_view, std::size_t> index_of;
  for (const DrillJob& job : drill.jobs) {
    const auto known = ranks.find(job.profile);
    const auto of_job = nics_of(job, known == ranks.end() ? 1 : known->second, nodes);
    for (const std::string& host : job.hosts) {
      const auto [found, added] = index_of.try_emplace(host, inventories.size());
      if (added) inventories.emplace_back().host = host;
      std::vector<Nic>& nics = inventories[found->second].nics;
      for (const Nic& nic : of_job) {
        if (std::ranges::find(nics, nic.name, &Nic::name) == nics.end()) nics.push_back(nic);
      }
    }
  }
  for (Inventory& inventory : inventories) {
    inventory.kernel = {.helper = true,
                        .faults = {fault::kFaultKinds.begin(), fault::kFaultKinds.end()},
                        .duration_max = fault::kFaultDurationMost};
    inventory.external = {.runner = true, .is_assumed = true};
    for (const Nic& nic : inventory.nics) inventory.kernel.interfaces.push_back(nic.name);
  }
  return inventories;
}

}  // namespace rehearsal::plan

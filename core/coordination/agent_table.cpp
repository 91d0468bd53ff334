#include "core/coordination/agent_table.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace rehearsal::coordination {

AgentEntry* AgentTable::by_host(std::string_view host) {
  const auto entry = by_host_.find(host);
  return entry == by_host_.end() ? nullptr : &entry->second;
}

const AgentEntry* AgentTable::by_host(std::string_view host) const {
  const auto entry = by_host_.find(host);
  return entry == by_host_.end() ? nullptr : &entry->second;
}

AgentEntry* AgentTable::by_session(SessionId session) {
  const auto host = hosts_.find(session);
  return host == hosts_.end() ? nullptr : by_host(host->second);
}

void AgentTable::add(AgentEntry entry) {
  std::string host = entry.inventory.host;
  CHECK(hosts_.emplace(entry.session, host).second, "one agent a session");
  CHECK(by_host_.emplace(std::move(host), std::move(entry)).second, "one agent a host");
}

void AgentTable::remove(SessionId session) {
  const auto host = hosts_.find(session);
  if (host == hosts_.end()) return;
  by_host_.erase(host->second);
  hosts_.erase(host);
}

std::vector<plan::Inventory> AgentTable::inventories() const {
  std::vector<plan::Inventory> inventories;
  inventories.reserve(by_host_.size());
  for (const auto& [host, entry] : by_host_) inventories.push_back(entry.inventory);
  return inventories;
}

}  // namespace rehearsal::coordination

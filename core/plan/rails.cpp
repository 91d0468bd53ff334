#include "core/plan/rails.hpp"

#include <map>
#include <string>

namespace rehearsal::plan {

Rails::Rails(const Plan& plan) {
  std::map<std::string, std::uint32_t> names;
  for (const Inventory& host : plan.hosts) {
    std::vector<std::uint32_t>& of_host = name_of_nic_.emplace_back();
    for (const Nic& nic : host.nics) {
      of_host.push_back(
          names.emplace(nic.name, static_cast<std::uint32_t>(names.size())).first->second);
    }
  }
  names_ = names.size();
  nic_of_name_.assign(plan.hosts.size() * names_, kNone);
  for (std::size_t host = 0; host < name_of_nic_.size(); ++host) {
    for (std::uint32_t nic = 0; nic < name_of_nic_[host].size(); ++nic) {
      nic_of_name_[host * names_ + name_of_nic_[host][nic]] = nic;
    }
  }
}

NicIndex Rails::arrival(const Binding& source, const Binding& destination) const {
  const std::uint32_t name = name_of_nic_[source.host.value][source.nic.value];
  const std::uint32_t nic = nic_of_name_[destination.host.value * names_ + name];
  return nic == kNone ? destination.nic : NicIndex{nic};
}

}  // namespace rehearsal::plan

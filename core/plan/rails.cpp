#include "core/plan/rails.hpp"

#include <map>
#include <string>

#include "core/collective/rails.hpp"

namespace rehearsal::plan {

Rails::Rails(const Plan& plan) : settings_(plan.collectives) {
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

/// The NIC of that rail, or the rank's own where its host has none.
NicIndex Rails::nic(const Binding& binding, std::uint32_t rail) const {
  const std::uint32_t found = nic_of_name_[binding.host.value * names_ + rail];
  return found == kNone ? binding.nic : NicIndex{found};
}

NicIndex Rails::arrival(const Binding& source, const Binding& destination) const {
  return nic(destination, rail_of(source));
}

Rails::Route Rails::route(const collective::Shape& shape, ConnectionUse use, std::uint32_t channel,
                          const End& source, const End& destination) const {
  if (!shape.knows_nodes())
    return {source.binding.nic, arrival(source.binding, destination.binding)};
  const collective::RailPath path =
      use == ConnectionUse::collective
          ? collective::collective_rails(shape, channel, source.position, destination.position)
          : collective::pair_rails(shape, settings_, source.position, destination.position);
  return {nic(source.binding, path.departure), nic(destination.binding, path.arrival)};
}

}  // namespace rehearsal::plan

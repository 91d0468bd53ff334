#include "core/plan/rails.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "core/collective/rails.hpp"

namespace rehearsal::plan {

std::string_view to_string(Passage passage) {
  switch (passage) {
    case Passage::inside_node:
      return "inside_node";
    case Passage::between_nodes:
      return "between_nodes";
    case Passage::wire:
      break;
  }
  return "wire";
}

Rails::Rails(const Plan& plan, JobIndex job)
    : job_(&plan.jobs[job.value]), settings_(plan.collectives) {
  if (job_->node)
    number_by_seat(plan.hosts.size());
  else
    number_by_name(plan);
}

void Rails::number_by_name(const Plan& plan) {
  std::map<std::string, std::uint32_t> names;
  for (const Inventory& host : plan.hosts) {
    std::vector<std::uint32_t>& of_host = rail_of_nic_.emplace_back();
    for (const Nic& nic : host.nics) {
      of_host.push_back(
          names.emplace(nic.name, static_cast<std::uint32_t>(names.size())).first->second);
    }
  }
  rails_ = names.size();
  nic_of_rail_.assign(plan.hosts.size() * rails_, kNone);
  for (std::size_t host = 0; host < rail_of_nic_.size(); ++host) {
    for (std::uint32_t nic = 0; nic < rail_of_nic_[host].size(); ++nic) {
      nic_of_rail_[host * rails_ + rail_of_nic_[host][nic]] = nic;
    }
  }
}

void Rails::number_by_seat(std::size_t hosts) {
  for (const Seat& seat : job_->seats) rails_ = std::max<std::size_t>(rails_, seat.rail + 1);
  nic_of_rail_.assign(hosts * rails_, kNone);
  for (std::size_t rank = 0; rank < job_->seats.size(); ++rank) {
    const Binding& binding = job_->bindings[rank];
    nic_of_rail_[binding.host.value * rails_ + job_->seats[rank].rail] = binding.nic.value;
  }
}

/// The NIC of that rail, or the rank's own where its host has none.
NicIndex Rails::nic(const Binding& binding, std::uint32_t rail) const {
  const std::uint32_t found = nic_of_rail_[binding.host.value * rails_ + rail];
  return found == kNone ? binding.nic : NicIndex{found};
}

Rails::Route Rails::route(const collective::Shape& shape, ConnectionUse use, std::uint32_t channel,
                          const End& source, const End& destination) const {
  const Binding& from = job_->bindings[source.rank.value];
  const Binding& to = job_->bindings[destination.rank.value];
  if (!job_->node) return {from.nic, nic(to, rail_of_nic_[from.host.value][from.nic.value])};
  const collective::RailPath path =
      use == ConnectionUse::collective
          ? collective::collective_rails(shape, channel, source.position, destination.position)
          : collective::pair_rails(shape, settings_, source.position, destination.position);
  return {nic(from, path.departure), nic(to, path.arrival)};
}

}  // namespace rehearsal::plan

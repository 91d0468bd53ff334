#include "core/plan/plan_estimate.hpp"

#include <algorithm>

namespace rehearsal::plan {
namespace {

struct Busiest {
  const NicLoad* load = nullptr;
  Duration time{0};
  bool all_known = true;
};

Busiest busiest_nic(const Plan& plan, const Load& load) {
  Busiest result;
  for (const NicLoad& nic : load.nics) {
    const Bytes most = std::max(nic.sent, nic.received);
    if (most.count() == 0) continue;
    const BitRate rate = plan.hosts[nic.host.value].nics[nic.nic.value].line_rate;
    if (rate.bits_per_second() == 0) {
      result.all_known = false;
      continue;
    }
    const Duration time = transmission_time(most, rate);
    if (result.load == nullptr || time > result.time) {
      result.load = &nic;
      result.time = time;
    }
  }
  return result;
}

}  // namespace

Estimate estimate(const Plan& plan, const Load& load) {
  Estimate result;
  const Busiest busiest = busiest_nic(plan, load);
  const std::string unknown =
      busiest.all_known ? "" : "; NICs of unknown line rate are taken to be no limit";
  if (load.expected_iteration == Duration::zero()) {
    result.basis = "no compute, and no line rate is known";
    return result;
  }
  result.iteration = load.expected_iteration;
  result.run = load.expected_iteration * plan.iterations;
  if (busiest.load != nullptr && busiest.time >= load.expected_iteration) {
    const Inventory& host = plan.hosts[busiest.load->host.value];
    const Nic& nic = host.nics[busiest.load->nic.value];
    const auto rate = static_cast<double>(nic.line_rate.bits_per_second());
    result.basis = "the busiest NIC, " + host.host + "/" + nic.name + ", at its line rate of " +
                   format_bit_rate(rate) + unknown;
  } else {
    result.basis = "the longest compute of a rank" + unknown;
  }
  return result;
}

}  // namespace rehearsal::plan

// The faults of a plan, for people.

#include "core/base/text.hpp"
#include "core/fault/kernel_runner.hpp"
#include "core/plan/device_faults.hpp"
#include "core/plan/plan_faults.hpp"

namespace rehearsal::plan {
namespace {

constexpr std::size_t kPlacesShownMax = 4;

std::string places_text(const Plan& plan, const fault::PlannedFault& fault) {
  std::vector<std::string> places;
  for (const fault::Place& place : fault.places) places.push_back(describe(plan, place));
  return joined(std::span<const std::string>(places), kPlacesShownMax);
}

}  // namespace

std::string mechanism_text(const fault::PlannedFault& fault) {
  if (fault.mechanism == fault::Mechanism::kernel)
    return "the host's kernel, by rehearsal-helper: real for all that passes the interface's "
           "queue, "
           "so not for rdma (link_down, mtu and flow_control are); undone " +
           format_duration_exact(fault::kRunLease) + " after the coordinator's last word";
  if (fault.mechanism == fault::Mechanism::device)
    return "the RDMA device of each NIC, by rate limits of its queue pairs, which have equal parts "
           "of what is left: deeper than it says where not all of them send at once; gone with the "
           "agent";
  if (fault.mechanism == fault::Mechanism::external)
    return "the operator's own command, by the host's rehearsal-external: real for whatever it "
           "changes; its check before and after, " +
           (fault.what.command_time > Duration::zero()
                ? "at most " + format_duration_exact(fault.what.command_time) +
                      " to do or to undo it"
                : std::string("limits by the policy of the host, which was not asked")) +
           "; undone " + format_duration_exact(fault::kRunLease) +
           " after the coordinator's last word";
  if (fault::is_of_messages(fault.what.kind))
    return "the agent, on its own messages: the same for any transport, gone with the agent";
  if (fault::makes_traffic(fault.what.kind))
    return "the agents, over connections of their own beside the jobs', gone with them";
  return "the agent itself";
}

std::string faults_table(const Plan& plan) {
  if (plan.faults.empty()) return {};
  std::string text = "\nFaults\n";
  for (const fault::PlannedFault& fault : plan.faults) {
    text += "  " + fault.name + "\n";
    text += "    what   " + fault::describe(fault.what) + "\n";
    text += "    where  " + places_text(plan, fault) + "\n";
    text += "    when   " + fault::describe(fault.when) + "\n";
    text += "    by     " + mechanism_text(fault) + "\n";
    if (const std::string devices = device_text(plan, fault); !devices.empty())
      text += "           " + devices + "\n";
  }
  return text;
}

}  // namespace rehearsal::plan

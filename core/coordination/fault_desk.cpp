#include "core/coordination/fault_desk.hpp"

#include <algorithm>

#include "core/base/units.hpp"
#include "core/coordination/log.hpp"
#include "core/coordination/messages.hpp"
#include "core/protocol/frame.hpp"

namespace rehearsal::coordination {
namespace {

constexpr int kUndoneMax = 4 * static_cast<int>(fault::kFaultsMax);
/// Of commands that are undone one after the other; the rest is seen by the next look.
constexpr Duration kCommandPatienceMost = std::chrono::seconds{60};
/// Of the faults of all hosts in one answer.
constexpr std::size_t kAnswerBytesMax = protocol::kPartBytesMax;

std::string ways_to_clear(const std::string& host) {
  return "see `rehearse faults list`; then `rehearse faults clear --host " + host +
         "`, or on the host itself, as root, `rehearsal-helper --undo-all` (of commands: "
         "`rehearsal-external --undo-all`), and with --accept-stuck what cannot be undone";
}

/// How long undoing all commands that are on there may take.
Duration command_patience(const AgentEntry& agent) {
  Duration longest{0};
  for (const fault::ExternalCommand& command : agent.inventory.external.commands)
    longest = std::max(longest, command.time_max);
  const auto on = std::ranges::count_if(agent.faults.faults(), &protocol::HostFault::external);
  return std::min(on * longest, kCommandPatienceMost);
}

bool runs_commands_on(const plan::Plan& plan, HostIndex host) {
  return std::ranges::any_of(plan.faults, [&](const fault::PlannedFault& fault) {
    return fault.mechanism == fault::Mechanism::external &&
           std::ranges::find(fault.places, host, &fault::Place::host) != fault.places.end();
  });
}

bool wants_fault_on(const plan::Plan& plan, HostIndex host, const std::string& interface) {
  return std::ranges::any_of(plan.faults, [&](const fault::PlannedFault& fault) {
    return fault.mechanism == fault::Mechanism::kernel &&
           std::ranges::any_of(fault.places, [&](const fault::Place& place) {
             return place.host == host && place.nic &&
                    plan.hosts[host.value].nics[place.nic->value].name == interface;
           });
  });
}

}  // namespace

protocol::HostFaults checked(const protocol::HostFaults& message) {
  protocol::HostFaults result;
  to_message(from_message(message.kernel()), *result.mutable_kernel());
  to_message(from_message(message.external()), *result.mutable_external());
  result.set_no_helper(one_line(message.no_helper()));
  result.set_blocked(one_line(message.blocked()));
  for (const protocol::HostFault& fault : message.faults()) {
    if (result.faults_size() == 2 * static_cast<int>(fault::kFaultsMax)) break;
    protocol::HostFault& one = *result.add_faults();
    one = fault;
    one.set_what(one_line(fault.what()));
    one.set_interface(one_line(fault.interface()));
    one.set_state(one_line(fault.state()));
    one.set_problem(one_line(fault.problem()));
    one.set_run(one_line(fault.run()));
    one.set_fault(one_line(fault.fault()));
  }
  for (const std::string& text : message.undone()) {
    if (result.undone_size() == kUndoneMax) break;
    result.add_undone(one_line(text));
  }
  return result;
}

std::string why_not_now(const AgentEntry& agent, const plan::Plan& plan, HostIndex host) {
  const std::string& name = agent.inventory.host;
  if (!agent.faults.blocked().empty())
    return "host '" + name + "' takes no runs: " + agent.faults.blocked() + "; " +
           ways_to_clear(name);
  for (const protocol::HostFault& fault : agent.faults.faults()) {
    const bool concerns = fault.external() ? runs_commands_on(plan, host)
                                           : wants_fault_on(plan, host, fault.interface());
    if (!concerns) continue;
    const std::string on = fault.external() ? "by a command" : "on " + fault.interface();
    return "host '" + name + "' has a fault " + on + " already (" + fault.what() + ", " +
           fault.state() + (fault.problem().empty() ? "" : ": " + fault.problem()) + "); " +
           ways_to_clear(name);
  }
  return {};
}

Result<void> FaultDesk::ask(SessionId person, const protocol::FaultsRequest& request,
                            const AgentTable& agents, Instant now) {
  const std::string host = one_line(request.host());
  if (!host.empty() && agents.by_host(host) == nullptr)
    return fail(ErrorCode::not_found, ErrorSource::control,
                "no agent of host '" + host + "' is here; `rehearse status` shows those that are");
  const std::uint64_t id = ++orders_;
  Order& order = open_[id];
  order.person = person;
  for (const auto& [name, agent] : agents.entries()) {
    if (!host.empty() && name != host) continue;
    order.waiting.emplace(agent.session, name);
    if (request.clear())
      order.patience = std::max(order.patience, kPatience + command_patience(agent));
    protocol::Envelope envelope;
    envelope.mutable_faults_order()->set_order(id);
    envelope.mutable_faults_order()->set_clear(request.clear());
    outbox_.send(agent.session, std::move(envelope));
  }
  order.deadline = now + order.patience;
  if (request.clear())
    outbox_.log(
        LogLevel::info, "faults are cleared",
        {{"host", host.empty() ? "all" : host}, {"agents", std::to_string(order.waiting.size())}});
  settle(id);
  return {};
}

void FaultDesk::answered(SessionId agent, const protocol::HostFaults& message,
                         const std::string& host) {
  const auto found = open_.find(message.order());
  if (found == open_.end() || found->second.waiting.erase(agent) == 0) return;
  protocol::HostFaults& answer = found->second.answers[host];
  answer = checked(message);
  answer.set_host(host);
  settle(found->first);
}

void FaultDesk::no_answer(Order& order, const std::string& host, const std::string& why) {
  protocol::HostFaults& answer = order.answers[host];
  answer.set_host(host);
  answer.set_no_answer(why);
}

void FaultDesk::agent_lost(SessionId agent, const std::string& host) {
  std::vector<std::uint64_t> touched;
  for (auto& [id, order] : open_) {
    if (order.waiting.erase(agent) == 0) continue;
    no_answer(order, host, "its agent left");
    touched.push_back(id);
  }
  for (const std::uint64_t id : touched) settle(id);
}

void FaultDesk::person_gone(SessionId person) {
  std::erase_if(open_, [&](const auto& entry) { return entry.second.person == person; });
}

void FaultDesk::tick(Instant now) {
  std::vector<std::uint64_t> late;
  for (auto& [id, order] : open_) {
    if (now < order.deadline) continue;
    for (const auto& [agent, host] : std::exchange(order.waiting, {}))
      no_answer(order, host, "no answer within " + format_duration(order.patience));
    late.push_back(id);
  }
  for (const std::uint64_t id : late) settle(id);
}

Instant FaultDesk::deadline() const {
  Instant next = kNever;
  for (const auto& [id, order] : open_) next = std::min(next, order.deadline);
  return next;
}

/// Answers, if all have.
void FaultDesk::settle(std::uint64_t id) {
  const auto found = open_.find(id);
  if (found == open_.end() || !found->second.waiting.empty()) return;
  protocol::Envelope envelope;
  protocol::FaultsReply& reply = *envelope.mutable_faults_reply();
  std::size_t bytes = 0;
  for (auto& [host, answer] : found->second.answers) {
    answer.clear_kernel();  // `rehearse doctor` shows it
    answer.clear_external();
    bytes += answer.ByteSizeLong();
    if (bytes > kAnswerBytesMax) {
      answer.set_left_out(static_cast<std::uint32_t>(answer.faults_size()));
      answer.clear_faults();
      answer.clear_undone();
    }
    *reply.add_hosts() = std::move(answer);
  }
  outbox_.send(found->second.person, std::move(envelope));
  open_.erase(found);
}

}  // namespace rehearsal::coordination

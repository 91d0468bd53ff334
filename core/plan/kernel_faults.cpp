#include "core/plan/kernel_faults.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace rehearsal::plan {
namespace {

using fault::Kind;
using fault::PlannedFault;

/// Each time it goes on and off is journalled and read back.
constexpr Duration kTurnLeast = std::chrono::milliseconds{100};

/// What else could make a network that bad.
std::string instead_of(Kind kind) {
  switch (kind) {
    case Kind::link_down:
      return "a blackhole of a NIC";
    case Kind::duplicate:
    case Kind::reorder:
    case Kind::corrupt:
      return "loss, which holds messages back as if they had been sent again";
    case Kind::mtu:
    case Kind::flow_control:
      return "rate, delay, loss and blackhole";
    default:
      return std::string(to_string(kind)) + " (mechanism: sender)";
  }
}

/// "without it …": the other mechanism, where there is one.
std::string or_sender(Kind kind) {
  return fault::is_of_messages(kind) ? ", or mechanism: sender" : "";
}

/// What could be done where messages leave over rdma, so not through the kernel.
std::string instead_over_rdma(const Plan& plan, const PlannedFault& fault,
                              const fault::Place& place) {
  const Kind kind = fault.what.kind;
  if (!fault::is_of_messages(kind))
    return "transport tcp, or " + instead_of(kind) + " (mechanism: sender)";
  if (kind != Kind::rate || place.side != fault::Side::sent || !place.nic)
    return "mechanism: sender";
  const Nic& nic = plan.hosts[place.host.value].nics[place.nic->value];
  if (!nic.rdma || !nic.rdma->rate_limits.any()) return "mechanism: sender";
  return "mechanism: device (" + nic.rdma->device + " limits rates), or sender";
}

fault::FaultKind helper_kind(Kind kind) {
  switch (kind) {
    case Kind::delay:
      return fault::FaultKind::delay;
    case Kind::loss:
      return fault::FaultKind::loss;
    case Kind::blackhole:
      return fault::FaultKind::blackhole;
    case Kind::duplicate:
      return fault::FaultKind::duplicate;
    case Kind::reorder:
      return fault::FaultKind::reorder;
    case Kind::corrupt:
      return fault::FaultKind::corrupt;
    case Kind::link_down:
      return fault::FaultKind::link_down;
    case Kind::mtu:
      return fault::FaultKind::mtu;
    case Kind::flow_control:
      return fault::FaultKind::flow_control;
    default:
      return fault::FaultKind::rate;
  }
}

bool is_of_whole_interface(Kind kind) { return kind == Kind::link_down || kind == Kind::mtu; }

/// Not by a queue, so also for what does not pass one.
bool is_of_hardware(Kind kind) { return is_of_whole_interface(kind) || kind == Kind::flow_control; }

fault::Direction direction_of(Kind kind, fault::Side side) {
  if (is_of_whole_interface(kind)) return fault::Direction::both;
  if (kind != Kind::flow_control || side == fault::Side::sent) return fault::Direction::sent;
  return side == fault::Side::both ? fault::Direction::both : fault::Direction::received;
}

fault::Effect effect_of(const fault::What& what, const fault::Level& level, const Nic& nic) {
  const fault::Share share{level.share.millionths};
  switch (what.kind) {
    case Kind::delay:
      return fault::Impairment{.delay = level.delay, .jitter = what.jitter};
    case Kind::loss:
      return fault::Impairment{.loss = share};
    case Kind::duplicate:
      return fault::Impairment{.duplicate = share};
    case Kind::reorder:
      return fault::Impairment{.delay = level.delay, .reorder = share};
    case Kind::corrupt:
      return fault::Impairment{.corrupt = share};
    case Kind::blackhole:
      return fault::Blackhole{};
    case Kind::link_down:
      return fault::LinkDown{};
    case Kind::mtu:
      return fault::SmallerMtu{level.mtu};
    case Kind::flow_control:
      return fault::PauseFrames{level.pause_frames};
    default: {
      const BitRate whole = what.of.bits_per_second() != 0 ? what.of : nic.line_rate;
      return fault::RateCap{BitRate{fault::part_of(whole.bits_per_second(), level.rate)}};
    }
  }
}

std::optional<KernelRefusal> check_place(const Plan& plan, const PlannedFault& fault,
                                         const fault::Place& place) {
  const Kind kind = fault.what.kind;
  const auto narrowed = [&](const std::string& key, const std::string& what) {
    return KernelRefusal{ErrorCode::unsupported, "where." + key,
                         "the kernel cannot tell the messages of " + what + " from others",
                         "whole NICs, by hosts and nics" + or_sender(kind)};
  };
  if (place.peer) return narrowed("peers", "peers");
  if (place.communicator) return narrowed("communicator", "a communicator");
  if (place.rank) return narrowed("ranks", "a rank");
  if (place.job && plan.jobs.size() > 1) return narrowed("job", "a job");
  if (is_of_whole_interface(kind)) {
    if (place.side == fault::Side::both) return std::nullopt;
    return KernelRefusal{ErrorCode::unsupported, "where.direction",
                         std::string(to_string(kind)) + " meets both directions of an interface",
                         "leave direction out"};
  }
  if (kind == Kind::flow_control || place.side == fault::Side::sent) return std::nullopt;
  return KernelRefusal{
      ErrorCode::unsupported, "where.direction",
      "the kernel queues what an interface sends, not what it receives",
      "direction: sent (for what a host receives, at its senders)" + or_sender(kind)};
}

}  // namespace

Inventory without_kernel(Inventory inventory) {
  inventory.kernel = {};
  inventory.external = {};
  inventory.control_interfaces.clear();
  return inventory;
}

std::vector<fault::KernelFault> kernel_levels(const PlannedFault& fault, fault::Side side,
                                              const Nic& nic) {
  const auto direction = direction_of(fault.what.kind, side);
  std::vector<fault::KernelFault> levels;
  for (const fault::Level& level : fault.what.levels)
    levels.push_back({nic.name, direction, effect_of(fault.what, level, nic)});
  return levels;
}

std::optional<KernelRefusal> kernel_cannot(const Plan& plan, const PlannedFault& fault,
                                           const fault::Place& place) {
  const Kind kind = fault.what.kind;
  const std::string word(to_string(kind));
  if (!fault::is_of_messages(kind) && !fault::is_of_kernel(kind))
    return KernelRefusal{ErrorCode::unsupported, "mechanism",
                         word + " is nothing that the kernel can do", "mechanism: sender"};
  if (plan.transport.kind == TransportKind::rdma && !is_of_hardware(kind))
    return KernelRefusal{ErrorCode::unsupported, "mechanism",
                         "what is sent over rdma does not pass the kernel's queues",
                         instead_over_rdma(plan, fault, place)};
  if (auto refusal = check_place(plan, fault, place)) return refusal;
  const fault::When& when = fault.when;
  if (when.on > Duration::zero() && std::min(when.on, when.off) < kTurnLeast)
    return KernelRefusal{
        ErrorCode::refused, "when.repeat",
        "the kernel's faults are written down and read back each time",
        "on and off of at least " + format_duration_exact(kTurnLeast) + or_sender(kind)};
  const Nic& nic = plan.hosts[place.host.value].nics[place.nic->value];
  for (const fault::KernelFault& level : kernel_levels(fault, place.side, nic)) {
    if (const auto sound = fault::check(level); !sound)
      return KernelRefusal{sound.error().code, "what", sound.error().message,
                           "values that a host's kernel takes" + or_sender(kind)};
  }
  return std::nullopt;
}

std::optional<KernelRefusal> host_refuses(const Inventory& host, const PlannedFault& fault,
                                          const fault::Place& place) {
  const Kind kind = fault.what.kind;
  const std::string who = "host " + in_quotes(host.host);
  const std::string else_do = "without it the agent itself can do " + instead_of(kind);
  if (!host.kernel.helper)
    return KernelRefusal{ErrorCode::unsupported, "mechanism",
                         who + " has no rehearsal-helper, so it offers no faults of its kernel",
                         else_do};
  if (std::ranges::count(host.kernel.faults, helper_kind(kind)) == 0)
    return KernelRefusal{ErrorCode::refused, "mechanism",
                         "the policy of " + who + " does not allow " + std::string(to_string(kind)),
                         else_do};
  const std::string& interface = host.nics[place.nic->value].name;
  if (std::ranges::count(host.control_interfaces, interface) != 0)
    return KernelRefusal{ErrorCode::refused, "where",
                         "NIC " + in_quotes(interface) + " of " + who +
                             " carries its control connection or default route",
                         "another NIC" + or_sender(kind)};
  if (std::ranges::count(host.kernel.interfaces, interface) == 0)
    return KernelRefusal{
        ErrorCode::refused, "where",
        "the policy of " + who + " does not allow faults on " + in_quotes(interface),
        "another NIC" + or_sender(kind)};
  if (fault.when.length > host.kernel.duration_max)
    return KernelRefusal{ErrorCode::refused, "when.for",
                         "is " + format_duration_exact(fault.when.length),
                         "the policy of " + who + " allows at most " +
                             format_duration_exact(host.kernel.duration_max) + or_sender(kind)};
  return std::nullopt;
}

Result<std::vector<fault::KernelPart>> kernel_parts(const Plan& plan, HostIndex host,
                                                    const Inventory& now) {
  std::vector<fault::KernelPart> parts;
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) {
    const PlannedFault& fault = plan.faults[i];
    if (fault.mechanism != fault::Mechanism::kernel) continue;
    for (const fault::Place& place : fault.places) {
      if (place.host != host) continue;
      const auto refuse = [&](ErrorCode code, const std::string& why) {
        return fail(code, ErrorSource::host, "fault " + in_quotes(fault.name) + ": " + why);
      };
      if (!place.nic || place.nic->value >= now.nics.size())
        return refuse(ErrorCode::protocol, "it names no NIC of this host");
      auto refusal = kernel_cannot(plan, fault, place);
      if (!refusal) refusal = host_refuses(now, fault, place);
      if (refusal) return refuse(refusal->code, refusal->what + "; " + refusal->right);
      parts.push_back({.fault = i,
                       .levels = kernel_levels(fault, place.side, now.nics[place.nic->value]),
                       .duration_max = now.kernel.duration_max});
    }
  }
  return parts;
}

}  // namespace rehearsal::plan

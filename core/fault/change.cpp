#include "core/fault/change.hpp"

#include <algorithm>
#include <cstdio>

#include "core/base/check.hpp"
#include "core/base/text.hpp"

namespace rehearsal::fault {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

Failure refuse(std::string message) {
  return fail(ErrorCode::refused, ErrorSource::host, std::move(message));
}

std::string name_of(std::uint32_t handle) {
  char text[16];
  std::snprintf(text, sizeof text, "%x:", handle >> 16);
  return text;
}

std::string name_of(const Qdisc& qdisc) { return qdisc.kind + " " + name_of(qdisc.handle); }

Result<QueueSettings> settings_of(const Effect& effect) {
  return std::visit(
      Overloaded{[](const RateCap& cap) -> Result<QueueSettings> { return cap; },
                 [](const Impairment& impairment) -> Result<QueueSettings> { return impairment; },
                 [](const Blackhole&) -> Result<QueueSettings> { return DropAll{}; },
                 [](const auto&) -> Result<QueueSettings> {
                   return invalid("this fault needs no queueing discipline");
                 }},
      effect);
}

Result<Change> plan_root(const KernelFault& fault, const InterfaceState& before,
                         std::uint32_t handle) {
  const Qdisc* root = before.root();
  if (root != nullptr && !root->is_default()) {
    return refuse(fault.interface + " has a root queueing discipline of its own (" +
                  name_of(*root) +
                  "), which undoing could not bring back; ask for the fault inside our own sender");
  }
  ASSIGN_OR_RETURN(QueueSettings settings, settings_of(fault.effect));
  return Change{.interface_index = before.index,
                .interface = before.name,
                .act = SetRoot{handle, std::move(settings)},
                .undo = RemoveRoot{handle}};
}

Result<Change> plan_link(const KernelFault& fault, const InterfaceState& before) {
  if (!before.is_up) return refuse(fault.interface + " is down already");
  std::vector<std::string> lost;
  const auto add = [&](std::uint32_t count, std::string_view what) {
    if (count > 0) lost.push_back(std::to_string(count) + " " + std::string(what));
  };
  add(before.static_routes, "static routes");
  add(before.permanent_addresses, "permanent IPv6 addresses");
  add(before.permanent_neighbours, "permanent neighbours");
  if (!lost.empty()) {
    return refuse(fault.interface + " would lose " + joined(lost) +
                  ", which the kernel does not bring back with the link; ask for a blackhole");
  }
  return Change{.interface_index = before.index,
                .interface = before.name,
                .act = SetLink{false},
                .undo = SetLink{true}};
}

Result<Change> plan_mtu(const SmallerMtu& smaller, const InterfaceState& before) {
  if (smaller.mtu_bytes >= before.mtu_bytes) {
    return refuse("mtu " + std::to_string(smaller.mtu_bytes) + " is not smaller than the " +
                  std::to_string(before.mtu_bytes) + " of " + before.name);
  }
  return Change{.interface_index = before.index,
                .interface = before.name,
                .act = SetMtu{smaller.mtu_bytes},
                .undo = SetMtu{before.mtu_bytes}};
}

std::string text_of(const FlowControl& setting) {
  const auto word = [](bool on) { return on ? "on" : "off"; };
  return std::string("heeding ") + word(setting.heeds) + ", sending " + word(setting.sends) +
         ", negotiation " + word(setting.negotiated);
}

Result<Change> plan_flow_control(const KernelFault& fault, const InterfaceState& before) {
  if (!before.flow_control) {
    return fail(ErrorCode::unsupported, ErrorSource::host,
                "the driver of " + fault.interface + " has no setting for pause frames");
  }
  if (before.flow_control->negotiated) {
    // Many drivers then tell what was agreed, not what they offered: that could not be set again.
    return refuse("the pause frames of " + fault.interface +
                  " are negotiated with its link partner, and what it offers is not told, so "
                  "undoing could not bring it back; right would be a fixed setting (ethtool -A " +
                  fault.interface + " autoneg off)");
  }
  const bool on = std::get<PauseFrames>(fault.effect).on;
  FlowControl wanted = *before.flow_control;
  if (fault.direction != Direction::sent) wanted.heeds = on;
  if (fault.direction != Direction::received) wanted.sends = on;
  if (wanted == *before.flow_control) {
    return refuse("the pause frames of " + fault.interface + " are so already (" + text_of(wanted) +
                  ")");
  }
  return Change{.interface_index = before.index,
                .interface = before.name,
                .act = SetFlowControl{wanted},
                .undo = SetFlowControl{*before.flow_control}};
}

Finding find_flow_control(const Change& change, const SetFlowControl& set,
                          const InterfaceState& present) {
  if (!present.flow_control) return {Standing::foreign, "its driver has no such setting any more"};
  if (*present.flow_control == set.setting) return {Standing::ours, {}};
  const auto* undo = std::get_if<SetFlowControl>(&change.undo);
  if (undo != nullptr && *present.flow_control == undo->setting) return {Standing::untouched, {}};
  return {Standing::foreign, "its pause frames are now: " + text_of(*present.flow_control)};
}

Finding find_root(const SetRoot& set, const InterfaceState& present, const std::string& left) {
  const Qdisc* root = present.root();
  if (root == nullptr || root->is_default()) return {Standing::untouched, {}};
  if (root->handle != set.handle) {
    return {Standing::foreign, "the root queueing discipline is now " + name_of(*root)};
  }
  const bool changed = root->settings != set.settings || (!left.empty() && root->options != left);
  if (changed) return {Standing::foreign, "somebody changed our " + name_of(*root)};
  for (const Qdisc& qdisc : present.qdiscs) {
    if (!qdisc.is_root() && (qdisc.parent & 0xFFFF'0000) == set.handle && qdisc.handle != 0) {
      return {Standing::foreign,
              "somebody attached " + name_of(qdisc) + " below our " + name_of(*root)};
    }
  }
  return {Standing::ours, {}};
}

Finding find_link(const SetLink& set, const InterfaceState& present) {
  return {present.is_up == set.up ? Standing::ours : Standing::untouched, {}};
}

Finding find_mtu(const SetMtu& set, const InterfaceState& before, const InterfaceState& present) {
  if (present.mtu_bytes == set.mtu_bytes) return {Standing::ours, {}};
  if (present.mtu_bytes == before.mtu_bytes) return {Standing::untouched, {}};
  return {Standing::foreign, "the mtu is now " + std::to_string(present.mtu_bytes)};
}

}  // namespace

std::string_view to_string(Target target) {
  switch (target) {
    case Target::root_qdisc:
      return "root queueing discipline";
    case Target::link:
      return "link";
    case Target::mtu:
      return "mtu";
    case Target::flow_control:
      return "flow control";
    case Target::command:
      return "command";
  }
  return "?";
}

Target target_of(const Effect& effect) {
  if (std::holds_alternative<LinkDown>(effect)) return Target::link;
  if (std::holds_alternative<SmallerMtu>(effect)) return Target::mtu;
  if (std::holds_alternative<PauseFrames>(effect)) return Target::flow_control;
  if (is_external(effect)) return Target::command;
  return Target::root_qdisc;
}

Target Change::target() const {
  if (std::holds_alternative<SetLink>(act)) return Target::link;
  if (std::holds_alternative<SetMtu>(act)) return Target::mtu;
  if (std::holds_alternative<SetFlowControl>(act)) return Target::flow_control;
  if (std::holds_alternative<RunCommand>(act)) return Target::command;
  return Target::root_qdisc;
}

Result<Change> plan_change(const KernelFault& fault, const InterfaceState& before,
                           std::uint32_t handle) {
  RETURN_IF_ERROR(check(fault));
  switch (target_of(fault.effect)) {
    case Target::root_qdisc:
      return plan_root(fault, before, handle);
    case Target::link:
      return plan_link(fault, before);
    case Target::flow_control:
      return plan_flow_control(fault, before);
    case Target::command:
      return fail(ErrorCode::unsupported, ErrorSource::host,
                  "the kernel runs no commands: that is for rehearsal-external");
    case Target::mtu:
      break;
  }
  return plan_mtu(std::get<SmallerMtu>(fault.effect), before);
}

Change plan_command(const ExternalCall& call) {
  return {.interface_index = 0,
          .interface = {},
          .act = RunCommand{Verb::apply, call},
          .undo = RunCommand{Verb::undo, call}};
}

Qdisc default_root() {
  return {.kind = "noqueue", .handle = 0, .parent = kRootParent, .options = {}, .settings = {}};
}

void apply_act(InterfaceState& state, const Act& act, const std::string& kind) {
  std::visit(Overloaded{[&](const SetRoot& set) {
                          state.qdiscs = {{.kind = kind,
                                           .handle = set.handle,
                                           .parent = kRootParent,
                                           .options = "as set",
                                           .settings = set.settings}};
                        },
                        [&](const RemoveRoot&) { state.qdiscs = {default_root()}; },
                        [&](const SetLink& set) { state.is_up = set.up; },
                        [&](const SetMtu& set) { state.mtu_bytes = set.mtu_bytes; },
                        [&](const SetFlowControl& set) { state.flow_control = set.setting; },
                        [](const RunCommand&) {}},
             act);
}

Finding find(const Change& change, const InterfaceState& before, const InterfaceState& present,
             const std::string& left) {
  if (const auto* link = std::get_if<SetLink>(&change.act)) return find_link(*link, present);
  if (const auto* mtu = std::get_if<SetMtu>(&change.act)) return find_mtu(*mtu, before, present);
  if (const auto* set = std::get_if<SetFlowControl>(&change.act))
    return find_flow_control(change, *set, present);
  const auto* root = std::get_if<SetRoot>(&change.act);
  CHECK(root != nullptr, "a change sets something");
  return find_root(*root, present, left);
}

std::string describe(const Change& change, const Act& act) {
  const std::string where = " of " + change.interface;
  return std::visit(
      Overloaded{
          [&](const SetRoot& set) {
            return "set root queueing discipline " + name_of(set.handle) + where;
          },
          [&](const RemoveRoot& remove) {
            return "delete queueing discipline " + name_of(remove.handle) + where;
          },
          [&](const SetLink& set) { return "set the link" + where + (set.up ? " up" : " down"); },
          [&](const SetMtu& set) {
            return "set the mtu" + where + " to " + std::to_string(set.mtu_bytes);
          },
          [](const RunCommand& run) {
            return "run " + std::string(to_string(run.verb)) + " of " + describe(run.call);
          },
          [&](const SetFlowControl& set) {
            return "set the pause frames" + where + " to: " + text_of(set.setting);
          }},
      act);
}

}  // namespace rehearsal::fault

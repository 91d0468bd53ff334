#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/base/result.hpp"
#include "core/fault/interface_state.hpp"
#include "core/fault/kernel_fault.hpp"

namespace rehearsal::fault {

/// The one thing a fault changes of an interface; no two faults may change the same.
enum class Target : std::uint8_t { root_qdisc, link, mtu, flow_control, command };
std::string_view to_string(Target target);

struct SetRoot {
  std::uint32_t handle = 0;
  QueueSettings settings;
  bool operator==(const SetRoot&) const = default;
};

/// Deletes the root queueing discipline with this handle; the kernel puts its default there.
struct RemoveRoot {
  std::uint32_t handle = 0;
  bool operator==(const RemoveRoot&) const = default;
};

struct SetLink {
  bool up = false;
  bool operator==(const SetLink&) const = default;
};

struct SetMtu {
  std::uint32_t mtu_bytes = 0;
  bool operator==(const SetMtu&) const = default;
};

struct SetFlowControl {
  FlowControl setting;
  bool operator==(const SetFlowControl&) const = default;
};

/// Runs an operator's command; of no interface.
struct RunCommand {
  Verb verb = Verb::apply;
  ExternalCall call;
  bool operator==(const RunCommand&) const = default;
};

using Act = std::variant<SetRoot, RemoveRoot, SetLink, SetMtu, SetFlowControl, RunCommand>;

/// What will be done to an interface and what will undo it: both are in the journal before the
/// first is done.
struct Change {
  std::uint32_t interface_index = 0;
  std::string interface;
  Act act;
  Act undo;
  bool operator==(const Change&) const = default;

  Target target() const;
};

Target target_of(const Effect& effect);

/// How `fault` is done on an interface in this state. Refused where undoing it could not bring back
/// what is there: a root queueing discipline that is not the kernel's default, routes and addresses
/// that do not outlive the link.
Result<Change> plan_change(const KernelFault& fault, const InterfaceState& before,
                           std::uint32_t handle);

/// How an operator's command is done and undone.
Change plan_command(const ExternalCall& call);

/// What an interface is after an act, as far as it can be told without a kernel: for kernels of
/// tests and of the simulation. A new root is of `kind` and has some options.
void apply_act(InterfaceState& state, const Act& act, const std::string& kind);
/// The root of an interface that nobody touched.
Qdisc default_root();

/// Who made what is there now.
enum class Standing : std::uint8_t {
  untouched,  ///< as before the change: nothing of ours is there
  ours,       ///< as the change left it
  foreign,    ///< somebody else changed it since
};

struct Finding {
  Standing standing = Standing::untouched;
  std::string text;  ///< foreign: what is there
};

/// `left`: the options of our root as they were read back, empty where nobody got to that.
Finding find(const Change& change, const InterfaceState& before, const InterfaceState& present,
             const std::string& left);

/// "delete queueing discipline 7e01: of eth1".
std::string describe(const Change& change, const Act& act);

}  // namespace rehearsal::fault

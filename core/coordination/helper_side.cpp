#include "core/coordination/helper_side.hpp"

#include <algorithm>

#include "core/coordination/log.hpp"
#include "core/coordination/messages.hpp"

namespace rehearsal::coordination {
namespace {

/// Between two looks at a helper that nothing is asked of: its policy may change, and an operator
/// may have cleared what was stuck.
constexpr Duration kLookInterval = std::chrono::seconds{2};
/// After what was stuck, soon again.
constexpr Duration kLookSoon = std::chrono::milliseconds{200};

std::uint64_t count_of(Duration duration) { return static_cast<std::uint64_t>(duration.count()); }

}  // namespace

HelperSide::HelperSide(plan::Inventory& inventory, std::vector<AgentAction>& out,
                       std::uint64_t& tickets, Name name)
    : inventory_(inventory),
      out_(out),
      tickets_(tickets),
      name_(std::move(name)),
      control_interfaces_(inventory.control_interfaces),
      no_helper_(inventory.kernel.helper ? "" : "it has not answered yet") {}

void HelperSide::on(const HelperUp& event, Instant now) {
  side(event.helper).is_up = true;
  take(event.helper, event.welcome);
  if (event.helper == Helper::kernel) {
    no_helper_.clear();
    out_.push_back(log_line(LogLevel::info, "the helper is there",
                            {{"faults", std::to_string(inventory_.kernel.faults.size())},
                             {"interfaces", coordination::joined(inventory_.kernel.interfaces)}}));
  } else {
    out_.push_back(log_line(LogLevel::info, "rehearsal-external is there",
                            {{"commands", std::to_string(inventory_.external.commands.size())}}));
  }
  look(now);
}

void HelperSide::on(const HelperDown& event, Instant) {
  Side& gone = side(event.helper);
  const bool is_kernel = event.helper == Helper::kernel;
  if (gone.is_up)
    out_.push_back(log_line(LogLevel::warning,
                            is_kernel ? "the helper is gone" : "rehearsal-external is gone",
                            {{"reason", event.reason}}));
  gone.is_up = false;
  gone.faults.clear();
  if (is_kernel) {
    no_helper_ = plain(event.reason);
    inventory_.kernel = {};
  } else {
    inventory_.external = {};
  }
  if (std::ranges::none_of(sides_, &Side::is_up)) next_look_ = kNever;
  for (const Open& open : std::exchange(gone.open, {})) {
    if (open.order != 0 && open.purpose == Purpose::list) listed(open.order);
  }
  tell_if_changed();
}

bool HelperSide::on(const HelperAnswered& event, Instant now) {
  for (const Helper helper : kHelpers) {
    Side& asked_of = side(helper);
    const auto found = std::ranges::find(asked_of.open, event.ticket, &Open::ticket);
    if (found == asked_of.open.end()) continue;
    const Open asked = *found;
    asked_of.open.erase(found);
    switch (asked.purpose) {
      case Purpose::hello:
        if (const auto* welcome = std::get_if<fault::WelcomeReply>(&event.reply))
          take(helper, *welcome);
        break;
      case Purpose::undo:
      case Purpose::clear:
        add_undone(event.reply);
        break;
      case Purpose::list:
        if (const auto* list = std::get_if<fault::ListReply>(&event.reply)) {
          asked_of.faults = list->faults;
          asked_of.blocked = plain(list->blocked);
        }
        if (asked.order != 0) listed(asked.order);
        tell_if_changed();
        next_look_ = now + (blocked().empty() ? kLookInterval : kLookSoon);
        break;
    }
    return true;
  }
  return false;
}

/// Told when all that are there have answered.
void HelperSide::listed(std::uint64_t order) {
  const bool is_waiting = std::ranges::any_of(sides_, [&](const Side& one) {
    return std::ranges::find(one.open, order, &Open::order) != one.open.end();
  });
  if (!is_waiting) tell(order);
}

std::string HelperSide::blocked() const {
  for (const Side& one : sides_) {
    if (!one.blocked.empty()) return one.blocked;
  }
  return {};
}

void HelperSide::on(const protocol::FaultsOrder& order, Instant) {
  if (std::ranges::none_of(sides_, &Side::is_up)) return tell(order.order());
  for (const Helper helper : kHelpers) {
    if (!is_up(helper)) continue;
    if (order.clear()) {
      ask(helper, Purpose::undo, order.order(), fault::UndoRequest{});
      ask(helper, Purpose::clear, order.order(), fault::ClearRequest{});
    }
    ask(helper, Purpose::list, order.order(), fault::ListRequest{});
  }
}

void HelperSide::joined(Instant now) {
  is_joined_ = true;
  told_.clear();
  tell_if_changed();
  look(now);
}

void HelperSide::left() { is_joined_ = false; }

void HelperSide::suspect(Helper helper, const std::string& why, Instant now) {
  side(helper).blocked = plain(why);
  tell_if_changed();
  if (is_up(helper)) next_look_ = now + kLookSoon;
}

void HelperSide::look(Instant now) {
  if (std::ranges::none_of(sides_, &Side::is_up)) return;
  next_look_ = now + kLookInterval;
  for (const Helper helper : kHelpers) {
    if (!is_up(helper) || !side(helper).open.empty()) continue;
    ask(helper, Purpose::hello, 0, fault::HelloRequest{});
    ask(helper, Purpose::list, 0, fault::ListRequest{});
  }
}

void HelperSide::tick(Instant now, bool run_is_on) {
  if (now < next_look_) return;
  next_look_ = now + kLookInterval;
  if (!run_is_on) look(now);
}

void HelperSide::ask(Helper helper, Purpose purpose, std::uint64_t order,
                     fault::HelperRequest request) {
  side(helper).open.push_back({.ticket = ++tickets_, .purpose = purpose, .order = order});
  out_.push_back(AskHelper{.ticket = tickets_, .request = std::move(request), .helper = helper});
}

void HelperSide::take(Helper helper, const fault::WelcomeReply& welcome) {
  if (helper == Helper::external) {
    inventory_.external = {.runner = true, .commands = welcome.commands};
    return;
  }
  inventory_.kernel = {.helper = true,
                       .faults = welcome.faults,
                       .interfaces = welcome.interfaces,
                       .duration_max = std::min(welcome.duration_max, fault::kFaultDurationMost)};
  inventory_.control_interfaces = control_interfaces_;
  for (const std::string& name : welcome.protected_interfaces) {
    if (plain(name) == name && std::ranges::count(inventory_.control_interfaces, name) == 0)
      inventory_.control_interfaces.push_back(name);
  }
}

void HelperSide::add_undone(const fault::HelperReply& reply) {
  if (const auto* undone = std::get_if<fault::UndoneReply>(&reply)) {
    for (const fault::Undone& one : undone->faults)
      undone_.push_back(plain(std::string(to_string(one.outcome)) + ": " + one.text));
  } else if (const auto* refused = std::get_if<fault::RefusedReply>(&reply)) {
    undone_.push_back(plain("refused: " + refused->text));
  }
}

/// Without what changes with time.
void HelperSide::add(Helper helper, const fault::ListedFault& fault,
                     protocol::HostFaults& message) const {
  protocol::HostFault& one = *message.add_faults();
  one.set_id(fault.id);
  one.set_what(plain(describe(fault.fault)));
  one.set_interface(plain(fault.fault.interface));
  one.set_state(std::string(to_string(fault.state)));
  one.set_problem(plain(fault.problem));
  one.set_external(helper == Helper::external);
  if (const auto name = name_(helper, fault.id)) {
    one.set_run(name->first);
    one.set_fault(name->second);
  }
}

protocol::HostFaults HelperSide::state() const {
  protocol::HostFaults message;
  to_message(inventory_.kernel, *message.mutable_kernel());
  to_message(inventory_.external, *message.mutable_external());
  for (const std::string& name : inventory_.control_interfaces)
    message.add_control_interfaces(name);
  message.set_no_helper(no_helper_);
  message.set_blocked(blocked());
  for (const Helper helper : kHelpers)
    for (const fault::ListedFault& fault : side(helper).faults) add(helper, fault, message);
  return message;
}

void HelperSide::tell_if_changed() {
  if (!is_joined_) return;
  const std::string state_now = state().SerializeAsString();
  if (state_now == told_) return;
  tell(0);
}

void HelperSide::tell(std::uint64_t order) {
  if (!is_joined_) return;
  protocol::HostFaults message = state();
  told_ = message.SerializeAsString();
  message.set_order(order);
  int at = 0;
  for (const Helper helper : kHelpers) {
    for (const fault::ListedFault& fault : side(helper).faults) {
      protocol::HostFault& one = *message.mutable_faults(at++);
      one.set_age_ns(count_of(fault.age));
      one.set_lease_left_ns(count_of(fault.lease_left));
      one.set_duration_left_ns(count_of(fault.duration_left));
    }
  }
  if (order != 0) {
    for (std::string& text : std::exchange(undone_, {})) message.add_undone(std::move(text));
  }
  protocol::Envelope envelope;
  *envelope.mutable_host_faults() = std::move(message);
  out_.push_back(SendToCoordinator{std::move(envelope)});
}

}  // namespace rehearsal::coordination

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

/// Messages carry UTF-8; the helper's texts may end in the middle of a character.
std::string plain(std::string_view text) {
  std::string line = one_line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return line;
}

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
  is_up_ = true;
  no_helper_.clear();
  take(event.welcome);
  out_.push_back(log_line(LogLevel::info, "the helper is there",
                          {{"faults", std::to_string(inventory_.kernel.faults.size())},
                           {"interfaces", coordination::joined(inventory_.kernel.interfaces)}}));
  look(now);
}

void HelperSide::on(const HelperDown& event, Instant) {
  if (is_up_)
    out_.push_back(log_line(LogLevel::warning, "the helper is gone", {{"reason", event.reason}}));
  is_up_ = false;
  no_helper_ = plain(event.reason);
  inventory_.kernel = {};
  faults_.clear();
  next_look_ = kNever;
  for (const Open& open : std::exchange(open_, {})) {
    if (open.order != 0 && open.purpose == Purpose::list) tell(open.order);
  }
  tell_if_changed();
}

bool HelperSide::on(const HelperAnswered& event, Instant now) {
  const auto found = std::ranges::find(open_, event.ticket, &Open::ticket);
  if (found == open_.end()) return false;
  const Open asked = *found;
  open_.erase(found);
  switch (asked.purpose) {
    case Purpose::hello:
      if (const auto* welcome = std::get_if<fault::WelcomeReply>(&event.reply)) take(*welcome);
      break;
    case Purpose::undo:
    case Purpose::clear:
      add_undone(event.reply);
      break;
    case Purpose::list:
      if (const auto* list = std::get_if<fault::ListReply>(&event.reply)) {
        faults_ = list->faults;
        blocked_ = plain(list->blocked);
      }
      if (asked.order != 0) tell(asked.order);
      tell_if_changed();
      next_look_ = now + (blocked_.empty() ? kLookInterval : kLookSoon);
      break;
  }
  return true;
}

void HelperSide::on(const protocol::FaultsOrder& order, Instant) {
  if (!is_up_) return tell(order.order());
  if (order.clear()) {
    ask(Purpose::undo, order.order(), fault::UndoRequest{});
    ask(Purpose::clear, order.order(), fault::ClearRequest{});
  }
  ask(Purpose::list, order.order(), fault::ListRequest{});
}

void HelperSide::joined(Instant now) {
  is_joined_ = true;
  told_.clear();
  tell_if_changed();
  if (is_up_) look(now);
}

void HelperSide::left() { is_joined_ = false; }

void HelperSide::suspect(const std::string& why, Instant now) {
  blocked_ = plain(why);
  tell_if_changed();
  if (is_up_) next_look_ = now + kLookSoon;
}

void HelperSide::look(Instant now) {
  if (!is_up_) return;
  next_look_ = now + kLookInterval;
  if (!open_.empty()) return;
  ask(Purpose::hello, 0, fault::HelloRequest{});
  ask(Purpose::list, 0, fault::ListRequest{});
}

void HelperSide::tick(Instant now, bool run_is_on) {
  if (now < next_look_) return;
  next_look_ = now + kLookInterval;
  if (!run_is_on) look(now);
}

void HelperSide::ask(Purpose purpose, std::uint64_t order, fault::HelperRequest request) {
  open_.push_back({.ticket = ++tickets_, .purpose = purpose, .order = order});
  out_.push_back(AskHelper{.ticket = tickets_, .request = std::move(request)});
}

void HelperSide::take(const fault::WelcomeReply& welcome) {
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

protocol::HostFaults HelperSide::state() const {
  protocol::HostFaults message;
  to_message(inventory_.kernel, *message.mutable_kernel());
  for (const std::string& name : inventory_.control_interfaces)
    message.add_control_interfaces(name);
  message.set_no_helper(no_helper_);
  message.set_blocked(blocked_);
  for (const fault::ListedFault& fault : faults_) {
    protocol::HostFault& one = *message.add_faults();
    one.set_id(fault.id);
    one.set_what(plain(describe(fault.fault)));
    one.set_interface(plain(fault.fault.interface));
    one.set_state(std::string(to_string(fault.state)));
    one.set_problem(plain(fault.problem));
    if (const auto name = name_(fault.id)) {
      one.set_run(name->first);
      one.set_fault(name->second);
    }
  }
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
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    protocol::HostFault& one = *message.mutable_faults(static_cast<int>(i));
    one.set_age_ns(count_of(faults_[i].age));
    one.set_lease_left_ns(count_of(faults_[i].lease_left));
    one.set_duration_left_ns(count_of(faults_[i].duration_left));
  }
  if (order != 0) {
    for (std::string& text : std::exchange(undone_, {})) message.add_undone(std::move(text));
  }
  protocol::Envelope envelope;
  *envelope.mutable_host_faults() = std::move(message);
  out_.push_back(SendToCoordinator{std::move(envelope)});
}

}  // namespace rehearsal::coordination

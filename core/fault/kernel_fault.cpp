#include "core/fault/kernel_fault.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "core/base/text.hpp"
#include "core/fault/change.hpp"

namespace rehearsal::fault {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

Failure unsupported(std::string message) {
  return fail(ErrorCode::unsupported, ErrorSource::config, std::move(message));
}

/// A name that the kernel takes for a device and that cannot be mistaken in a log.
Result<void> check_interface(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7F && c != '/' && c != ':';
  });
  if (plain && !name.empty() && name.size() <= kInterfaceNameMax && name != "." && name != "..") {
    return {};
  }
  return invalid(in_quotes(name) + " cannot name an interface; right would be a name like eth1");
}

Result<void> check_share(Share share, std::string_view what) {
  if (share.millionths <= Share::kAll) return {};
  return invalid(std::string(what) + " is more than all packets");
}

Result<void> check_value(const RateCap& cap) {
  if (cap.rate >= kRateLeast && cap.rate <= kRateMost) return {};
  return invalid("rate " + format_bit_rate_exact(cap.rate) + ": right would be " +
                 format_bit_rate_exact(kRateLeast) + " to " + format_bit_rate_exact(kRateMost));
}

Result<void> check_value(const Impairment& impairment) {
  if (impairment.delay < Duration::zero() || impairment.delay > kDelayMost) {
    return invalid("delay: right would be at most " + format_duration_exact(kDelayMost));
  }
  if (impairment.jitter < Duration::zero() || impairment.jitter > impairment.delay) {
    return invalid("jitter: right would be at most the delay");
  }
  RETURN_IF_ERROR(check_share(impairment.loss, "loss"));
  RETURN_IF_ERROR(check_share(impairment.duplicate, "duplicate"));
  RETURN_IF_ERROR(check_share(impairment.reorder, "reorder"));
  RETURN_IF_ERROR(check_share(impairment.corrupt, "corrupt"));
  if (impairment.reorder.millionths > 0 && impairment.delay == Duration::zero()) {
    return invalid("reorder needs a delay: packets overtake those that are delayed");
  }
  if (impairment == Impairment{}) return invalid("an impairment of which every part is zero");
  return {};
}

Result<void> check_value(const SmallerMtu& smaller) {
  if (smaller.mtu_bytes >= kMtuLeast && smaller.mtu_bytes <= kMtuMost) return {};
  return invalid("mtu " + std::to_string(smaller.mtu_bytes) + ": right would be " +
                 std::to_string(kMtuLeast) + " to " + std::to_string(kMtuMost));
}

Result<void> check_value(const Blackhole&) { return {}; }
Result<void> check_value(const LinkDown&) { return {}; }
Result<void> check_value(const PauseFrames&) { return {}; }
Result<void> check_value(const ExternalCall& call) { return check(call); }

bool is_of_whole_interface(const Effect& effect) {
  return std::holds_alternative<LinkDown>(effect) || std::holds_alternative<SmallerMtu>(effect);
}

std::string percent(Share share) {
  char text[32];
  std::snprintf(text, sizeof text, "%g%%", static_cast<double>(share.millionths) / 10'000.0);
  return text;
}

std::string describe(const Impairment& impairment) {
  std::string text;
  const auto add = [&](std::string_view word, const std::string& amount) {
    text += (text.empty() ? "" : ", ") + std::string(word) + " " + amount;
  };
  if (impairment.delay > Duration::zero()) add("delay", format_duration_exact(impairment.delay));
  if (impairment.jitter > Duration::zero()) add("jitter", format_duration_exact(impairment.jitter));
  if (impairment.loss.millionths > 0) add("loss", percent(impairment.loss));
  if (impairment.duplicate.millionths > 0) add("duplicate", percent(impairment.duplicate));
  if (impairment.reorder.millionths > 0) add("reorder", percent(impairment.reorder));
  if (impairment.corrupt.millionths > 0) add("corrupt", percent(impairment.corrupt));
  return text;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::rate:
      return "rate";
    case FaultKind::delay:
      return "delay";
    case FaultKind::loss:
      return "loss";
    case FaultKind::duplicate:
      return "duplicate";
    case FaultKind::reorder:
      return "reorder";
    case FaultKind::corrupt:
      return "corrupt";
    case FaultKind::blackhole:
      return "blackhole";
    case FaultKind::link_down:
      return "link_down";
    case FaultKind::mtu:
      return "mtu";
    case FaultKind::flow_control:
      return "flow_control";
  }
  return "?";
}

std::string_view to_string(Direction direction) {
  switch (direction) {
    case Direction::sent:
      return "sent";
    case Direction::received:
      return "received";
    case Direction::both:
      return "both";
  }
  return "?";
}

Result<void> check(const KernelFault& fault) {
  if (const auto* call = std::get_if<ExternalCall>(&fault.effect)) {
    if (!fault.interface.empty() || fault.direction != Direction::both)
      return invalid("a command has no interface and no direction");
    return check(*call);
  }
  RETURN_IF_ERROR(check_interface(fault.interface));
  RETURN_IF_ERROR(std::visit([](const auto& effect) { return check_value(effect); }, fault.effect));
  if (is_of_whole_interface(fault.effect)) {
    if (fault.direction == Direction::both) return {};
    return unsupported(describe(fault) + ": meets both directions of an interface, not one");
  }
  const bool is_any = std::holds_alternative<PauseFrames>(fault.effect);
  if (is_any || fault.direction == Direction::sent) return {};
  return unsupported(
      describe(fault) +
      ": the kernel queues only what an interface sends; for what it receives ask for "
      "the fault at the sender, or inside our own sender");
}

bool same_target(const KernelFault& a, const KernelFault& b) {
  if (is_external(a.effect) || is_external(b.effect)) return a.effect == b.effect;
  return a.interface == b.interface && target_of(a.effect) == target_of(b.effect);
}

std::vector<FaultKind> kinds_of(const Effect& effect) {
  return std::visit(
      Overloaded{[](const RateCap&) { return std::vector{FaultKind::rate}; },
                 [](const Blackhole&) { return std::vector{FaultKind::blackhole}; },
                 [](const LinkDown&) { return std::vector{FaultKind::link_down}; },
                 [](const SmallerMtu&) { return std::vector{FaultKind::mtu}; },
                 [](const PauseFrames&) { return std::vector{FaultKind::flow_control}; },
                 [](const ExternalCall&) { return std::vector<FaultKind>{}; },
                 [](const Impairment& impairment) {
                   std::vector<FaultKind> kinds;
                   if (impairment.delay > Duration::zero()) kinds.push_back(FaultKind::delay);
                   if (impairment.loss.millionths > 0) kinds.push_back(FaultKind::loss);
                   if (impairment.duplicate.millionths > 0) kinds.push_back(FaultKind::duplicate);
                   if (impairment.reorder.millionths > 0) kinds.push_back(FaultKind::reorder);
                   if (impairment.corrupt.millionths > 0) kinds.push_back(FaultKind::corrupt);
                   return kinds;
                 }},
      effect);
}

std::string describe(const KernelFault& fault) {
  if (const auto* call = std::get_if<ExternalCall>(&fault.effect))
    return "external " + describe(*call);
  const std::string what = std::visit(
      Overloaded{
          [](const RateCap& cap) { return "rate " + format_bit_rate_exact(cap.rate); },
          [](const Impairment& impairment) { return describe(impairment); },
          [](const Blackhole&) { return std::string("blackhole"); },
          [](const ExternalCall& call) { return describe(call); },
          [](const LinkDown&) { return std::string("link_down"); },
          [](const PauseFrames& pause) {
            return std::string("flow_control ") + (pause.on ? "on" : "off");
          },
          [](const SmallerMtu& smaller) { return "mtu " + std::to_string(smaller.mtu_bytes); }},
      fault.effect);
  return what + " on " + fault.interface + ", " + std::string(to_string(fault.direction));
}

}  // namespace rehearsal::fault

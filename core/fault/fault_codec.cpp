#include "core/fault/fault_codec.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rehearsal::fault {
namespace {

constexpr std::size_t kKindNameMax = 32;
constexpr std::size_t kOptionsMax = 4096;
constexpr std::size_t kQdiscBytesLeast = 5;

// Numbers in files and messages: never reused, new ones at the end.
enum class EffectTag : std::uint8_t {
  rate = 1,
  impairment,
  blackhole,
  link_down,
  mtu,
  pause_frames,
  external
};
enum class SettingsTag : std::uint8_t { other = 0, rate, impairment, drop_all };
enum class ActTag : std::uint8_t {
  set_root = 1,
  remove_root,
  set_link,
  set_mtu,
  set_flow_control,
  run_command
};

template <typename Tag>
void put(Encoder& to, Tag tag) {
  to.number(static_cast<std::uint64_t>(tag));
}

void put(Encoder& to, Share share) { to.number(share.millionths); }
void put(Encoder& to, BitRate rate) { to.number(rate.bits_per_second()); }

void put(Encoder& to, const Impairment& impairment) {
  encode(to, impairment.delay);
  encode(to, impairment.jitter);
  put(to, impairment.loss);
  put(to, impairment.duplicate);
  put(to, impairment.reorder);
  put(to, impairment.corrupt);
}

Result<Share> take_share(Decoder& from) {
  ASSIGN_OR_RETURN(const auto millionths, from.number_up_to(Share::kAll, "a share"));
  return Share{static_cast<std::uint32_t>(millionths)};
}

Result<BitRate> take_rate(Decoder& from) {
  ASSIGN_OR_RETURN(const auto rate, from.number());
  return BitRate{rate};
}

Result<Impairment> take_impairment(Decoder& from) {
  Impairment impairment;
  ASSIGN_OR_RETURN(impairment.delay, decode_duration(from));
  ASSIGN_OR_RETURN(impairment.jitter, decode_duration(from));
  ASSIGN_OR_RETURN(impairment.loss, take_share(from));
  ASSIGN_OR_RETURN(impairment.duplicate, take_share(from));
  ASSIGN_OR_RETURN(impairment.reorder, take_share(from));
  ASSIGN_OR_RETURN(impairment.corrupt, take_share(from));
  return impairment;
}

constexpr std::uint64_t kFlowControlMost = 7;

std::uint64_t bits_of(const FlowControl& setting) {
  return (setting.negotiated ? 1U : 0U) | (setting.heeds ? 2U : 0U) | (setting.sends ? 4U : 0U);
}

FlowControl flow_control_of(std::uint64_t bits) {
  return {.negotiated = (bits & 1) != 0, .heeds = (bits & 2) != 0, .sends = (bits & 4) != 0};
}

struct EffectEncoder {
  Encoder& to;
  void operator()(const RateCap& cap) const {
    put(to, EffectTag::rate);
    put(to, cap.rate);
  }
  void operator()(const Impairment& impairment) const {
    put(to, EffectTag::impairment);
    put(to, impairment);
  }
  void operator()(const Blackhole&) const { put(to, EffectTag::blackhole); }
  void operator()(const LinkDown&) const { put(to, EffectTag::link_down); }
  void operator()(const SmallerMtu& smaller) const {
    put(to, EffectTag::mtu);
    to.number(smaller.mtu_bytes);
  }
  void operator()(const PauseFrames& pause) const {
    put(to, EffectTag::pause_frames);
    to.number(pause.on ? 1 : 0);
  }
  void operator()(const ExternalCall& call) const {
    put(to, EffectTag::external);
    encode(to, call);
  }
};

Result<Effect> take_effect(Decoder& from) {
  ASSIGN_OR_RETURN(const auto tag, from.number());
  switch (static_cast<EffectTag>(std::min<std::uint64_t>(tag, 255))) {
    case EffectTag::rate: {
      ASSIGN_OR_RETURN(const BitRate rate, take_rate(from));
      return RateCap{rate};
    }
    case EffectTag::impairment:
      return take_impairment(from).map([](const Impairment& value) -> Effect { return value; });
    case EffectTag::blackhole:
      return Blackhole{};
    case EffectTag::link_down:
      return LinkDown{};
    case EffectTag::mtu: {
      ASSIGN_OR_RETURN(const auto mtu, decode_32(from));
      return SmallerMtu{mtu};
    }
    case EffectTag::pause_frames: {
      ASSIGN_OR_RETURN(const bool on, decode_flag(from));
      return PauseFrames{on};
    }
    case EffectTag::external:
      return decode_call(from).map([](ExternalCall&& call) -> Effect { return std::move(call); });
  }
  return invalid("there is no effect with number " + std::to_string(tag));
}

struct SettingsEncoder {
  Encoder& to;
  void operator()(const std::monostate&) const { put(to, SettingsTag::other); }
  void operator()(const RateCap& cap) const {
    put(to, SettingsTag::rate);
    put(to, cap.rate);
  }
  void operator()(const Impairment& impairment) const {
    put(to, SettingsTag::impairment);
    put(to, impairment);
  }
  void operator()(const DropAll&) const { put(to, SettingsTag::drop_all); }
};

Result<QueueSettings> take_settings(Decoder& from) {
  ASSIGN_OR_RETURN(const auto tag, from.number());
  switch (static_cast<SettingsTag>(std::min<std::uint64_t>(tag, 255))) {
    case SettingsTag::other:
      return QueueSettings{};
    case SettingsTag::rate: {
      ASSIGN_OR_RETURN(const BitRate rate, take_rate(from));
      return RateCap{rate};
    }
    case SettingsTag::impairment:
      return take_impairment(from).map(
          [](const Impairment& value) -> QueueSettings { return value; });
    case SettingsTag::drop_all:
      return DropAll{};
  }
  return invalid("there is no queueing discipline with number " + std::to_string(tag));
}

struct ActEncoder {
  Encoder& to;
  void operator()(const SetRoot& set) const {
    put(to, ActTag::set_root);
    to.number(set.handle);
    std::visit(SettingsEncoder{to}, set.settings);
  }
  void operator()(const RemoveRoot& remove) const {
    put(to, ActTag::remove_root);
    to.number(remove.handle);
  }
  void operator()(const SetLink& set) const {
    put(to, ActTag::set_link);
    to.number(set.up ? 1 : 0);
  }
  void operator()(const SetMtu& set) const {
    put(to, ActTag::set_mtu);
    to.number(set.mtu_bytes);
  }
  void operator()(const SetFlowControl& set) const {
    put(to, ActTag::set_flow_control);
    to.number(bits_of(set.setting));
  }
  void operator()(const RunCommand& run) const {
    put(to, ActTag::run_command);
    put(to, run.verb);
    encode(to, run.call);
  }
};

Result<Act> take_act(Decoder& from) {
  ASSIGN_OR_RETURN(const auto tag, from.number());
  switch (static_cast<ActTag>(std::min<std::uint64_t>(tag, 255))) {
    case ActTag::set_root: {
      ASSIGN_OR_RETURN(const auto handle, decode_32(from));
      ASSIGN_OR_RETURN(QueueSettings settings, take_settings(from));
      return SetRoot{handle, std::move(settings)};
    }
    case ActTag::remove_root: {
      ASSIGN_OR_RETURN(const auto handle, decode_32(from));
      return RemoveRoot{handle};
    }
    case ActTag::set_link: {
      ASSIGN_OR_RETURN(const bool up, decode_flag(from));
      return SetLink{up};
    }
    case ActTag::set_mtu: {
      ASSIGN_OR_RETURN(const auto mtu, decode_32(from));
      return SetMtu{mtu};
    }
    case ActTag::set_flow_control: {
      ASSIGN_OR_RETURN(const std::uint64_t bits,
                       from.number_up_to(kFlowControlMost, "pause frames"));
      return SetFlowControl{flow_control_of(bits)};
    }
    case ActTag::run_command: {
      RunCommand run;
      ASSIGN_OR_RETURN(const auto verb, from.number_up_to(kVerbs.size() - 1, "a verb"));
      run.verb = kVerbs[verb];
      ASSIGN_OR_RETURN(run.call, decode_call(from));
      return run;
    }
  }
  return invalid("there is no act with number " + std::to_string(tag));
}

bool fits(const Act& act, const Act& undo) {
  if (const auto* set = std::get_if<SetRoot>(&act)) {
    const auto* remove = std::get_if<RemoveRoot>(&undo);
    return remove != nullptr && remove->handle == set->handle && is_own_handle(set->handle);
  }
  if (const auto* run = std::get_if<RunCommand>(&act)) {
    const auto* back = std::get_if<RunCommand>(&undo);
    return back != nullptr && run->verb == Verb::apply && back->verb == Verb::undo &&
           run->call == back->call;
  }
  return act.index() == undo.index() && !std::holds_alternative<RemoveRoot>(act);
}

void put(Encoder& to, const Qdisc& qdisc) {
  to.text(qdisc.kind);
  to.number(qdisc.handle);
  to.number(qdisc.parent);
  to.text(qdisc.options);
  std::visit(SettingsEncoder{to}, qdisc.settings);
}

Result<Qdisc> take_qdisc(Decoder& from) {
  Qdisc qdisc;
  ASSIGN_OR_RETURN(qdisc.kind, from.text(kKindNameMax));
  ASSIGN_OR_RETURN(qdisc.handle, decode_32(from));
  ASSIGN_OR_RETURN(qdisc.parent, decode_32(from));
  ASSIGN_OR_RETURN(qdisc.options, from.text(kOptionsMax));
  ASSIGN_OR_RETURN(qdisc.settings, take_settings(from));
  return qdisc;
}

// What is yes or no of an interface. The first was alone once: a journal of then is still read.
constexpr std::uint64_t kUp = 1;
constexpr std::uint64_t kHasFlowControl = 2;
constexpr int kFlowControlShift = 2;
constexpr std::uint64_t kFlagsMost = 31;

std::uint64_t flags_of(const InterfaceState& state) {
  const std::uint64_t up = state.is_up ? kUp : 0;
  if (!state.flow_control) return up;
  return up | kHasFlowControl | bits_of(*state.flow_control) << kFlowControlShift;
}

void take_flags(InterfaceState& state, std::uint64_t flags) {
  state.is_up = (flags & kUp) != 0;
  if ((flags & kHasFlowControl) != 0)
    state.flow_control = flow_control_of(flags >> kFlowControlShift);
}

}  // namespace

void encode(Encoder& to, Duration duration) {
  to.number(static_cast<std::uint64_t>(std::max(duration, Duration::zero()).count()));
}

void encode(Encoder& to, const ExternalCall& call) {
  to.text(call.command);
  to.number(call.arguments.size());
  for (const ExternalArgument& argument : call.arguments) {
    to.text(argument.name);
    to.text(argument.value);
  }
}

void encode(Encoder& to, const KernelFault& fault) {
  to.text(fault.interface);
  put(to, fault.direction);
  std::visit(EffectEncoder{to}, fault.effect);
}

void encode(Encoder& to, const InterfaceState& state) {
  to.number(state.index);
  to.text(state.name);
  to.number(flags_of(state));
  to.number(state.mtu_bytes);
  to.number(state.qdiscs.size());
  for (const Qdisc& qdisc : state.qdiscs) put(to, qdisc);
  to.number(state.static_routes);
  to.number(state.permanent_addresses);
  to.number(state.permanent_neighbours);
}

void encode(Encoder& to, const Change& change) {
  to.number(change.interface_index);
  to.text(change.interface);
  std::visit(ActEncoder{to}, change.act);
  std::visit(ActEncoder{to}, change.undo);
}

Result<std::uint32_t> decode_32(Decoder& from) {
  return from.number_up_to(UINT32_MAX, "a number").map([](std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
  });
}

Result<bool> decode_flag(Decoder& from) {
  return from.number_up_to(1, "a flag").map([](std::uint64_t value) { return value == 1; });
}

Result<Duration> decode_duration(Decoder& from) {
  constexpr std::uint64_t kMost = std::numeric_limits<Duration::rep>::max() / 4;
  return from.number_up_to(kMost, "a duration").map([](std::uint64_t value) {
    return Duration{static_cast<Duration::rep>(value)};
  });
}

/// Within its caps, and with nothing that could not be an argument.
Result<ExternalCall> decode_call(Decoder& from) {
  ExternalCall call;
  ASSIGN_OR_RETURN(call.command, from.text(kArgumentNameMax));
  ASSIGN_OR_RETURN(const std::size_t count, from.count(2, "arguments"));
  if (count > kArgumentsMax) return invalid("more arguments than a command can have");
  for (std::size_t i = 0; i < count; ++i) {
    ExternalArgument argument;
    ASSIGN_OR_RETURN(argument.name, from.text(kArgumentNameMax));
    ASSIGN_OR_RETURN(argument.value, from.text(kArgumentValueMax));
    call.arguments.push_back(std::move(argument));
  }
  RETURN_IF_ERROR(check(call));
  return call;
}

Result<KernelFault> decode_fault(Decoder& from) {
  KernelFault fault;
  ASSIGN_OR_RETURN(fault.interface, from.text(kInterfaceNameMax));
  ASSIGN_OR_RETURN(const auto direction, from.number_up_to(kDirections.size() - 1, "a direction"));
  fault.direction = kDirections[direction];
  ASSIGN_OR_RETURN(fault.effect, take_effect(from));
  return fault;
}

Result<InterfaceState> decode_state(Decoder& from) {
  InterfaceState state;
  ASSIGN_OR_RETURN(state.index, decode_32(from));
  ASSIGN_OR_RETURN(state.name, from.text(kInterfaceNameMax));
  ASSIGN_OR_RETURN(const std::uint64_t flags, from.number_up_to(kFlagsMost, "flags"));
  take_flags(state, flags);
  ASSIGN_OR_RETURN(state.mtu_bytes, decode_32(from));
  ASSIGN_OR_RETURN(const std::size_t count, from.count(kQdiscBytesLeast, "queueing disciplines"));
  for (std::size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(Qdisc qdisc, take_qdisc(from));
    state.qdiscs.push_back(std::move(qdisc));
  }
  ASSIGN_OR_RETURN(state.static_routes, decode_32(from));
  ASSIGN_OR_RETURN(state.permanent_addresses, decode_32(from));
  ASSIGN_OR_RETURN(state.permanent_neighbours, decode_32(from));
  return state;
}

Result<Change> decode_change(Decoder& from) {
  Change change;
  ASSIGN_OR_RETURN(change.interface_index, decode_32(from));
  ASSIGN_OR_RETURN(change.interface, from.text(kInterfaceNameMax));
  ASSIGN_OR_RETURN(change.act, take_act(from));
  ASSIGN_OR_RETURN(change.undo, take_act(from));
  if (!fits(change.act, change.undo)) return invalid("an undo that does not fit its act");
  return change;
}

}  // namespace rehearsal::fault

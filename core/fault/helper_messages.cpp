#include "core/fault/helper_messages.hpp"

#include <algorithm>
#include <array>

#include "core/base/encoding.hpp"
#include "core/fault/fault_codec.hpp"

namespace rehearsal::fault {
namespace {

constexpr std::size_t kTextMax = 240;
constexpr std::size_t kInterfacesTold = 256;
// Whatever is told fits: a reply of kFaultsMax faults, and a welcome of as many interfaces.
static_assert(kFaultsMax * (kTextMax + kCallBytesMax + 128) < kMessageBytesMax);
static_assert(2 * kInterfacesTold * (kInterfaceNameMax + 2) + 1024 < kMessageBytesMax);

enum class RequestTag : std::uint8_t { hello = 1, apply, renew, undo, list, clear };
enum class ReplyTag : std::uint8_t { welcome = 1, applied, renewed, undone, list, refused };

constexpr std::array kErrorCodes = {
    ErrorCode::invalid_input, ErrorCode::unsupported, ErrorCode::not_found,
    ErrorCode::refused,       ErrorCode::too_large,   ErrorCode::protocol,
    ErrorCode::disconnected,  ErrorCode::timed_out,   ErrorCode::system};

template <typename Tag>
void put(Encoder& to, Tag tag) {
  to.number(static_cast<std::uint64_t>(tag));
}

void put_text(Encoder& to, std::string_view text) { to.text(text.substr(0, kTextMax)); }

void put_interfaces(Encoder& to, const std::vector<std::string>& names) {
  const std::size_t told = std::min(names.size(), kInterfacesTold);
  to.number(told);
  for (std::size_t i = 0; i < told; ++i) to.text(names[i]);
}

Result<std::vector<std::string>> take_interfaces(Decoder& from) {
  std::vector<std::string> names;
  ASSIGN_OR_RETURN(const std::size_t count, from.count(1, "interfaces"));
  if (count > kInterfacesTold) return invalid("more interfaces than are told");
  for (std::size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(names.emplace_back(), from.text(kInterfaceNameMax));
  }
  return names;
}

void put_id(Encoder& to, std::optional<std::uint64_t> id) {
  to.number(id ? 1 : 0);
  if (id) to.number(*id);
}

Result<std::optional<std::uint64_t>> take_id(Decoder& from) {
  ASSIGN_OR_RETURN(const bool has_id, decode_flag(from));
  if (!has_id) return std::optional<std::uint64_t>{};
  return from.number().map([](std::uint64_t id) { return std::optional{id}; });
}

template <typename Enum, std::size_t kCount>
Result<Enum> take_enum(Decoder& from, const std::array<Enum, kCount>& values,
                       std::string_view what) {
  return from.number_up_to(kCount - 1, what).map([&](std::uint64_t at) { return values[at]; });
}

enum class TypeTag : std::uint8_t { integer = 1, word, name };

/// Zigzag: what is below zero is small too.
std::uint64_t folded(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unfolded(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
}

struct TypeEncoder {
  Encoder& to;
  void operator()(const IntegerArgument& range) const {
    put(to, TypeTag::integer);
    to.number(folded(range.min));
    to.number(folded(range.max));
  }
  void operator()(const WordArgument& words) const {
    put(to, TypeTag::word);
    to.number(words.one_of.size());
    for (const std::string& word : words.one_of) to.text(word);
  }
  void operator()(const NameArgument& name) const {
    put(to, TypeTag::name);
    to.number(name.length_max);
  }
};

Result<ArgumentType> take_type(Decoder& from) {
  ASSIGN_OR_RETURN(const auto tag, from.number());
  switch (static_cast<TypeTag>(std::min<std::uint64_t>(tag, 255))) {
    case TypeTag::integer: {
      ASSIGN_OR_RETURN(const auto min, from.number());
      ASSIGN_OR_RETURN(const auto max, from.number());
      return IntegerArgument{unfolded(min), unfolded(max)};
    }
    case TypeTag::word: {
      WordArgument words;
      ASSIGN_OR_RETURN(const std::size_t count, from.count(1, "words"));
      if (count > kArgumentWordsMax) return invalid("more words than an argument can have");
      for (std::size_t i = 0; i < count; ++i) {
        ASSIGN_OR_RETURN(words.one_of.emplace_back(), from.text(kArgumentValueMax));
      }
      return words;
    }
    case TypeTag::name: {
      ASSIGN_OR_RETURN(const auto most, from.number_up_to(kArgumentValueMax, "a length"));
      return NameArgument{static_cast<std::uint32_t>(most)};
    }
  }
  return invalid("there is no type of arguments with number " + std::to_string(tag));
}

void put(Encoder& to, const ExternalCommand& command) {
  to.text(command.name);
  to.number(command.arguments.size());
  for (const ArgumentRule& rule : command.arguments) {
    to.text(rule.name);
    std::visit(TypeEncoder{to}, rule.type);
  }
  encode(to, command.duration_max);
  encode(to, command.time_max);
  put_text(to, command.problem);
}

Result<ExternalCommand> take_command(Decoder& from) {
  ExternalCommand command;
  ASSIGN_OR_RETURN(command.name, from.text(kArgumentNameMax));
  ASSIGN_OR_RETURN(const std::size_t count, from.count(3, "arguments"));
  if (count > kArgumentsMax) return invalid("more arguments than a command can have");
  for (std::size_t i = 0; i < count; ++i) {
    ArgumentRule& rule = command.arguments.emplace_back();
    ASSIGN_OR_RETURN(rule.name, from.text(kArgumentNameMax));
    ASSIGN_OR_RETURN(rule.type, take_type(from));
  }
  ASSIGN_OR_RETURN(command.duration_max, decode_duration(from));
  ASSIGN_OR_RETURN(command.time_max, decode_duration(from));
  ASSIGN_OR_RETURN(command.problem, from.text(kTextMax));
  return command;
}

struct RequestEncoder {
  Encoder& to;
  void operator()(const HelloRequest& hello) const {
    put(to, RequestTag::hello);
    to.number(hello.version);
  }
  void operator()(const ApplyRequest& apply) const {
    put(to, RequestTag::apply);
    encode(to, apply.request.fault);
    encode(to, apply.request.lease);
    encode(to, apply.request.duration);
  }
  void operator()(const RenewRequest& renew) const {
    put(to, RequestTag::renew);
    put_id(to, renew.id);
    encode(to, renew.lease);
  }
  void operator()(const UndoRequest& undo) const {
    put(to, RequestTag::undo);
    put_id(to, undo.id);
  }
  void operator()(const ListRequest&) const { put(to, RequestTag::list); }
  void operator()(const ClearRequest& clear) const {
    put(to, RequestTag::clear);
    to.number(clear.accept_stuck ? 1 : 0);
  }
};

Result<HelperRequest> take_request(Decoder& from) {
  ASSIGN_OR_RETURN(const auto tag, from.number());
  switch (static_cast<RequestTag>(std::min<std::uint64_t>(tag, 255))) {
    case RequestTag::hello: {
      ASSIGN_OR_RETURN(const auto version, decode_32(from));
      return HelloRequest{version};
    }
    case RequestTag::apply: {
      ApplyRequest apply;
      ASSIGN_OR_RETURN(apply.request.fault, decode_fault(from));
      ASSIGN_OR_RETURN(apply.request.lease, decode_duration(from));
      ASSIGN_OR_RETURN(apply.request.duration, decode_duration(from));
      return apply;
    }
    case RequestTag::renew: {
      RenewRequest renew;
      ASSIGN_OR_RETURN(renew.id, take_id(from));
      ASSIGN_OR_RETURN(renew.lease, decode_duration(from));
      return renew;
    }
    case RequestTag::undo: {
      ASSIGN_OR_RETURN(const auto id, take_id(from));
      return UndoRequest{id};
    }
    case RequestTag::list:
      return ListRequest{};
    case RequestTag::clear: {
      ASSIGN_OR_RETURN(const bool accept_stuck, decode_flag(from));
      return ClearRequest{accept_stuck};
    }
  }
  return invalid("there is no request with number " + std::to_string(tag));
}

struct ReplyEncoder {
  Encoder& to;
  void operator()(const WelcomeReply& welcome) const {
    put(to, ReplyTag::welcome);
    to.number(welcome.version);
    to.number(welcome.faults.size());
    for (const FaultKind kind : welcome.faults) put(to, kind);
    put_interfaces(to, welcome.interfaces);
    encode(to, welcome.duration_max);
    put_interfaces(to, welcome.protected_interfaces);
    to.number(welcome.commands.size());
    for (const ExternalCommand& command : welcome.commands) put(to, command);
    put_text(to, welcome.blocked);
  }
  void operator()(const AppliedReply& applied) const {
    put(to, ReplyTag::applied);
    to.number(applied.id);
  }
  void operator()(const RenewedReply& renewed) const {
    put(to, ReplyTag::renewed);
    to.number(renewed.count);
  }
  void operator()(const UndoneReply& undone) const {
    put(to, ReplyTag::undone);
    to.number(undone.faults.size());
    for (const Undone& fault : undone.faults) {
      to.number(fault.id);
      put(to, fault.outcome);
      put_text(to, fault.text);
    }
    put_text(to, undone.blocked);
  }
  void operator()(const ListReply& list) const {
    put(to, ReplyTag::list);
    to.number(list.faults.size());
    for (const ListedFault& fault : list.faults) {
      to.number(fault.id);
      encode(to, fault.fault);
      put(to, fault.state);
      encode(to, fault.age);
      encode(to, fault.lease_left);
      encode(to, fault.duration_left);
      put_text(to, fault.problem);
    }
    put_text(to, list.blocked);
  }
  void operator()(const RefusedReply& refused) const {
    put(to, ReplyTag::refused);
    const auto at = std::find(kErrorCodes.begin(), kErrorCodes.end(), refused.code);
    to.number(static_cast<std::uint64_t>(at - kErrorCodes.begin()));
    put_text(to, refused.text);
  }
};

Result<WelcomeReply> take_welcome(Decoder& from) {
  WelcomeReply welcome;
  ASSIGN_OR_RETURN(welcome.version, decode_32(from));
  ASSIGN_OR_RETURN(const std::size_t kinds, from.count(1, "kinds of faults"));
  for (std::size_t i = 0; i < kinds; ++i) {
    ASSIGN_OR_RETURN(const FaultKind kind, take_enum(from, kFaultKinds, "a kind of fault"));
    welcome.faults.push_back(kind);
  }
  ASSIGN_OR_RETURN(welcome.interfaces, take_interfaces(from));
  ASSIGN_OR_RETURN(welcome.duration_max, decode_duration(from));
  ASSIGN_OR_RETURN(welcome.protected_interfaces, take_interfaces(from));
  ASSIGN_OR_RETURN(const std::size_t commands, from.count(4, "commands"));
  if (commands > kCommandsMax) return invalid("more commands than a host can allow");
  for (std::size_t i = 0; i < commands; ++i) {
    ASSIGN_OR_RETURN(welcome.commands.emplace_back(), take_command(from));
  }
  ASSIGN_OR_RETURN(welcome.blocked, from.text(kTextMax));
  return welcome;
}

Result<UndoneReply> take_undone(Decoder& from) {
  UndoneReply reply;
  ASSIGN_OR_RETURN(const std::size_t count, from.count(3, "faults"));
  for (std::size_t i = 0; i < count; ++i) {
    Undone undone;
    ASSIGN_OR_RETURN(undone.id, from.number());
    ASSIGN_OR_RETURN(undone.outcome, take_enum(from, kUndoOutcomes, "an outcome"));
    ASSIGN_OR_RETURN(undone.text, from.text(kTextMax));
    reply.faults.push_back(std::move(undone));
  }
  ASSIGN_OR_RETURN(reply.blocked, from.text(kTextMax));
  return reply;
}

Result<ListReply> take_list(Decoder& from) {
  ListReply reply;
  ASSIGN_OR_RETURN(const std::size_t count, from.count(9, "faults"));
  for (std::size_t i = 0; i < count; ++i) {
    ListedFault fault;
    ASSIGN_OR_RETURN(fault.id, from.number());
    ASSIGN_OR_RETURN(fault.fault, decode_fault(from));
    ASSIGN_OR_RETURN(fault.state, take_enum(from, kFaultStates, "a state"));
    ASSIGN_OR_RETURN(fault.age, decode_duration(from));
    ASSIGN_OR_RETURN(fault.lease_left, decode_duration(from));
    ASSIGN_OR_RETURN(fault.duration_left, decode_duration(from));
    ASSIGN_OR_RETURN(fault.problem, from.text(kTextMax));
    reply.faults.push_back(std::move(fault));
  }
  ASSIGN_OR_RETURN(reply.blocked, from.text(kTextMax));
  return reply;
}

template <typename Reply>
Result<HelperReply> as_reply(Result<Reply> reply) {
  return std::move(reply).map([](Reply&& value) -> HelperReply { return std::move(value); });
}

Result<HelperReply> take_reply(Decoder& from) {
  ASSIGN_OR_RETURN(const auto tag, from.number());
  switch (static_cast<ReplyTag>(std::min<std::uint64_t>(tag, 255))) {
    case ReplyTag::welcome:
      return as_reply(take_welcome(from));
    case ReplyTag::applied: {
      ASSIGN_OR_RETURN(const auto id, from.number());
      return AppliedReply{id};
    }
    case ReplyTag::renewed: {
      ASSIGN_OR_RETURN(const auto count, from.number());
      return RenewedReply{count};
    }
    case ReplyTag::undone:
      return as_reply(take_undone(from));
    case ReplyTag::list:
      return as_reply(take_list(from));
    case ReplyTag::refused: {
      RefusedReply refused;
      ASSIGN_OR_RETURN(refused.code, take_enum(from, kErrorCodes, "a code"));
      ASSIGN_OR_RETURN(refused.text, from.text(kTextMax));
      return refused;
    }
  }
  return invalid("there is no reply with number " + std::to_string(tag));
}

template <typename Message, typename Take>
Result<Message> decode_whole(std::string_view bytes, Take take) {
  if (bytes.size() > kMessageBytesMax) {
    return fail(ErrorCode::too_large, ErrorSource::control, "a message over the cap");
  }
  Decoder from(bytes);
  ASSIGN_OR_RETURN(Message message, take(from));
  if (from.remaining() > 0) return invalid("a message with bytes left over");
  return message;
}

}  // namespace

Duration patience_with(const WelcomeReply& welcome) {
  constexpr Duration kLeast = std::chrono::seconds{5};
  constexpr int kAtOnce = 4;
  Duration longest{0};
  for (const ExternalCommand& command : welcome.commands)
    longest = std::max(longest, command.time_max);
  return kLeast + kAtOnce * std::min(longest, 6 * kCommandLimitMost);
}

std::string encode(const HelperRequest& request) {
  Encoder to;
  std::visit(RequestEncoder{to}, request);
  return to.take();
}

std::string encode(const HelperReply& reply) {
  Encoder to;
  std::visit(ReplyEncoder{to}, reply);
  return to.take();
}

Result<HelperRequest> decode_request(std::string_view bytes) {
  return decode_whole<HelperRequest>(bytes, take_request);
}

Result<HelperReply> decode_reply(std::string_view bytes) {
  return decode_whole<HelperReply>(bytes, take_reply);
}

namespace {

/// A wall clock may be set back, or forth by years.
Duration age_of(const Intent& intent, std::uint64_t wall_ns) {
  constexpr std::uint64_t kMost = static_cast<std::uint64_t>(kFaultDurationMost.count()) * 365;
  if (intent.wall_ns == 0 || intent.wall_ns >= wall_ns) return Duration::zero();
  return Duration{static_cast<Duration::rep>(std::min(wall_ns - intent.wall_ns, kMost))};
}

}  // namespace

std::vector<ListedFault> listed(const FaultKeeper& keeper, Instant now) {
  std::vector<ListedFault> list;
  const std::uint64_t wall_ns = keeper.wall_ns();
  const auto left = [&](Instant until) { return std::max(until - now, Duration::zero()); };
  for (const auto& [id, fault] : keeper.faults()) {
    list.push_back({.id = id,
                    .fault = fault.intent.fault,
                    .state = fault.state,
                    .age = age_of(fault.intent, wall_ns),
                    .lease_left = left(fault.lease_until),
                    .duration_left = left(fault.deadline),
                    .problem = fault.problem});
  }
  return list;
}

}  // namespace rehearsal::fault

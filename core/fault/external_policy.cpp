#include "core/fault/external_policy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/base/text.hpp"
#include "core/yaml/yaml.hpp"

namespace rehearsal::fault {
namespace {

/// So that all that is told of it fits one message.
constexpr std::size_t kPolicyBytesMax = 48 * 1024;
constexpr std::size_t kPathMax = 1024;
constexpr std::uint32_t kNameLengthUsual = 32;

Failure refuse(std::string message) {
  return fail(ErrorCode::refused, ErrorSource::host, std::move(message));
}

Result<std::string> name_of(const yaml::Node& value, const std::string& name,
                            std::string_view what) {
  if (is_command_name(name)) return name;
  return value.wrong_key(in_quotes(name) + " cannot name " + std::string(what),
                         "a lower-case letter, then such letters, digits, '-' and '_', at most " +
                             std::to_string(kArgumentNameMax));
}

/// Decimal, also below zero.
Result<std::int64_t> integer(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const std::string text, node.text());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && std::to_string(value) == text)
    return value;
  return node.wrong(in_quotes(text) + " is no integer", "right would be a number like 48");
}

Result<ArgumentType> integer_type(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const auto keys, node.as_mapping({"type", "min", "max"}));
  IntegerArgument range;
  ASSIGN_OR_RETURN(const auto min, keys.required("min"));
  ASSIGN_OR_RETURN(const auto max, keys.required("max"));
  ASSIGN_OR_RETURN(range.min, integer(min));
  ASSIGN_OR_RETURN(range.max, integer(max));
  if (range.min > range.max) return max.wrong("is less than min", "right would be at least min");
  return range;
}

Result<ArgumentType> word_type(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const auto keys, node.as_mapping({"type", "words"}));
  ASSIGN_OR_RETURN(const auto words, keys.required("words"));
  ASSIGN_OR_RETURN(const auto items, words.items());
  if (items.empty() || items.size() > kArgumentWordsMax)
    return words.wrong(std::to_string(items.size()) + " words",
                       "right would be 1 to " + std::to_string(kArgumentWordsMax));
  WordArgument type;
  for (const yaml::Node& item : items) {
    ASSIGN_OR_RETURN(std::string word, item.text());
    if (!is_safe_word(word))
      return item.wrong(in_quotes(word) + " cannot be an argument",
                        "letters, digits and . _ : / -, beginning with a letter or digit, without "
                        ".., at most " +
                            std::to_string(kArgumentValueMax));
    if (std::ranges::count(type.one_of, word) != 0)
      return item.wrong(in_quotes(word) + " stands here twice", {});
    type.one_of.push_back(std::move(word));
  }
  return type;
}

Result<ArgumentType> name_type(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const auto keys, node.as_mapping({"type", "length_max"}));
  NameArgument type{.length_max = kNameLengthUsual};
  if (const auto most = keys.optional("length_max")) {
    ASSIGN_OR_RETURN(type.length_max, most->integer32(1, kArgumentValueMax));
  }
  return type;
}

Result<ArgumentType> argument_type(const yaml::Node& node) {
  static constexpr std::array<std::string_view, 3> kTypes = {"integer", "one_of", "name"};
  ASSIGN_OR_RETURN(const auto entries, node.entries());
  for (const auto& [key, value] : entries) {
    if (key != "type") continue;
    ASSIGN_OR_RETURN(const std::size_t type, value.one_of_words(kTypes));
    if (type == 0) return integer_type(node);
    return type == 1 ? word_type(node) : name_type(node);
  }
  return node.wrong("key 'type' is missing", "right would be integer, one_of or name");
}

Result<std::vector<ArgumentRule>> argument_rules(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const auto entries, node.entries());
  if (entries.size() > kArgumentsMax)
    return node.wrong("more than " + std::to_string(kArgumentsMax) + " arguments", {});
  std::vector<ArgumentRule> rules;
  for (const auto& [name, value] : entries) {
    ArgumentRule rule;
    ASSIGN_OR_RETURN(rule.name, name_of(value, name, "an argument"));
    ASSIGN_OR_RETURN(rule.type, argument_type(value));
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::string> executable_path(const yaml::Node& node) {
  ASSIGN_OR_RETURN(std::string path, node.text());
  const bool plain = std::ranges::all_of(
      path, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F; });
  if (plain && path.starts_with('/') && !path.ends_with('/') && path.size() <= kPathMax)
    return path;
  return node.wrong(in_quotes(path) + " is not the path of a program",
                    "right would be an absolute path, like /usr/local/lib/rehearsal/port-down; "
                    "arguments stand under arguments");
}

Result<void> take_limit(const yaml::Mapping& keys, std::string_view key, Duration& limit) {
  const auto node = keys.optional(key);
  if (!node) return {};
  ASSIGN_OR_RETURN(limit, node->duration());
  if (limit > Duration::zero() && limit <= kCommandLimitMost) return {};
  return node->wrong("is " + format_duration_exact(limit),
                     "right would be above 0s up to " + format_duration_exact(kCommandLimitMost));
}

Result<CommandLimits> command_limits(const yaml::Node& node) {
  ASSIGN_OR_RETURN(const auto keys, node.as_mapping({"check", "apply", "undo"}));
  CommandLimits limits;
  RETURN_IF_ERROR(take_limit(keys, "check", limits.check));
  RETURN_IF_ERROR(take_limit(keys, "apply", limits.apply));
  RETURN_IF_ERROR(take_limit(keys, "undo", limits.undo));
  return limits;
}

/// Looked at, done, read back; and where that is not as it should be, undone: looked at, undone,
/// read back.
Duration time_of(const CommandLimits& limits) {
  return 4 * limits.check + limits.apply + limits.undo;
}

Result<AllowedCommand> allowed_command(const std::string& name, const yaml::Node& node) {
  AllowedCommand command;
  ASSIGN_OR_RETURN(command.told.name, name_of(node, name, "a command"));
  ASSIGN_OR_RETURN(const auto keys,
                   node.as_mapping({"executable", "arguments", "limits", "duration_max"}));
  ASSIGN_OR_RETURN(const auto executable, keys.required("executable"));
  ASSIGN_OR_RETURN(command.executable, executable_path(executable));
  if (const auto arguments = keys.optional("arguments")) {
    ASSIGN_OR_RETURN(command.told.arguments, argument_rules(*arguments));
  }
  if (const auto limits = keys.optional("limits")) {
    ASSIGN_OR_RETURN(command.limits, command_limits(*limits));
  }
  command.told.time_max = time_of(command.limits);
  ASSIGN_OR_RETURN(const auto longest, keys.required("duration_max"));
  ASSIGN_OR_RETURN(command.told.duration_max, longest.duration());
  if (command.told.duration_max <= Duration::zero() ||
      command.told.duration_max > kFaultDurationMost)
    return longest.wrong(
        "is " + format_duration_exact(command.told.duration_max),
        "right would be above 0s up to " + format_duration_exact(kFaultDurationMost));
  return command;
}

}  // namespace

Duration CommandLimits::of(Verb verb) const {
  switch (verb) {
    case Verb::apply:
      return apply;
    case Verb::undo:
      return undo;
    case Verb::check:
      break;
  }
  return check;
}

const AllowedCommand* ExternalPolicy::find(std::string_view name) const {
  const auto found = std::ranges::find_if(
      commands, [&](const AllowedCommand& command) { return command.told.name == name; });
  return found == commands.end() ? nullptr : &*found;
}

Result<ExternalPolicy> read_external_policy(std::string_view text, std::string file_name) {
  if (text.size() > kPolicyBytesMax)
    return fail(ErrorCode::too_large, ErrorSource::config,
                file_name + ": a policy of commands may have 48 KiB");
  ASSIGN_OR_RETURN(const auto document, yaml::parse(text, std::move(file_name)));
  ASSIGN_OR_RETURN(const auto keys,
                   document.root().as_mapping({"agent", "commands", "test_stops"}));
  ExternalPolicy policy;
  if (const auto node = keys.optional("agent")) {
    ASSIGN_OR_RETURN(policy.agent, node->text());
  }
  if (const auto node = keys.optional("test_stops")) {
    ASSIGN_OR_RETURN(policy.test_stops, node->boolean());
  }
  const auto commands = keys.optional("commands");
  if (!commands) return policy;
  ASSIGN_OR_RETURN(const auto entries, commands->entries());
  if (entries.size() > kCommandsMax)
    return commands->wrong("more than " + std::to_string(kCommandsMax) + " commands", {});
  for (const auto& [name, value] : entries) {
    ASSIGN_OR_RETURN(policy.commands.emplace_back(), allowed_command(name, value));
  }
  return policy;
}

Result<KernelFault> decide(const ExternalPolicy& policy, const FaultRequest& request) {
  const auto* asked = std::get_if<ExternalCall>(&request.fault.effect);
  if (asked == nullptr || !request.fault.interface.empty())
    return fail(ErrorCode::unsupported, ErrorSource::host,
                "this is rehearsal-external: it runs operators' commands, and does nothing to the "
                "kernel's network");
  const AllowedCommand* command = policy.find(asked->command);
  if (command == nullptr)
    return refuse("this host's policy does not allow the command " + in_quotes(asked->command));
  ASSIGN_OR_RETURN(ExternalCall call, fit(command->told, *asked));
  RETURN_IF_ERROR(check_times(request, command->told.duration_max));
  return KernelFault{.interface = {}, .direction = Direction::both, .effect = std::move(call)};
}

}  // namespace rehearsal::fault

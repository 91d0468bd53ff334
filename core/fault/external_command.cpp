#include "core/fault/external_command.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/text.hpp"

namespace rehearsal::fault {
namespace {

constexpr std::string_view kNameRule =
    "a lower-case letter, then such letters, digits, '-' and '_', at most 32";
constexpr std::string_view kWordRule =
    "letters, digits and . _ : / -, beginning with a letter or digit, without .., at most 64";

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

Failure refuse(std::string message) {
  return fail(ErrorCode::refused, ErrorSource::config, std::move(message));
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c); }

/// Spelled in the one way that to_string() has, so that the same call always reads the same.
std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (std::to_string(value) != text) return std::nullopt;
  return value;
}

bool is_of(const ArgumentType& type, const std::string& value) {
  return std::visit(Overloaded{[&](const IntegerArgument& range) {
                                 const auto integer = integer_of(value);
                                 return integer && *integer >= range.min && *integer <= range.max;
                               },
                               [&](const WordArgument& words) {
                                 return std::ranges::count(words.one_of, value) != 0;
                               },
                               [&](const NameArgument& name) {
                                 return is_safe_word(value) && value.size() <= name.length_max;
                               }},
                    type);
}

std::string known_arguments(const ExternalCommand& command) {
  if (command.arguments.empty()) return "none: it has no arguments";
  std::vector<std::string> names;
  for (const ArgumentRule& rule : command.arguments) names.push_back(rule.name);
  return joined(names);
}

}  // namespace

std::string_view to_string(Verb verb) {
  switch (verb) {
    case Verb::apply:
      return "apply";
    case Verb::undo:
      return "undo";
    case Verb::check:
      return "check";
  }
  return "?";
}

const ExternalCommand* ExternalOffer::find(std::string_view name) const {
  const auto found = std::ranges::find(commands, name, &ExternalCommand::name);
  return found == commands.end() ? nullptr : &*found;
}

bool is_command_name(std::string_view name) {
  if (name.empty() || name.size() > kArgumentNameMax || !is_lower(name.front())) return false;
  return std::ranges::all_of(
      name, [](char c) { return is_lower(c) || is_digit(c) || c == '-' || c == '_'; });
}

bool is_safe_word(std::string_view text) {
  if (text.empty() || text.size() > kArgumentValueMax || !is_letter_or_digit(text.front()))
    return false;
  if (text.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '_' || c == ':' || c == '/' || c == '-';
  });
}

Result<void> check(const ExternalCall& call) {
  const auto wrong = [](const std::string& what, std::string_view right) {
    return invalid(what + "; right would be " + std::string(right));
  };
  if (!is_command_name(call.command))
    return wrong(in_quotes(call.command) + " cannot name a command", kNameRule);
  if (call.arguments.size() > kArgumentsMax)
    return wrong(std::to_string(call.arguments.size()) + " arguments",
                 "at most " + std::to_string(kArgumentsMax));
  std::size_t bytes = call.command.size();
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const ExternalArgument& argument = call.arguments[i];
    if (!is_command_name(argument.name))
      return wrong(in_quotes(argument.name) + " cannot name an argument", kNameRule);
    const auto before = call.arguments.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find_if(call.arguments.begin(), before, [&](const ExternalArgument& other) {
          return other.name == argument.name;
        }) != before)
      return wrong("argument " + in_quotes(argument.name) + " stands there twice", "once");
    if (!is_safe_word(argument.value) && !integer_of(argument.value))
      return wrong("argument " + in_quotes(argument.name) + " is " + in_quotes(argument.value),
                   "an integer, or " + std::string(kWordRule));
    bytes += argument.name.size() + argument.value.size();
  }
  if (bytes > kCallBytesMax)
    return wrong(std::to_string(bytes) + " bytes of names and values",
                 "at most " + std::to_string(kCallBytesMax));
  return {};
}

Result<ExternalCall> fit(const ExternalCommand& command, const ExternalCall& asked) {
  RETURN_IF_ERROR(check(asked));
  for (const ExternalArgument& argument : asked.arguments) {
    if (std::ranges::find(command.arguments, argument.name, &ArgumentRule::name) ==
        command.arguments.end())
      return refuse("command " + in_quotes(command.name) + " has no argument " +
                    in_quotes(argument.name) + "; known are " + known_arguments(command));
  }
  ExternalCall call{.command = command.name, .arguments = {}};
  for (const ArgumentRule& rule : command.arguments) {
    const auto given = std::ranges::find(asked.arguments, rule.name, &ExternalArgument::name);
    if (given == asked.arguments.end())
      return refuse("argument " + in_quotes(rule.name) + " of command " + in_quotes(command.name) +
                    " is missing; right would be " + describe(rule.type));
    if (!is_of(rule.type, given->value))
      return refuse("argument " + in_quotes(rule.name) + " of command " + in_quotes(command.name) +
                    " is " + in_quotes(given->value) + "; right would be " + describe(rule.type));
    call.arguments.push_back(*given);
  }
  return call;
}

std::string describe(const ExternalCall& call) {
  std::string text = call.command;
  for (const ExternalArgument& argument : call.arguments)
    text += " --" + argument.name + "=" + argument.value;
  return text;
}

std::string describe(const ArgumentType& type) {
  return std::visit(
      Overloaded{[](const IntegerArgument& range) {
                   return "an integer from " + std::to_string(range.min) + " to " +
                          std::to_string(range.max);
                 },
                 [](const WordArgument& words) { return "one of " + joined(words.one_of); },
                 [](const NameArgument& name) {
                   return "letters, digits and . _ : / -, beginning with a letter or digit, "
                          "without .., at most " +
                          std::to_string(name.length_max);
                 }},
      type);
}

}  // namespace rehearsal::fault

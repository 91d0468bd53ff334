#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace rehearsal::fault {

/// One argument of an operator's command, as it stands in its argument vector: `--port=7`.
struct ExternalArgument {
  std::string name;
  std::string value;
  bool operator==(const ExternalArgument&) const = default;
};

/// Which command of an operator's own, and with what. Never a shell's string.
struct ExternalCall {
  std::string command;
  std::vector<ExternalArgument> arguments;
  bool operator==(const ExternalCall&) const = default;
};

/// What a command is asked to do; its first argument.
enum class Verb : std::uint8_t { apply, undo, check };
inline constexpr std::array kVerbs = {Verb::apply, Verb::undo, Verb::check};
std::string_view to_string(Verb verb);

/// What an argument may be.
struct IntegerArgument {
  std::int64_t min = 0;
  std::int64_t max = 0;
  bool operator==(const IntegerArgument&) const = default;
};
struct WordArgument {
  std::vector<std::string> one_of;
  bool operator==(const WordArgument&) const = default;
};
/// Letters, digits and `. _ : / -`, beginning with a letter or digit, without `..`.
struct NameArgument {
  std::uint32_t length_max = 0;
  bool operator==(const NameArgument&) const = default;
};
using ArgumentType = std::variant<IntegerArgument, WordArgument, NameArgument>;

struct ArgumentRule {
  std::string name;
  ArgumentType type;
  bool operator==(const ArgumentRule&) const = default;
};

/// A command that a host allows, as others are told of it.
struct ExternalCommand {
  std::string name;
  std::vector<ArgumentRule> arguments;
  Duration duration_max{};  ///< the longest that one fault may last
  /// Whoever asks for it, or for its undoing, may wait so long for the answer: every limit of the
  /// host's policy used up.
  Duration time_max{};
  std::string problem;  ///< why it cannot be run now; empty: it can
  bool operator==(const ExternalCommand&) const = default;
};

/// What a host lets others run, as its rehearsal-external says.
struct ExternalOffer {
  bool runner = false;  ///< there is one, and it talks to the agent
  std::vector<ExternalCommand> commands = {};
  /// No host was asked: whatever may be somewhere is taken to be there.
  bool is_assumed = false;
  bool operator==(const ExternalOffer&) const = default;

  const ExternalCommand* find(std::string_view name) const;
};

/// Caps, whatever a policy says.
inline constexpr std::size_t kCommandsMax = 32;
inline constexpr std::size_t kArgumentsMax = 8;
inline constexpr std::size_t kArgumentWordsMax = 256;
inline constexpr std::size_t kArgumentNameMax = 32;   ///< bytes; of a command's name too
inline constexpr std::size_t kArgumentValueMax = 64;  ///< bytes
inline constexpr std::size_t kCallBytesMax = 384;     ///< of all names and values of a call
inline constexpr Duration kCommandLimitMost = std::chrono::seconds{10};

/// A lower-case letter, then such letters, digits, '-' and '_'.
bool is_command_name(std::string_view name);
/// As NameArgument says, at most kArgumentValueMax long.
bool is_safe_word(std::string_view text);

/// Whether it could be a call of any command: names, values without a character that could mean
/// something, caps. The message says what would be right.
Result<void> check(const ExternalCall& call);

/// The call with its arguments in the command's order. Refused, with what would be right: an
/// argument that the command does not have, that is missing, or that is not of its type.
Result<ExternalCall> fit(const ExternalCommand& command, const ExternalCall& asked);

/// "port_down --switch=leaf1 --port=7".
std::string describe(const ExternalCall& call);
/// "an integer from 1 to 48": what would be right.
std::string describe(const ArgumentType& type);

}  // namespace rehearsal::fault

#include "cli/usage.hpp"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "core/base/text.hpp"

namespace rehearsal::cli {
namespace {

using Names = std::vector<std::string>;

Names commands_of(const CLI::App& app) {
  Names names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// "--json" of a command, and of those above it.
Names options_of(const CLI::App* app) {
  Names names;
  for (; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The innermost command that was named.
const CLI::App& named_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string unknown(const std::string& what, const std::string& written, const Names& names) {
  const std::vector<std::string_view> words(names.begin(), names.end());
  std::string text = "no " + what + " " + in_quotes(written);
  if (const std::string_view meant = closest(written, words); !meant.empty())
    return text + "; did you mean " + in_quotes(meant) + "?";
  return text + "; there are " + joined(words);
}

/// "rehearse profile".
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent == nullptr ? "" : full_name(*parent) + " ") + command.get_name();
}

}  // namespace

std::string usage_error_text(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = named_command(app);
  const Names commands = commands_of(command);
  const Names left = app.remaining(true);
  const bool may_be_a_word_left = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                                  dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (may_be_a_word_left && !left.empty()) {
    const std::string& word = left.front();
    if (word.starts_with('-'))
      return unknown("option", word.substr(0, word.find('=')), options_of(&command));
    if (!commands.empty()) return unknown("command", word, commands);
    return in_quotes(word) + " is one word too many for " + full_name(command);
  }
  if (!commands.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    const std::vector<std::string_view> words(commands.begin(), commands.end());
    return "no command given; there are " + joined(words);
  }
  return error.what();
}

}  // namespace rehearsal::cli

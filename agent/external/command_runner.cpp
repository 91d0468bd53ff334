#include "agent/external/command_runner.hpp"

#include <string>
#include <vector>

#include "agent/external/command_process.hpp"
#include "agent/keeper/trusted_file.hpp"
#include "core/base/text.hpp"

namespace rehearsal::agent {
namespace {

/// As it may stand in a message: it is anything, and may end in the middle of a character.
std::string ascii(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return text;
}

std::string first_line(const std::string& output) {
  return ascii(output.substr(0, output.find('\n')));
}

/// What programs say last is the cause; what comes before may be a greeting.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return ascii(text.substr(text.rfind('\n') + 1));
}

/// What it said, on both its outputs.
std::string said(const CommandResult& ended) {
  std::vector<std::string> lines;
  for (const std::string& line : {first_line(ended.output), last_line(ended.errors)}) {
    if (!line.empty()) lines.push_back(in_quotes(line));
  }
  return lines.empty() ? ", and said nothing" : ": " + joined(lines);
}

}  // namespace

Result<CommandResult> CommandRunner::ended(fault::Verb verb, const fault::ExternalCall& call) {
  const std::string what = std::string(to_string(verb)) + " of " + describe(call);
  ASSIGN_OR_RETURN(const fault::ExternalPolicy policy, read_external_policy_file(policy_));
  const fault::AllowedCommand* command = policy.find(call.command);
  if (command == nullptr) {
    return fail(ErrorCode::refused, ErrorSource::host,
                what + ": the policy does not name the command " + in_quotes(call.command));
  }
  const auto program = trusted_program(command->executable);
  if (!program) return tl::unexpected(program.error().within(what));
  CommandOptions options{.program = *program,
                         .name = command->executable,
                         .arguments = {std::string(to_string(verb))},
                         .limit = command->limits.of(verb),
                         .input = folder_ / "input"};
  for (const fault::ExternalArgument& argument : call.arguments)
    options.arguments.push_back("--" + argument.name + "=" + argument.value);
  auto ended = run_command(options);
  if (!ended) return tl::unexpected(ended.error().within(what));
  if (ended->exit_code == 0) return ended;
  return fail(ErrorCode::system, ErrorSource::host,
              what + " ended with " + std::to_string(ended->exit_code) + said(*ended));
}

Result<fault::Finding> CommandRunner::check(const fault::ExternalCall& call) {
  using fault::Finding;
  using fault::Standing;
  ASSIGN_OR_RETURN(const CommandResult done, ended(fault::Verb::check, call));
  const std::string line = first_line(done.output);
  const std::string word = line.substr(0, line.find_first_of(" \t\r"));
  if (word == "applied") return Finding{Standing::ours, {}};
  if (word == "clear") return Finding{Standing::untouched, {}};
  if (word == "changed") return Finding{Standing::foreign, "check says " + in_quotes(line)};
  return fail(
      ErrorCode::protocol, ErrorSource::host,
      "check of " + describe(call) + " says neither applied, clear nor changed" + said(done));
}

Result<void> CommandRunner::run(const fault::RunCommand& act) {
  return ended(act.verb, act.call).map([](const CommandResult&) {});
}

}  // namespace rehearsal::agent

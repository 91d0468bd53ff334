#include "agent/external/command_runner.hpp"

#include <algorithm>

#include "agent/external/command_process.hpp"
#include "agent/keeper/trusted_file.hpp"
#include "core/base/text.hpp"

namespace rehearsal::agent {
namespace {

/// Its first line, as it may stand in a message.
std::string first_line(const std::string& output) { return output.substr(0, output.find('\n')); }

std::string said(const std::string& output) {
  const std::string line = first_line(output);
  return line.empty() ? ", and said nothing" : ": " + in_quotes(line);
}

}  // namespace

Result<std::string> CommandRunner::output_of(fault::Verb verb, const fault::ExternalCall& call) {
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
                         .arguments = {std::string(to_string(verb))},
                         .limit = command->limits.of(verb),
                         .input = folder_ / "input"};
  for (const fault::ExternalArgument& argument : call.arguments)
    options.arguments.push_back("--" + argument.name + "=" + argument.value);
  const auto ended = run_command(options);
  if (!ended) return tl::unexpected(ended.error().within(what));
  if (ended->exit_code == 0) return ended->output;
  return fail(ErrorCode::system, ErrorSource::host,
              what + " ended with " + std::to_string(ended->exit_code) + said(ended->output));
}

Result<fault::Finding> CommandRunner::check(const fault::ExternalCall& call) {
  using fault::Finding;
  using fault::Standing;
  ASSIGN_OR_RETURN(const std::string output, output_of(fault::Verb::check, call));
  const std::string line = first_line(output);
  const std::string word = line.substr(0, line.find_first_of(" \t\r"));
  if (word == "applied") return Finding{Standing::ours, {}};
  if (word == "clear") return Finding{Standing::untouched, {}};
  if (word == "changed") return Finding{Standing::foreign, "check says " + in_quotes(line)};
  return fail(
      ErrorCode::protocol, ErrorSource::host,
      "check of " + describe(call) + " says neither applied, clear nor changed" + said(output));
}

Result<void> CommandRunner::run(const fault::RunCommand& act) {
  return output_of(act.verb, act.call).map([](const std::string&) {});
}

}  // namespace rehearsal::agent

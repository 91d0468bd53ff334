#include "agent/external/external_policy_file.hpp"

#include "agent/keeper/trusted_file.hpp"

namespace rehearsal::agent {

Result<fault::ExternalPolicy> read_external_policy_file(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_trusted_file(path));
  return fault::read_external_policy(text, path.string());
}

fault::ExternalPolicy ExternalPolicyFile::policy_or_none() const {
  return read_external_policy_file(path_).value_or(fault::ExternalPolicy{});
}

Result<void> ExternalPolicyFile::check() {
  ASSIGN_OR_RETURN(const fault::ExternalPolicy policy, read_external_policy_file(path_));
  for (const fault::AllowedCommand& command : policy.commands) {
    const auto program = trusted_program(command.executable);
    if (!program) {
      return tl::unexpected(program.error().within(path_.string() + ": commands." +
                                                   command.told.name + ".executable"));
    }
  }
  return {};
}

bool ExternalPolicyFile::may_connect(uid_t uid) {
  return agent::may_connect(policy_or_none().agent, uid);
}

fault::WelcomeReply ExternalPolicyFile::welcome(fault::FaultKeeper& keeper) {
  fault::WelcomeReply welcome{.version = fault::kHelperVersion,
                              .faults = {},
                              .interfaces = {},
                              .protected_interfaces = {},
                              .commands = {},
                              .blocked = keeper.blocked()};
  for (fault::AllowedCommand& command : policy_or_none().commands) {
    const auto program = trusted_program(command.executable);
    if (!program) command.told.problem = program.error().text();
    welcome.commands.push_back(std::move(command.told));
  }
  return welcome;
}

Result<std::uint64_t> ExternalPolicyFile::apply(fault::FaultKeeper& keeper, fault::OwnerId owner,
                                                const fault::FaultRequest& request, Instant now) {
  const auto policy = read_external_policy_file(path_);
  if (!policy) {
    return tl::unexpected(policy.error().within("without a policy no command is run"));
  }
  return keeper.apply(owner, request, *policy, now);
}

}  // namespace rehearsal::agent

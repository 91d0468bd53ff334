#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>

#include "agent/external/command_runner.hpp"
#include "agent/keeper/program.hpp"
#include "runtime/exit_status.hpp"

namespace rehearsal::agent {
namespace {

int run_main(int argc, char** argv) {
  KeeperFlags flags{
      .name = "rehearsal-external",
      .version = REHEARSAL_VERSION,
      .description =
          "Runs the commands of this host's operator that its policy names as faults, "
          "for what only a switch can do, and undoes them.",
      .options = {.policy = "/etc/rehearsal/external-policy.yaml",
                  .state = "/var/lib/rehearsal-external",
                  .socket = "/run/rehearsal-external/socket"}};
  if (const auto code = read_flags(argc, argv, flags)) return *code;
  // Where whoever starts this ignores it, no exit code of a command would be known.
  ::signal(SIGCHLD, SIG_DFL);
  // Whatever a command leaves behind becomes a child of this, and is killed.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ExternalPolicyFile policy(flags.options.policy);
  std::optional<CommandRunner> commands;
  fault::NoKernel kernel;
  return run_keeper(flags, policy, [&](const KeeperOptions& options) -> Result<KeeperParts> {
    commands.emplace(options.policy, options.state);
    return KeeperParts{.kernel = kernel, .commands = &*commands, .policy = policy};
  });
}

}  // namespace
}  // namespace rehearsal::agent

int main(int argc, char** argv) {
  try {
    return rehearsal::agent::run_main(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rehearsal-external: %s\n", failure.what());
    return rehearsal::runtime::kExitUnavailable;
  }
}

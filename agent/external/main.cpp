#include <cstdio>
#include <exception>

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
  ExternalPolicyFile policy(flags.options.policy);
  CommandRunner commands(flags.options.policy, flags.options.state);
  fault::NoKernel kernel;
  return run_keeper(flags, {.kernel = kernel, .commands = &commands, .policy = policy});
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

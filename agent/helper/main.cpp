#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include "agent/helper/helper_policy.hpp"
#include "agent/helper/kernel_network.hpp"
#include "agent/keeper/program.hpp"
#include "runtime/exit_status.hpp"

namespace rehearsal::agent {
namespace {

int run_main(int argc, char** argv) {
  KeeperFlags flags{
      .name = "rehearsal-helper",
      .version = REHEARSAL_VERSION,
      .description =
          "The privileged part of Rehearsal's faults: does to this host's network what "
          "its policy allows, and undoes it.",
      .options = {.policy = "/etc/rehearsal/helper-policy.yaml",
                  .state = "/var/lib/rehearsal-helper",
                  .socket = "/run/rehearsal-helper/socket"}};
  if (const auto code = read_flags(argc, argv, flags)) return *code;
  HelperPolicy policy(flags.options.policy);
  std::optional<KernelNetwork> kernel;
  return run_keeper(flags, policy, [&](const KeeperOptions&) -> Result<KeeperParts> {
    ASSIGN_OR_RETURN(auto opened, KernelNetwork::open());
    kernel.emplace(std::move(opened));
    return KeeperParts{.kernel = *kernel, .policy = policy};
  });
}

}  // namespace
}  // namespace rehearsal::agent

int main(int argc, char** argv) {
  try {
    return rehearsal::agent::run_main(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rehearsal-helper: %s\n", failure.what());
    return rehearsal::runtime::kExitUnavailable;
  }
}

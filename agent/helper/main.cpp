#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "agent/helper/helper.hpp"
#include "agent/keeper/policy_file.hpp"
#include "runtime/exit_status.hpp"

namespace rehearsal::agent {
namespace {

struct Flags {
  std::string policy;
  std::string state;
  std::string socket;
  bool undo_all = false;
  bool accept_stuck = false;
  bool check = false;
};

int complain(const Error& error) {
  std::fprintf(stderr, "rehearsal-helper: %s\n", error.text().c_str());
  return error.code == ErrorCode::invalid_input ? runtime::kExitUsage : runtime::kExitUnavailable;
}

int check_policy(const HelperOptions& options) {
  const auto policy = read_policy_file(options.policy);
  if (!policy) return complain(policy.error());
  std::printf("%s is in order\n", options.policy.c_str());
  return runtime::kExitOk;
}

int run_main(int argc, char** argv) {
  HelperOptions options;
  CLI::App app{
      "The privileged part of Rehearsal's faults: does to this host's network what its policy "
      "allows, "
      "and undoes it."};
  Flags flags;
  app.add_option("--policy", flags.policy, "the host's policy (docs/operations.md)");
  app.add_option("--state", flags.state, "folder of the journal");
  app.add_option("--socket", flags.socket, "where the agent asks");
  auto* undo = app.add_flag("--undo-all", flags.undo_all,
                            "undo every fault of this host, say how each ended, and end");
  app.add_flag("--accept-stuck", flags.accept_stuck,
               "with --undo-all: close what cannot be undone, and leave it as it is")
      ->needs(undo);
  app.add_flag("--check", flags.check, "say whether the policy is in order, and end");
  app.set_version_flag("--version", "rehearsal-helper " REHEARSAL_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? runtime::kExitOk : runtime::kExitUsage;
  }
  if (!flags.policy.empty()) options.policy = flags.policy;
  if (!flags.state.empty()) options.state = flags.state;
  if (!flags.socket.empty()) options.socket = flags.socket;
  if (flags.check) return check_policy(options);
  if (flags.undo_all) {
    const auto code = undo_all(options, flags.accept_stuck);
    return code ? *code : complain(code.error());
  }
  const auto done = run_helper(options);
  return done ? runtime::kExitOk : complain(done.error());
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

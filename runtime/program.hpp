#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/log.hpp"

namespace rehearsal::runtime {

/// What a daemon is on the command line. `Config` has a `log` threshold.
template <typename Config>
struct Program {
  std::string name;                             ///< "rehearsald", in front of errors
  CLI::App app;                                 ///< with the program's options
  std::function<Result<Config>()> read_config;  ///< after the options are read
  std::function<Result<void>(const Config&)> run;
  /// A subcommand that was given in place of running as a daemon: its exit status. May be empty.
  std::function<std::optional<int>()> instead = nullptr;
};

/// Reads options and configuration, runs, and turns the outcome into an exit status
/// (runtime/exit_status.hpp): what is wrong goes to standard error, before logging starts as it is,
/// then as a line of the log.
template <typename Config>
int run_program(Program<Config>& program, int argc, char** argv) try {
  try {
    program.app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return program.app.exit(problem) == 0 ? kExitOk : kExitUsage;
  }
  if (const std::optional<int> status = program.instead ? program.instead() : std::nullopt) {
    return *status;
  }
  const Result<Config> config = program.read_config();
  if (!config) {
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), config.error().text().c_str());
    return kExitUsage;
  }
  const Logging logging(config->log);
  const Result<void> done = program.run(*config);
  if (done) return kExitOk;
  log_error(done.error().text());
  return done.error().code == ErrorCode::invalid_input ? kExitUsage : kExitUnavailable;
} catch (const std::exception& failure) {
  std::fprintf(stderr, "%s: %s\n", program.name.c_str(), failure.what());
  return kExitUnavailable;
}

}  // namespace rehearsal::runtime

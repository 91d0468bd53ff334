#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "daemon/config.hpp"
#include "daemon/rehearsald.hpp"
#include "runtime/config.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/log.hpp"

namespace rehearsal::daemon {
namespace {

struct Flags {
  std::string config;
  std::string listen;
  std::string metrics;
  std::string store;
  std::string announce;
};

/// Defaults, then the file, then flags.
Result<Config> read_config(const Flags& flags) {
  Config config;
  if (!flags.config.empty()) {
    ASSIGN_OR_RETURN(const auto document, runtime::load_config(flags.config));
    RETURN_IF_ERROR(apply(document, config));
  }
  if (!flags.listen.empty()) {
    ASSIGN_OR_RETURN(config.listen, runtime::parse_listen_endpoint(flags.listen));
  }
  if (!flags.metrics.empty()) {
    ASSIGN_OR_RETURN(config.metrics, runtime::parse_listen_endpoint(flags.metrics));
  }
  if (!flags.store.empty()) config.store = flags.store;
  if (!flags.announce.empty()) config.announce = flags.announce;
  return config;
}

int run_main(int argc, char** argv) {
  CLI::App app{"The coordinator of Rehearsal: knows the agents, plans drills, keeps runs in step."};
  Flags flags;
  app.add_option("--config", flags.config, "configuration file (docs/operations.md)");
  app.add_option("--listen", flags.listen, "where agents and operators connect: ADDR:PORT");
  app.add_option("--metrics", flags.metrics, "where /metrics and /healthz are served: ADDR:PORT");
  app.add_option("--store", flags.store, "folder that keeps the runs");
  app.add_option("--announce", flags.announce, "write the addresses really bound to this file");
  app.set_version_flag("--version", "rehearsald " REHEARSAL_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? runtime::kExitOk : runtime::kExitUsage;
  }
  const auto config = read_config(flags);
  if (!config) {
    std::fprintf(stderr, "rehearsald: %s\n", config.error().text().c_str());
    return runtime::kExitUsage;
  }
  const runtime::Logging logging(config->log);
  const auto done = run(*config);
  if (done) return runtime::kExitOk;
  runtime::log_error(done.error().text());
  return done.error().code == ErrorCode::invalid_input ? runtime::kExitUsage
                                                       : runtime::kExitUnavailable;
}

}  // namespace
}  // namespace rehearsal::daemon

int main(int argc, char** argv) {
  try {
    return rehearsal::daemon::run_main(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "rehearsald: %s\n", failure.what());
    return rehearsal::runtime::kExitUnavailable;
  }
}

#include "daemon/config.hpp"
#include "daemon/rehearsald.hpp"
#include "runtime/config.hpp"
#include "runtime/program.hpp"

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

}  // namespace
}  // namespace rehearsal::daemon

int main(int argc, char** argv) {
  using namespace rehearsal;
  daemon::Flags flags;
  runtime::Program<daemon::Config> program{
      .name = "rehearsald",
      .app = CLI::App(
          "The coordinator of Rehearsal: knows the agents, plans drills, keeps runs in step."),
      .read_config = [&flags] { return daemon::read_config(flags); },
      .run = daemon::run,
  };
  program.app.add_option("--config", flags.config, "configuration file (docs/operations.md)");
  program.app.add_option("--listen", flags.listen, "where agents and operators connect: ADDR:PORT");
  program.app.add_option("--metrics", flags.metrics,
                         "where /metrics and /healthz are served: ADDR:PORT");
  program.app.add_option("--store", flags.store, "folder that keeps the runs");
  program.app.add_option("--announce", flags.announce,
                         "write the addresses really bound to this file");
  program.app.set_version_flag("--version", "rehearsald " REHEARSAL_VERSION);
  return runtime::run_program(program, argc, argv);
}

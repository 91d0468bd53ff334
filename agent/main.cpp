#include "agent/control/config.hpp"
#include "agent/control/rehearsal_agent.hpp"
#include "runtime/config.hpp"
#include "runtime/program.hpp"

namespace rehearsal::agent {
namespace {

struct Flags {
  std::string config;
  std::string coordinator;
  std::string name;
  std::vector<std::string> nics;
  std::string metrics;
  std::string announce;
};

/// Defaults, then the file, then flags.
Result<Config> read_config(const Flags& flags) {
  Config config;
  if (!flags.config.empty()) {
    ASSIGN_OR_RETURN(const auto document, runtime::load_config(flags.config));
    RETURN_IF_ERROR(apply(document, config));
  }
  if (!flags.coordinator.empty()) {
    ASSIGN_OR_RETURN(config.coordinator, runtime::parse_endpoint(flags.coordinator));
  }
  if (!flags.name.empty()) config.name = flags.name;
  if (!flags.nics.empty()) config.nics.clear();
  for (const std::string& text : flags.nics) {
    ASSIGN_OR_RETURN(auto choice, parse_nic_choice(text));
    config.nics.push_back(std::move(choice));
  }
  if (!flags.metrics.empty()) {
    ASSIGN_OR_RETURN(config.metrics, runtime::parse_listen_endpoint(flags.metrics));
  }
  if (!flags.announce.empty()) config.announce = flags.announce;
  return config;
}

}  // namespace
}  // namespace rehearsal::agent

int main(int argc, char** argv) {
  using namespace rehearsal;
  agent::Flags flags;
  runtime::Program<agent::Config> program{
      .name = "rehearsal-agent",
      .app =
          CLI::App("The agent of Rehearsal: one a host, replays its ranks' part of the traffic."),
      .read_config = [&flags] { return agent::read_config(flags); },
      .run = agent::run,
  };
  program.app.add_option("--config", flags.config, "configuration file (docs/operations.md)");
  program.app.add_option("--coordinator", flags.coordinator, "where rehearsald listens: ADDR:PORT");
  program.app.add_option("--name", flags.name,
                         "this agent's name in drills; default: the host's name");
  program.app.add_option("--nic", flags.nics, "a data NIC, in rail order: NAME or NAME=ADDRESS")
      ->allow_extra_args(false);
  program.app.add_option("--metrics", flags.metrics,
                         "where /metrics and /healthz are served: ADDR:PORT");
  program.app.add_option("--announce", flags.announce,
                         "write the addresses really bound to this file");
  program.app.set_version_flag("--version", "rehearsal-agent " REHEARSAL_VERSION);
  return runtime::run_program(program, argc, argv);
}

#include <optional>
#include <string>
#include <vector>

#include "agent/control/config.hpp"
#include "agent/control/rehearsal_agent.hpp"
#include "agent/fault/commands.hpp"
#include "agent/fault/helper_client.hpp"
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
  std::string helper;
  std::string external;
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
  if (!flags.helper.empty()) config.helper = flags.helper == "none" ? "" : flags.helper;
  if (!flags.external.empty()) config.external = flags.external == "none" ? "" : flags.external;
  if (!flags.announce.empty()) config.announce = flags.announce;
  return config;
}

/// `rehearsal-agent faults …`: for whoever stands at this host, without the coordinator.
struct FaultCommands {
  explicit FaultCommands(CLI::App& app)
      : faults(app.add_subcommand(
            "faults",
            "faults of this host that outlive the agent: those of its helper, and "
            "of rehearsal-external")),
        undo(faults->add_subcommand("undo", "undo them all")),
        list(faults->add_subcommand("list", "show those that are on")),
        clear(faults->add_subcommand(
            "clear", "close those that somebody else changed; their changes stay")) {
    faults->require_subcommand(1);
    faults->add_option("--socket", helper, "of the helper");
    faults->add_option("--external-socket", external, "of rehearsal-external");
  }

  /// The exit code, if one of them was given.
  std::optional<int> run() const {
    if (undo->parsed()) return undo_faults(places());
    if (list->parsed()) return list_faults(places());
    if (clear->parsed()) return clear_faults(places(), false);
    return std::nullopt;
  }

  std::vector<KeeperPlace> places() const {
    return {{.program = "rehearsal-helper",
             .socket = helper,
             .state = "/var/lib/rehearsal-helper",
             .is_wanted = faults->count("--socket") > 0},
            {.program = "rehearsal-external",
             .socket = external,
             .state = "/var/lib/rehearsal-external",
             .is_wanted = faults->count("--external-socket") > 0,
             .greeting_patience = fault::kGreetingPatienceExternal}};
  }

  CLI::App* faults;
  CLI::App* undo;
  CLI::App* list;
  CLI::App* clear;
  std::string helper = kHelperSocketPath;
  std::string external = kExternalSocketPath;
};

/// `rehearsal-agent doctor`: this host alone, without the coordinator.
struct DoctorCommand {
  explicit DoctorCommand(CLI::App& app)
      : doctor(app.add_subcommand("doctor", "look for what would go wrong on this host")) {
    doctor->fallthrough();
    doctor->add_flag("--json", as_json, "as one JSON object");
  }

  /// The exit code, if it was given: 0 all well, 1 notes, 2 something bad.
  std::optional<int> run(const Flags& flags) const {
    if (!doctor->parsed()) return std::nullopt;
    const Result<Config> config = read_config(flags);
    if (!config) {
      std::fprintf(stderr, "rehearsal-agent: %s\n", config.error().text().c_str());
      return runtime::kExitUsage;
    }
    const auto findings = examine_host(*config);
    std::fputs((as_json ? host::findings_json(findings) : host::findings_text(findings)).c_str(),
               stdout);
    return static_cast<int>(host::worst(findings));
  }

  CLI::App* doctor;
  bool as_json = false;
};

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
  program.app.add_option("--helper", flags.helper,
                         "the socket of this host's rehearsal-helper, or none");
  program.app.add_option("--external", flags.external,
                         "the socket of this host's rehearsal-external, or none");
  program.app.add_option("--announce", flags.announce,
                         "write the addresses really bound to this file");
  program.app.set_version_flag("--version", "rehearsal-agent " REHEARSAL_VERSION);
  const agent::FaultCommands fault_commands(program.app);
  const agent::DoctorCommand doctor_command(program.app);
  program.instead = [&] {
    const auto status = fault_commands.run();
    return status ? status : doctor_command.run(flags);
  };
  return runtime::run_program(program, argc, argv);
}

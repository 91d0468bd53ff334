#include "agent/keeper/program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <vector>

#include "agent/fault/commands.hpp"
#include "agent/keeper/journal_file.hpp"
#include "agent/keeper/log.hpp"
#include "agent/keeper/server.hpp"
#include "agent/keeper/state_owner.hpp"
#include "agent/keeper/test_stops.hpp"
#include "runtime/clock.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/files.hpp"
#include "runtime/service_manager.hpp"

namespace rehearsal::agent {
namespace {

using Severity = fault::KeeperEvent::Severity;

constexpr const char* kBootIdPath = "/proc/sys/kernel/random/boot_id";

std::uint64_t wall_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<Duration>(now).count());
}

Result<std::string> boot_id_of_kernel() {
  ASSIGN_OR_RETURN(std::string id, runtime::read_file(kBootIdPath, Bytes{64}));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

/// A policy that cannot be used keeps nobody from undoing what is left; it only forbids all faults.
Result<TestStops> look_at_policy(const KeeperParts& parts) {
  if (const auto sound = parts.policy.check(); !sound)
    log_line(Severity::warning,
             (parts.commands == nullptr ? "no fault is allowed here: "
                                        : "not all that it names is allowed here: ") +
                 sound.error().text());
  if (!parts.policy.allows_test_stops()) return TestStops{};
  log_line(Severity::warning, "the policy allows the stops of tests");
  return test_stops_from_environment();
}

Result<fault::KeeperSetup> setup_of(const TestStops& stops, fault::CommandPort* commands) {
  fault::KeeperSetup setup{.boot_id = stops.boot_id,
                           .wall_ns = &wall_ns,
                           .on_step = stops.on_step,
                           .commands = commands};
  if (setup.boot_id.empty()) {
    ASSIGN_OR_RETURN(setup.boot_id, boot_id_of_kernel());
  }
  return setup;
}

int ask_the_one_that_runs(const KeeperOptions& options, const KeeperParts& parts,
                          bool accept_stuck) {
  const bool is_external = parts.commands != nullptr;
  const std::vector<KeeperPlace> place = {
      {.program = is_external ? "rehearsal-external" : "rehearsal-helper",
       .socket = options.socket,
       .state = options.state,
       .is_wanted = true,
       .greeting_patience =
           is_external ? fault::kGreetingPatienceExternal : fault::kGreetingPatience}};
  const int code = undo_faults(place);
  return accept_stuck ? clear_faults(place, true) : code;
}

/// A service's folder may stand in one that only root may pass: for whoever becomes its owner it is
/// the working folder, and no other path is relative.
Result<KeeperOptions> from_inside_its_folder(KeeperOptions options) {
  if (!other_owner(options.state)) return options;
  options.policy = std::filesystem::absolute(options.policy);
  options.socket = std::filesystem::absolute(options.socket);
  if (::chdir(options.state.c_str()) != 0)
    return system_failure(ErrorSource::host, "cannot enter " + options.state.string(), errno);
  options.state = ".";
  return options;
}

}  // namespace

Result<void> keep_faults(const KeeperOptions& options, const KeeperParts& parts) {
  ::umask(0077);
  ASSIGN_OR_RETURN(JournalFile journal, JournalFile::open(options.state));
  ASSIGN_OR_RETURN(const TestStops stops, look_at_policy(parts));
  journal.call_half_way(stops.on_step);
  ASSIGN_OR_RETURN(const fault::Journal left, journal.read());
  ASSIGN_OR_RETURN(fault::KeeperSetup setup, setup_of(stops, parts.commands));
  fault::FaultKeeper keeper(parts.kernel, journal, std::move(setup));
  keeper.replay(left, runtime::now());
  log_events(keeper);
  Server server(keeper, parts.policy);
  RETURN_IF_ERROR(server.listen(options.socket));
  log_line(Severity::info, "ready on " + options.socket.string());
  RETURN_IF_ERROR(server.run(runtime::ServiceManager::from_environment()));
  if (const std::string why = keeper.blocked(); !why.empty()) {
    return fail(ErrorCode::system, ErrorSource::host, why);
  }
  return {};
}

Result<int> undo_all(const KeeperOptions& options, const KeeperParts& parts, bool accept_stuck) {
  ::umask(0077);
  const std::optional<StateOwner> owner = other_owner(options.state);
  if (owner) RETURN_IF_ERROR(act_as(*owner));
  auto journal = JournalFile::open(options.state);
  if (!journal && journal.error().code == ErrorCode::refused) {
    if (owner) RETURN_IF_ERROR(act_as_root());  // who may accept what is stuck
    return ask_the_one_that_runs(options, parts, accept_stuck);
  }
  if (!journal) return tl::unexpected(journal.error());
  if (owner) RETURN_IF_ERROR(become(*owner));
  ASSIGN_OR_RETURN(const fault::Journal left, journal->read());
  ASSIGN_OR_RETURN(fault::KeeperSetup setup, setup_of({}, parts.commands));
  fault::FaultKeeper keeper(parts.kernel, *journal, std::move(setup));
  keeper.replay(left, runtime::now());
  log_events(keeper);
  auto undone =
      accept_stuck ? keeper.clear(true, runtime::now()) : keeper.undo(std::nullopt, runtime::now());
  return print_undone({std::move(undone), keeper.blocked()});
}

int complain(const KeeperFlags& flags, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", flags.name.c_str(), error.text().c_str());
  return error.code == ErrorCode::invalid_input ? runtime::kExitUsage : runtime::kExitUnavailable;
}

std::optional<int> read_flags(int argc, char** argv, KeeperFlags& flags) {
  CLI::App app{flags.description};
  std::string policy, state, socket;
  app.add_option("--policy", policy, "the host's policy (docs/operations.md)");
  app.add_option("--state", state, "folder of the journal");
  app.add_option("--socket", socket, "where the agent asks");
  auto* undo = app.add_flag("--undo-all", flags.undo_all,
                            "undo every fault of this host, say how each ended, and end");
  app.add_flag("--accept-stuck", flags.accept_stuck,
               "with --undo-all: close what cannot be undone, and leave it as it is")
      ->needs(undo);
  app.add_flag("--check", flags.check, "say whether the policy is in order, and end");
  app.set_version_flag("--version", flags.name + " " + flags.version);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? runtime::kExitOk : runtime::kExitUsage;
  }
  if (!policy.empty()) flags.options.policy = policy;
  if (!state.empty()) flags.options.state = state;
  if (!socket.empty()) flags.options.socket = socket;
  return std::nullopt;
}

int run_keeper(const KeeperFlags& flags, ServerPolicy& policy, const MakeParts& make_parts) {
  if (flags.check) {
    if (const auto sound = policy.check(); !sound) return complain(flags, sound.error());
    std::printf("%s is in order\n", flags.options.policy.c_str());
    return runtime::kExitOk;
  }
  const auto options =
      flags.undo_all ? from_inside_its_folder(flags.options) : Result<KeeperOptions>(flags.options);
  if (!options) return complain(flags, options.error());
  const auto parts = make_parts(*options);
  if (!parts) return complain(flags, parts.error());
  if (flags.undo_all) {
    const auto code = undo_all(*options, *parts, flags.accept_stuck);
    return code ? *code : complain(flags, code.error());
  }
  const auto done = keep_faults(*options, *parts);
  return done ? runtime::kExitOk : complain(flags, done.error());
}

}  // namespace rehearsal::agent

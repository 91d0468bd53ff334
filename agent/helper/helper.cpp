#include "agent/helper/helper.hpp"

#include <sys/stat.h>

#include <chrono>
#include <iterator>

#include "agent/fault/commands.hpp"
#include "agent/fault/helper_client.hpp"
#include "agent/helper/kernel_network.hpp"
#include "agent/keeper/journal_file.hpp"
#include "agent/keeper/log.hpp"
#include "agent/keeper/policy_file.hpp"
#include "agent/keeper/server.hpp"
#include "agent/keeper/test_stops.hpp"
#include "runtime/clock.hpp"
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
Result<TestStops> look_at_policy(const std::filesystem::path& path) {
  const auto policy = read_policy_file(path);
  if (!policy) {
    log_line(Severity::warning, "no fault is allowed here: " + policy.error().text());
    return TestStops{};
  }
  if (!policy->test_stops) return TestStops{};
  log_line(Severity::warning, "the policy allows the stops of tests");
  return test_stops_from_environment();
}

Result<fault::KeeperSetup> setup_of(const TestStops& stops) {
  fault::KeeperSetup setup{.boot_id = stops.boot_id, .wall_ns = &wall_ns, .on_step = stops.on_step};
  if (setup.boot_id.empty()) {
    ASSIGN_OR_RETURN(setup.boot_id, boot_id_of_kernel());
  }
  return setup;
}

}  // namespace

Result<void> run_helper(const HelperOptions& options) {
  ::umask(0077);
  ASSIGN_OR_RETURN(JournalFile journal, JournalFile::open(options.state));
  ASSIGN_OR_RETURN(const TestStops stops, look_at_policy(options.policy));
  journal.call_half_way(stops.on_step);
  ASSIGN_OR_RETURN(KernelNetwork kernel, KernelNetwork::open());
  ASSIGN_OR_RETURN(const fault::Journal left, journal.read());
  ASSIGN_OR_RETURN(fault::KeeperSetup setup, setup_of(stops));
  fault::FaultKeeper keeper(kernel, journal, std::move(setup));
  keeper.replay(left, runtime::now());
  log_events(keeper);
  Server server(keeper, options.policy);
  RETURN_IF_ERROR(server.listen(options.socket));
  log_line(Severity::info, "ready on " + options.socket.string());
  RETURN_IF_ERROR(server.run(runtime::ServiceManager::from_environment()));
  if (const std::string why = keeper.blocked(); !why.empty()) {
    return fail(ErrorCode::system, ErrorSource::host, why);
  }
  return {};
}

Result<int> undo_all(const HelperOptions& options, bool accept_stuck) {
  ::umask(0077);
  auto journal = JournalFile::open(options.state);
  if (!journal && journal.error().code == ErrorCode::refused) {
    const int code = undo_faults(options.socket);
    return accept_stuck ? clear_faults(options.socket, true) : code;
  }
  if (!journal) return tl::unexpected(journal.error());
  ASSIGN_OR_RETURN(KernelNetwork kernel, KernelNetwork::open());
  ASSIGN_OR_RETURN(const fault::Journal left, journal->read());
  ASSIGN_OR_RETURN(fault::KeeperSetup setup, setup_of({}));
  fault::FaultKeeper keeper(kernel, *journal, std::move(setup));
  keeper.replay(left, runtime::now());
  log_events(keeper);
  auto undone =
      accept_stuck ? keeper.clear(true, runtime::now()) : keeper.undo(std::nullopt, runtime::now());
  return print_undone({std::move(undone), keeper.blocked()});
}

}  // namespace rehearsal::agent

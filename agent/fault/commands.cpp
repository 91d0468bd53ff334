#include "agent/fault/commands.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "agent/fault/helper_client.hpp"
#include "core/base/table.hpp"
#include "runtime/exit_status.hpp"

namespace rehearsal::agent {
namespace {

int cannot(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return runtime::kExitUnavailable;
}

int severity_of(fault::UndoOutcome outcome) {
  switch (outcome) {
    case fault::UndoOutcome::clean:
      return kExitClean;
    case fault::UndoOutcome::conflict:
      return kExitConflict;
    case fault::UndoOutcome::stuck:
      break;
  }
  return kExitStuck;
}

/// Asks all that are there; the worst of their exit codes.
template <typename Ask>
int ask_each(const std::vector<std::filesystem::path>& sockets, Ask ask) {
  std::optional<int> worst;
  std::optional<Error> missing;
  for (const std::filesystem::path& socket : sockets) {
    auto helper = HelperClient::connect(socket);
    if (!helper && helper.error().code == ErrorCode::not_found) {
      missing = helper.error();
      continue;
    }
    const int code = helper ? ask(*helper) : cannot(helper.error());
    worst = std::max(worst.value_or(code), code);
  }
  return worst ? *worst : cannot(*missing);
}

}  // namespace

int print_undone(const fault::UndoneReply& reply) {
  int code = reply.blocked.empty() ? kExitClean : kExitStuck;
  for (const fault::Undone& fault : reply.faults) {
    code = std::max(code, severity_of(fault.outcome));
    std::printf("%s: %s\n", std::string(to_string(fault.outcome)).c_str(), fault.text.c_str());
  }
  if (reply.faults.empty()) std::printf("no fault is on\n");
  if (!reply.blocked.empty()) std::printf("%s\n", reply.blocked.c_str());
  return code;
}

int undo_faults(const std::vector<std::filesystem::path>& sockets) {
  return ask_each(sockets, [](HelperClient& helper) {
    const auto reply = helper.undo(std::nullopt);
    return reply ? print_undone(*reply) : cannot(reply.error());
  });
}

int clear_faults(const std::vector<std::filesystem::path>& sockets, bool accept_stuck) {
  return ask_each(sockets, [&](HelperClient& helper) {
    const auto reply = helper.clear(accept_stuck);
    return reply ? print_undone(*reply) : cannot(reply.error());
  });
}

int list_faults(const std::vector<std::filesystem::path>& sockets) {
  Table table({{"fault", Table::Align::right},
               {"what"},
               {"state"},
               {"lease", Table::Align::right},
               {"left", Table::Align::right}});
  std::string blocked;
  const int code = ask_each(sockets, [&](HelperClient& helper) {
    const auto reply = helper.list();
    if (!reply) return cannot(reply.error());
    for (const fault::ListedFault& fault : reply->faults) {
      table.add({std::to_string(fault.id), describe(fault.fault),
                 std::string(to_string(fault.state)), format_duration(fault.lease_left),
                 format_duration(fault.duration_left)});
    }
    if (!reply->blocked.empty()) blocked += reply->blocked + "\n";
    return reply->blocked.empty() ? kExitClean : kExitStuck;
  });
  if (code == runtime::kExitUnavailable && table.rows() == 0) return code;
  std::printf("%s%s", table.rows() == 0 ? "no fault is on\n" : table.text().c_str(),
              blocked.c_str());
  return code;
}

}  // namespace rehearsal::agent

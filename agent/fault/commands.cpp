#include "agent/fault/commands.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <system_error>

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

/// What a person must know first: STUCK, CONFLICT, then that one cannot be reached.
int worse(int a, int b) {
  constexpr std::array kFromBest = {kExitClean, runtime::kExitUnavailable, kExitConflict,
                                    kExitStuck};
  return std::ranges::find(kFromBest, a) < std::ranges::find(kFromBest, b) ? b : a;
}

bool is_installed(const KeeperPlace& place) {
  std::error_code ignored;  // as a link it may lead where this user may not look
  return std::filesystem::exists(std::filesystem::symlink_status(place.state, ignored));
}

/// Asks all that are there; the worst of their exit codes.
template <typename Ask>
int ask_each(const std::vector<KeeperPlace>& places, Ask ask) {
  int worst = kExitClean;
  bool is_any_there = false;
  for (const KeeperPlace& place : places) {
    auto helper = HelperClient::connect(place.socket, place.greeting_patience);
    if (!helper && helper.error().code == ErrorCode::not_found) {
      std::fprintf(stderr, "%s does not run here: %s\n", place.program.c_str(),
                   helper.error().text().c_str());
      if (place.is_wanted || is_installed(place)) worst = worse(worst, runtime::kExitUnavailable);
      continue;
    }
    is_any_there = true;
    worst = worse(worst, helper ? ask(*helper) : cannot(helper.error()));
  }
  return is_any_there ? worst : runtime::kExitUnavailable;
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

int undo_faults(const std::vector<KeeperPlace>& places) {
  return ask_each(places, [](HelperClient& helper) {
    const auto reply = helper.undo(std::nullopt);
    return reply ? print_undone(*reply) : cannot(reply.error());
  });
}

int clear_faults(const std::vector<KeeperPlace>& places, bool accept_stuck) {
  return ask_each(places, [&](HelperClient& helper) {
    const auto reply = helper.clear(accept_stuck);
    return reply ? print_undone(*reply) : cannot(reply.error());
  });
}

int list_faults(const std::vector<KeeperPlace>& places) {
  Table table({{"fault", Table::Align::right},
               {"what"},
               {"state"},
               {"lease", Table::Align::right},
               {"left", Table::Align::right}});
  std::string blocked;
  const int code = ask_each(places, [&](HelperClient& helper) {
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

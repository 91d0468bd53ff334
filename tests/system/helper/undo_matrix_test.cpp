// Whoever dies, at whatever step: within a lease and two seconds every interface is what it was.
// Makes docs/undo-matrix.md.

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <sstream>

#include "core/base/units.hpp"
#include "core/fault/kernel_fault.hpp"
#include "core/fault/ports.hpp"
#include "tests/support/golden.hpp"
#include "tests/system/helper/helper_host.hpp"

namespace rehearsal::test {
namespace {

using fault::kSteps;
using fault::Step;

/// Where only the lease ends the faults it is waited for; elsewhere it is the longest, so that on a
/// slow machine no lease runs out before the helper is where it is to be killed.
constexpr Duration kShortLease = std::chrono::seconds{2};
constexpr Duration kMargin = std::chrono::seconds{2};

/// Who dies when the helper has reached a step.
struct Column {
  std::string title;
  bool coordinator = false;  ///< nobody renews the leases any more
  bool agent = false;
  bool helper = false;  ///< its supervisor starts it again at once
  bool reboot = false;  ///< interfaces are made anew, the kernel's start has another id
};

const std::vector<Column> kColumns = {
    {.title = "coordinator", .coordinator = true},
    {.title = "agent", .agent = true},
    {.title = "helper", .helper = true},
    {.title = "coordinator, agent", .coordinator = true, .agent = true},
    {.title = "coordinator, helper", .coordinator = true, .helper = true},
    {.title = "agent, helper", .agent = true, .helper = true},
    {.title = "reboot", .agent = true, .helper = true, .reboot = true}};

bool is_stopped(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end, 3) == ") T";
}

/// One fault of each kind, each on an interface of its own; another one is the last in each row.
std::vector<std::string> faults_of_row(std::size_t row) {
  const std::vector<std::string> all = {"rate=e1=10Mbit/s", "blackhole=e2", "link_down=e3",
                                        "mtu=e4=1500"};
  std::vector<std::string> rotated;
  for (std::size_t i = 0; i < all.size(); ++i) rotated.push_back(all[(row + i) % all.size()]);
  return rotated;
}

/// "clean", or what is wrong.
std::string cell(HelperHost& host, const std::string& clean, std::size_t row,
                 const Column& column) {
  const Step step = kSteps[row];
  const bool is_undoing = step >= Step::before_undo;
  // The step of the last of the faults; while undoing, of another one in each row, so that at least
  // one is still on.
  const std::size_t count = is_undoing ? row % 3 + 1 : 4;
  host.start_helper(
      {"REHEARSAL_HELPER_STOP_AT=" + std::string(to_string(step)) + ":" + std::to_string(count)});
  const bool is_lease_waited_for =
      column.coordinator && !column.agent && !column.helper && !is_undoing;
  const Duration lease = is_lease_waited_for ? kShortLease : fault::kLeaseMost;
  const std::string mode = is_undoing ? "undo" : column.coordinator ? "silent" : "renew";
  const auto agent = host.agent(format_duration_exact(lease), mode, faults_of_row(row));
  if (!wait_until([&] { return is_stopped(host.helper().pid()); })) {
    return "not reached: " + agent->output() + host.helper().output();
  }
  if (host.state() == clean) return "no fault was on";
  if (column.agent) {
    agent->signal(SIGKILL);
    agent->wait();
  }
  if (column.helper) host.kill_helper();
  if (column.reboot) host.make_interfaces_again();
  const Instant died = now();
  if (column.helper) {
    const std::string boot = column.reboot ? "REHEARSAL_HELPER_BOOT_ID=another" : "NOTHING=";
    host.start_helper({boot}, Duration::zero());
  } else {
    host.helper().signal(SIGCONT);
  }
  if (!column.coordinator && !column.agent && !column.helper) return "nobody died";
  if (!host.wait_for_state(clean, died + lease + kMargin - now())) {
    return "dirty: " + host.state() + host.helper().output();
  }
  if (!host.helper().wait_for_output("ready on")) return "no helper: " + host.helper().output();
  if (host.stop_helper() != 0) return "not ended well: " + host.helper().output();
  return host.state() == clean ? "clean" : "dirty at the end";
}

std::vector<std::string> cells_of(std::size_t index) {
  HelperHost host("m" + std::to_string(index));
  const std::string clean = host.state();
  std::vector<std::string> cells;
  for (std::size_t row = 0; row < kSteps.size(); ++row) {
    cells.push_back(cell(host, clean, row, kColumns[index]));
    if (cells.back() != "clean") {
      ADD_FAILURE() << to_string(kSteps[row]) << ", " << kColumns[index].title << ": "
                    << cells.back();
      cells.back() = "NOT CLEAN";
      cells.resize(kSteps.size(), "not tried");
      break;
    }
  }
  return cells;
}

std::string document(const std::vector<std::vector<std::string>>& columns) {
  std::ostringstream text;
  text << "# Undo matrix\n\n"
          "Made by the test `system.UndoMatrix.WhoeverDiesEveryInterfaceIsWhatItWas`; "
          "`REHEARSAL_UPDATE_GOLDEN=1` rewrites it.\n\n"
          "Four faults are put on four interfaces: a rate cap, a blackhole, a link that is down, a "
          "smaller MTU.\n"
          "When the helper reaches a step of the last one (a row), somebody is killed with SIGKILL "
          "(a column).\n"
          "A dead coordinator is one that renews no lease any more; a dead helper is started again "
          "by its\n"
          "supervisor; a reboot kills agent and helper, makes the interfaces anew and gives the "
          "kernel another\n"
          "boot id. `in_…` is half-way through the writing of a record: the journal ends in a torn "
          "one.\n\n"
          "`clean`: within the lease and two seconds, links, MTUs, addresses, routes, queueing "
          "disciplines, classes\n"
          "and filters are what they were, those of others included.\n\n| step |";
  for (const Column& column : kColumns) text << ' ' << column.title << " |";
  text << "\n|---|";
  for (std::size_t i = 0; i < kColumns.size(); ++i) text << "---|";
  text << '\n';
  for (std::size_t row = 0; row < kSteps.size(); ++row) {
    text << "| `" << to_string(kSteps[row]) << "` |";
    for (const auto& cells : columns) text << ' ' << cells[row] << " |";
    text << '\n';
  }
  return text.str();
}

TEST(UndoMatrix, WhoeverDiesEveryInterfaceIsWhatItWas) {
  if (const std::string obstacle = HelperHost::obstacle(); !obstacle.empty()) {
    GTEST_SKIP() << obstacle;
  }
  // A host for each column, so that one waits for a lease while another works.
  std::vector<std::future<std::vector<std::string>>> running;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    running.push_back(std::async(std::launch::async, &cells_of, i));
  }
  std::vector<std::vector<std::string>> columns;
  for (auto& column : running) columns.push_back(column.get());
  expect_golden("../../docs/undo-matrix.md", document(columns));
}

}  // namespace
}  // namespace rehearsal::test

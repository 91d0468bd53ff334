#include "agent/external/command_process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "runtime/clock.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class CommandProcess : public testing::Test {
 protected:
  Result<CommandResult> shell(const std::string& script, Duration limit = 30s) {
    return run_command({.program = "/bin/sh",
                        .arguments = {"-c", script},
                        .limit = limit,
                        .input = folder_.path() / "input"});
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream{path(name)}.rdbuf();
    return text.str();
  }
  /// Until nobody has the process, or it waits only for its parent.
  static bool wait_until_gone(pid_t pid) {
    const Instant deadline = runtime::now() + 10s;
    while (runtime::now() < deadline) {
      std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
      std::string text;
      if (!std::getline(stat, text) || text.find(") Z ") != std::string::npos) return true;
      std::this_thread::yield();
    }
    return false;
  }

  test::TemporaryFolder folder_;
};

TEST_F(CommandProcess, ItsExitCodeAndBothItsOutputsAreTold) {
  const auto ended = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_EQ(ended->exit_code, 3);
  EXPECT_EQ(ended->output, "out\n");
  EXPECT_EQ(ended->errors, "err\n");
  EXPECT_EQ(shell("kill -TERM $$")->exit_code, 128 + SIGTERM);
  EXPECT_EQ(
      run_command(
          {.program = "/no/such/program", .arguments = {}, .limit = 5s, .input = path("input")})
          ->exit_code,
      127);
}

TEST_F(CommandProcess, ItHasNothingOfOurs) {
  ASSERT_EQ(::setenv("REHEARSAL_SECRET", "told", 1), 0);
  const int open = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  ASSERT_GE(open, 3);
  const auto ended =
      shell("pwd; env | sort | grep -v ^PWD= | grep -v ^_=; ls /proc/self/fd | wc -l");
  ::close(open);
  ::unsetenv("REHEARSAL_SECRET");
  ASSERT_TRUE(ended);
  // Of ls: its three, the lock, and the folder that it reads.
  EXPECT_EQ(ended->output, "/\nLC_ALL=C.UTF-8\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n5\n");
  EXPECT_EQ(shell("cat")->output, "") << "its input is empty";
}

TEST_F(CommandProcess, ArgumentsAreNoShells) {
  const auto ended = run_command({.program = "/bin/echo",
                                  .arguments = {"apply", "--label=$(id);*"},
                                  .limit = 5s,
                                  .input = path("input")});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->output, "apply --label=$(id);*\n");
}

TEST_F(CommandProcess, OnlyTheBeginningOfALongOutputIsKept) {
  const auto ended = shell("yes | head -c 300000; yes | head -c 300000 >&2; exit 5");
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_EQ(ended->exit_code, 5);
  EXPECT_EQ(ended->output.size(), kOutputBytesMax);
  EXPECT_EQ(ended->errors.size(), kOutputBytesMax);
}

TEST_F(CommandProcess, AtItsLimitItIsKilledWithAllOfItsGroup) {
  const Instant began = runtime::now();
  const auto ended = shell("sleep 600 & echo $! > " + path("child").string() + "; wait", 3s);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::timed_out);
  EXPECT_THAT(ended.error().text(), HasSubstr("3s"));
  EXPECT_LT(runtime::now() - began, 60s);
  const std::string child = content("child");
  ASSERT_FALSE(child.empty()) << "it did not get so far within its limit";
  EXPECT_TRUE(wait_until_gone(std::stoi(child)));
}

TEST_F(CommandProcess, ItIsToldANameThatItsProgramNeedNotHave) {
  const auto ended = run_command({.program = "/bin/sh",
                                  .name = "/policy/port-down",
                                  .arguments = {"-c", "echo $0"},
                                  .limit = 30s,
                                  .input = path("input")});
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_EQ(ended->output, "/policy/port-down\n");
}

TEST_F(CommandProcess, AnExitCodeThatCannotBeKnownIsNoSuccess) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);  // the kernel keeps no exit codes then
  const auto ended = shell("exit 1");
  ::signal(SIGCHLD, before);
  ASSERT_FALSE(ended);
  EXPECT_THAT(ended.error().text(), HasSubstr("exit code is not known"));
}

TEST_F(CommandProcess, WhatItLeavesInItsGroupIsKilledWhenItEnds) {
  const auto ended = shell("sleep 600 & echo $! > " + path("child").string());
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_EQ(ended->exit_code, 0);
  EXPECT_TRUE(wait_until_gone(std::stoi(content("child"))));
}

TEST_F(CommandProcess, OneThatFledItsGroupKeepsTheNextFromBeginning) {
  // In a session of its own it is not in the group; it still has the lock.
  const auto ended = shell("setsid sh -c 'echo $$ > " + path("child").string() +
                           "; exec sleep 600' & while "
                           "[ ! -s " +
                           path("child").string() + " ]; do :; done");
  ASSERT_TRUE(ended) << ended.error().text();
  const pid_t fled = std::stoi(content("child"));
  const auto next = shell("true");
  EXPECT_FALSE(next);
  EXPECT_THAT(next ? "" : next.error().text(), HasSubstr("earlier command still lives"));
  ::kill(fled, SIGKILL);
  ASSERT_TRUE(wait_until_gone(fled));
  EXPECT_TRUE(shell("true"));
}

TEST_F(CommandProcess, ASubreaperKillsAlsoWhatFledAndClosedAllThatItHad) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  // And one more below it, in a session of its own.
  const auto ended = shell(
      "setsid sh -c 'exec 3<&- </dev/null >/dev/null 2>&1; setsid sleep 600 & "
      "echo $! > " +
      path("below").string() + "; echo $$ > " + path("child").string() + "; wait' & while [ ! -s " +
      path("child").string() + " ]; do :; done");
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  ASSERT_TRUE(ended) << ended.error().text();
  EXPECT_TRUE(wait_until_gone(std::stoi(content("child"))));
  EXPECT_TRUE(wait_until_gone(std::stoi(content("below"))));
}

TEST_F(CommandProcess, ItDiesWithWhoeverRunsIt) {
  const pid_t runner = ::fork();
  if (runner == 0) {
    (void)shell("echo $$ > " + path("leader").string() + "; exec sleep 600");
    ::_exit(0);
  }
  const Instant deadline = runtime::now() + 10s;
  while (content("leader").find('\n') == std::string::npos) ASSERT_LT(runtime::now(), deadline);
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  EXPECT_TRUE(wait_until_gone(std::stoi(content("leader"))));
}

}  // namespace
}  // namespace rehearsal::agent

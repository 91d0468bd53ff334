#include "agent/external/command_runner.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "agent/keeper/trusted_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rehearsal::agent {
namespace {

using fault::Standing;
using fault::Verb;
using std::filesystem::perms;
using testing::HasSubstr;

/// Whose policy and program belong to root: so must the test.
class CommandRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "SKIP: only root can own a policy";
    program("exit 0");
    write("policy.yaml",
          "commands:\n  cut:\n    executable: " + path("cut").string() +
              "\n    arguments: {port: {type: integer, min: 1, max: 9}}\n"
              "    limits: {check: 8s, undo: 8s, apply: 2s}\n    duration_max: 1min\n");
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{path(name)} << text;
    std::filesystem::permissions(path(name), perms{0644});
  }
  void program(const std::string& body) const {
    write("cut", "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(path("cut"), perms{0755});
  }
  std::string check_problem() {
    const auto finding = runner_.check(call_);
    return finding ? "" : finding.error().text();
  }
  std::string run_problem(Verb verb) {
    const auto done = runner_.run({verb, call_});
    return done ? "" : done.error().text();
  }

  test::TemporaryFolder folder_;
  CommandRunner runner_{path("policy.yaml"), folder_.path()};
  fault::ExternalCall call_{"cut", {{"port", "7"}}};
};

TEST_F(CommandRunnerTest, TheCheckSaysHowItStands) {
  program("[ \"$1 $2 $#\" = 'check --port=7 2' ] && echo applied");
  ASSERT_EQ(check_problem(), "");
  EXPECT_EQ(runner_.check(call_)->standing, Standing::ours);
  program("echo clear; echo 'and more'");
  EXPECT_EQ(runner_.check(call_)->standing, Standing::untouched);
  program("echo changed: admin down");
  ASSERT_NE(check_problem(), "") << "a word, not a part of one";
  program("echo changed admin down");
  EXPECT_EQ(runner_.check(call_)->standing, Standing::foreign);
  EXPECT_THAT(runner_.check(call_)->text, HasSubstr("changed admin down"));
  program("echo 'Welcome to leaf1' >&2; echo applied; echo 'Goodbye' >&2");
  ASSERT_EQ(check_problem(), "") << "a greeting of ssh is no answer";
  EXPECT_EQ(runner_.check(call_)->standing, Standing::ours);
  program("echo applied >&2");
  EXPECT_THAT(check_problem(), HasSubstr("neither applied, clear nor changed: 'applied'"));
  program("echo up");
  EXPECT_THAT(check_problem(), HasSubstr("neither applied, clear nor changed: 'up'"));
  program("echo clear; exit 1");
  EXPECT_THAT(check_problem(), HasSubstr("check of cut --port=7 ended with 1: 'clear'"));
}

TEST_F(CommandRunnerTest, ApplyAndUndoSayWhyNot) {
  program("echo 'no such port' >&2; exit 4");
  EXPECT_THAT(run_problem(Verb::undo),
              HasSubstr("undo of cut --port=7 ended with 4: 'no such port'"));
  program("echo 'asking leaf1'; echo 'Welcome' >&2; echo 'it is locked' >&2; exit 4");
  EXPECT_THAT(run_problem(Verb::undo), HasSubstr("ended with 4: 'asking leaf1', 'it is locked'"));
  program("printf 'gesch\\303' >&2; exit 4");  // cut in the middle of a character
  EXPECT_THAT(run_problem(Verb::undo), HasSubstr("ended with 4: 'gesch?'"));
  program("sleep 60");
  EXPECT_THAT(run_problem(Verb::apply), HasSubstr("killed at its limit, 2s"));
  program("exit 0");
  EXPECT_EQ(run_problem(Verb::apply), "");
}

TEST_F(CommandRunnerTest, OnlyAProgramThatRootAloneCanChangeIsRun) {
  std::filesystem::permissions(path("cut"), perms{0775});
  EXPECT_THAT(run_problem(Verb::apply), HasSubstr("writable by root alone"));
  std::filesystem::permissions(path("cut"), perms{0644});
  EXPECT_THAT(run_problem(Verb::apply), HasSubstr("is no program that this user may run"));
  std::filesystem::permissions(path("cut"), perms{0755});
  EXPECT_EQ(run_problem(Verb::apply), "");
  ASSERT_EQ(::chown(path("cut").c_str(), 12345, 0), 0);
  EXPECT_THAT(run_problem(Verb::apply), HasSubstr("must belong to root"));
  std::filesystem::remove(path("cut"));
  EXPECT_THAT(run_problem(Verb::apply), HasSubstr("cannot run"));
}

TEST_F(CommandRunnerTest, EveryFolderOnTheWayCounts) {
  std::filesystem::create_directories(path("a/b"));
  std::filesystem::rename(path("cut"), path("a/b/cut"));
  ASSERT_TRUE(trusted_program(path("a/b/cut")));
  std::filesystem::permissions(path("a"), perms{0777});
  EXPECT_FALSE(trusted_program(path("a/b/cut")));
  std::filesystem::permissions(path("a"), perms{01777});  // sticky: b cannot be replaced
  EXPECT_TRUE(trusted_program(path("a/b/cut")));
  std::filesystem::permissions(path("a/b"), perms{0777});
  EXPECT_FALSE(trusted_program(path("a/b/cut")));
  // A link is followed to where it leads.
  std::filesystem::create_symlink(path("a/b/cut"), path("link"));
  EXPECT_FALSE(trusted_program(path("link")));
  std::filesystem::permissions(path("a/b"), perms{0755});
  ASSERT_TRUE(trusted_program(path("link")));
  EXPECT_EQ(*trusted_program(path("link")), std::filesystem::canonical(path("a/b/cut")));
  // Whoever could put another link in its place, or owns it, would choose the program.
  std::filesystem::create_directory(path("open"));
  std::filesystem::create_symlink(path("link"), path("open/link"));
  ASSERT_TRUE(trusted_program(path("open/link")));
  std::filesystem::permissions(path("open"), perms{0777});
  EXPECT_FALSE(trusted_program(path("open/link")));
  ASSERT_EQ(::lchown(path("link").c_str(), 12345, 0), 0);
  EXPECT_FALSE(trusted_program(path("link")));
  std::filesystem::create_symlink("self", path("self"));
  EXPECT_FALSE(trusted_program(path("self")));
  EXPECT_TRUE(trusted_program("/bin/sh")) << "also where /bin is a link";
}

TEST_F(CommandRunnerTest, WhatThePolicyForgotCannotBeRun) {
  write("policy.yaml", "agent: 0\n");
  EXPECT_THAT(run_problem(Verb::undo), HasSubstr("the policy does not name the command 'cut'"));
  std::filesystem::permissions(path("policy.yaml"), perms{0666});
  EXPECT_THAT(run_problem(Verb::undo), HasSubstr("writable by root alone"));
}

TEST_F(CommandRunnerTest, ThePolicyIsInOrderWhenItsProgramsAre) {
  ExternalPolicyFile policy(path("policy.yaml"));
  EXPECT_TRUE(policy.check());
  std::filesystem::permissions(path("cut"), perms{0777});
  const auto sound = policy.check();
  ASSERT_FALSE(sound);
  EXPECT_THAT(sound.error().text(), HasSubstr("commands.cut.executable"));
}

}  // namespace
}  // namespace rehearsal::agent

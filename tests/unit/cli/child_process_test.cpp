#include "cli/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.hpp"

namespace rehearsal::cli {
namespace {

using std::chrono::seconds;

Instant in(Duration duration) { return std::chrono::steady_clock::now() + duration; }

class ChildProcessTest : public testing::Test {
 protected:
  Result<ChildProcess> start(const std::string& script) {
    return ChildProcess::start(
        {.command = {"/bin/sh", "-c", script}, .output = output_, .environment = {"COLOUR=blue"}});
  }
  std::string output() const {
    std::ifstream stream{output_};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  test::TemporaryFolder folder_;
  std::filesystem::path output_ = folder_.path() / "output";
};

TEST_F(ChildProcessTest, TellsTheExitCodeAndKeepsTheOutput) {
  auto child = start("echo $COLOUR; echo wrong >&2; exit 7");
  ASSERT_TRUE(child) << child.error().text();
  EXPECT_EQ(child->wait(in(seconds{20})), 7);
  EXPECT_EQ(child->wait(in(seconds{0})), 7);
  EXPECT_FALSE(child->is_running());
  EXPECT_EQ(output(), "blue\nwrong\n");
}

TEST_F(ChildProcessTest, AKilledOneEndsWith128AndTheSignal) {
  auto child = start("exec sleep 1000");
  ASSERT_TRUE(child) << child.error().text();
  EXPECT_TRUE(child->is_running());
  child->signal(SIGKILL);
  EXPECT_EQ(child->wait(in(seconds{20})), 128 + SIGKILL);
}

TEST_F(ChildProcessTest, OneThatIgnoresTheRequestToEndIsKilled) {
  auto child = start("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  ASSERT_TRUE(child) << child.error().text();
  const Instant deadline = in(seconds{20});
  while (output() != "ready\n" && std::chrono::steady_clock::now() < deadline)
    ASSERT_FALSE(child->wait(in(std::chrono::milliseconds{5})));
  child->end(std::chrono::milliseconds{50});
  EXPECT_EQ(child->wait(in(seconds{0})), 128 + SIGKILL);
}

TEST_F(ChildProcessTest, DoesNotOutliveItsOwner) {
  pid_t pid = 0;
  {
    auto child = start("exec sleep 1000");
    ASSERT_TRUE(child) << child.error().text();
    pid = child->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST_F(ChildProcessTest, AMissingProgramIsAnError) {
  const auto child = ChildProcess::start({.command = {"/no/such/program"}, .output = output_});
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().text().find("/no/such/program"), std::string::npos);
}

}  // namespace
}  // namespace rehearsal::cli

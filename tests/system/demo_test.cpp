// `rehearse demo`: no root, no left-overs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/temporary_folder.hpp"
#include "tests/system/program.hpp"

namespace rehearsal::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr uid_t kNobody = 65534;

std::string read_whole(const fs::path& path) {
  std::ifstream stream{path};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

class Demo : public testing::Test {
 protected:
  Demo() { fs::permissions(folder_.path(), fs::perms::all); }

  Program demo(std::vector<std::string> before, const std::string& iterations) {
    before.push_back(programs() / "rehearse");
    for (const char* word : {"demo", "--iterations"}) before.emplace_back(word);
    before.push_back(iterations);
    before.emplace_back("--out");
    before.push_back(folder_.path() / "out");
    return Program{before, folder_.path() / "log", {"TMPDIR=" + folder_.path().string()}};
  }

  static std::vector<pid_t> children_of(pid_t pid) {
    const std::string task = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid);
    std::istringstream words{read_whole(task + "/children")};
    return {std::istream_iterator<pid_t>{words}, {}};
  }
  static bool is_gone(pid_t pid) {
    const std::string stat = read_whole("/proc/" + std::to_string(pid) + "/stat");
    return stat.empty() || stat.find(") Z ") != std::string::npos;
  }
  static bool wait_until_gone(const std::vector<pid_t>& pids) {
    return wait_until([&] { return std::ranges::all_of(pids, is_gone); }, seconds{20});
  }
  /// Nothing but what was asked for: no temporary folder.
  std::vector<std::string> files_left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{folder_.path()})
      names.push_back(entry.path().filename());
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(Demo, RunsWithoutRootAndPrintsATable) {
  std::vector<std::string> as_nobody;
  if (geteuid() == 0) {
    as_nobody = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                 "--no-new-privs"};
    std::vector<std::string> probe = as_nobody;
    probe.insert(probe.end(), {programs() / "rehearse", "version"});
    Program can{probe, folder_.path() / "log"};
    if (can.wait() != 0) GTEST_SKIP() << "SKIP: user " << kNobody << " cannot reach " << programs();
  }
  Program run = demo(as_nobody, "20");
  ASSERT_EQ(run.wait(), 0) << run.output();
  for (const char* text : {"all_reduce", "all_to_all", "p50", "busbw", "run folder: "})
    EXPECT_THAT(run.output(), HasSubstr(text));
  const auto summary =
      nlohmann::json::parse(read_whole(folder_.path() / "out" / "summary.json"), nullptr, false);
  ASSERT_TRUE(summary.is_object());
  EXPECT_EQ(summary["verdict"], "pass");
  EXPECT_EQ(summary["jobs"][0]["ranks"], 8);
  EXPECT_EQ(summary["jobs"][0]["iterations"]["completed"], 20);
  EXPECT_THAT(files_left(), testing::UnorderedElementsAre("log", "out"));
}

TEST_F(Demo, AnInterruptEndsAllOfItAndLeavesAPartialReport) {
  Program run = demo({}, "200000");
  ASSERT_TRUE(run.wait_for_output("running ")) << run.output();
  const std::vector<pid_t> children = children_of(run.pid());
  EXPECT_EQ(children.size(), 5U);
  run.signal(SIGINT);
  EXPECT_EQ(run.wait(seconds{20}), 3) << run.output();
  EXPECT_TRUE(wait_until_gone(children));
  EXPECT_TRUE(fs::exists(folder_.path() / "out" / "summary.json"));
  EXPECT_THAT(files_left(), testing::UnorderedElementsAre("log", "out"));
}

TEST_F(Demo, ItsProcessesDieWithIt) {
  Program run = demo({}, "200000");
  ASSERT_TRUE(run.wait_for_output("running ")) << run.output();
  const std::vector<pid_t> children = children_of(run.pid());
  EXPECT_EQ(children.size(), 5U);
  run.signal(SIGKILL);
  EXPECT_TRUE(wait_until_gone(children));
}

}  // namespace
}  // namespace rehearsal::test

// Processes that die, stand still or are told to stop, in the middle of runs.
#include <gmock/gmock.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/system/system_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

/// Promises of operations.md: a run without one of its agents ends, and orders become silence.
constexpr Duration kEndsWithin = seconds{5};
constexpr Duration kSilentWithin = seconds{1};
/// Starting a `rehearse` that gives the order, and the window in which silence is looked for.
constexpr Duration kMargin = milliseconds{500};
/// Acknowledgements, resets and neighbour discovery after the end of traffic; a run of these tests
/// sends more in a millisecond.
constexpr std::uint64_t kSilenceBytesMax = 100'000;

class Faults : public SystemCluster {
 protected:
  /// A long run that has reached its iterations.
  Program running() {
    Program run = rehearse({"run", long_drill(), "--out", folder() / "out"});
    EXPECT_TRUE(run.wait_for_output("running ")) << run.output();
    EXPECT_TRUE(wait_for_traffic());
    return run;
  }

  bool wait_for_an_iteration() {
    return wait_until([&] {
      int code = -1;
      json status = json::parse(rehearse({"status", "--json"}, code), nullptr, false);
      return code == 0 && status.is_object() && status["iterations_done"] > 0;
    });
  }

  bool wait_for_traffic() {
    const std::uint64_t before = sent_by_all();
    const Instant deadline = now() + kPatience;
    while (now() < deadline)
      if (sent_by_all() - before > (std::uint64_t{16} << 20)) return true;
    return false;
  }

  void expect_next_run_passes(const std::vector<std::string>& hosts) {
    const auto path = drill(
        "next", profile(static_cast<std::uint32_t>(hosts.size() * 2), "64KiB", "1ms"), 3, hosts);
    int code = -1;
    const std::string output = rehearse({"run", path, "--out", folder() / "next"}, code);
    EXPECT_EQ(code, 0) << output;
  }
};

/// The state whose line in the progress is waited for before the agent is killed; the run may have
/// gone on since.
class FaultsKilled : public Faults, public testing::WithParamInterface<const char*> {};

TEST_P(FaultsKilled, AnAgentEndsTheRunByNameAndTheOthersGoOn) {
  Program run = rehearse({"run", long_drill(), "--out", folder() / "out"});
  ASSERT_TRUE(run.wait_for_output(GetParam())) << run.output();
  signal("h2", SIGKILL);
  const auto code = run.wait(kEndsWithin);
  ASSERT_TRUE(code) << "the run goes on without h2";
  EXPECT_EQ(code, 3);
  EXPECT_THAT(run.output(), HasSubstr("h2"));
  const json report = summary(folder() / "out");
  EXPECT_EQ(report["verdict"], "unknown");

  EXPECT_TRUE(wait_for_free_agents(3));
  EXPECT_LT(sent_within(milliseconds{300}), kSilenceBytesMax);
  expect_next_run_passes({"h1", "h3", "h4"});
}

INSTANTIATE_TEST_SUITE_P(States, FaultsKilled,
                         testing::Values("reserving", "preparing", "connecting", "running "),
                         [](const auto& state) {
                           std::string name = state.param;
                           std::erase(name, ' ');
                           return name;
                         });

TEST_F(Faults, AnAgentKilledBeforeItAnswersEndsTheRunByName) {
  signal("h3", SIGSTOP);  // stays in `reserving`, since it cannot answer
  Program run = rehearse({"run", long_drill(), "--out", folder() / "out"});
  ASSERT_TRUE(run.wait_for_output("reserving")) << run.output();
  signal("h3", SIGKILL);
  const auto code = run.wait(kEndsWithin);
  EXPECT_EQ(code, 3);
  EXPECT_THAT(run.output(), HasSubstr("h3"));
  EXPECT_TRUE(wait_for_free_agents(3));
}

TEST_F(Faults, AnAgentKilledWhileTheRunDrainsEndsItByName) {
  Program run = running();
  signal("h3", SIGSTOP);  // the run stays in `draining`, since h3 cannot hand in its results
  int stopped = -1;
  rehearse({"stop"}, stopped);
  EXPECT_EQ(stopped, 0);
  ASSERT_TRUE(run.wait_for_output("draining")) << run.output();
  signal("h3", SIGKILL);
  EXPECT_EQ(run.wait(kEndsWithin), 3);
  EXPECT_THAT(run.output(), HasSubstr("h3"));
  const json report = summary(folder() / "out");
  EXPECT_EQ(report["verdict"], "unknown");
  EXPECT_THAT(report["reasons"].dump(), HasSubstr("h3"));
  EXPECT_TRUE(wait_for_free_agents(3));
  expect_next_run_passes({"h1", "h2", "h4"});
}

TEST_F(Faults, AKilledAgentComesBackAndIsInTheNextRun) {
  Program run = running();
  signal("h4", SIGKILL);
  EXPECT_EQ(run.wait(kEndsWithin), 3);
  restart_agent("h4");
  ASSERT_TRUE(wait_for_free_agents(4));
  expect_next_run_passes(all_hosts());
}

TEST_F(Faults, WithoutItsCoordinatorARunFallsSilentAndAgentsComeBack) {
  Program run = running();
  signal("head", SIGKILL);
  const Instant killed = now();
  EXPECT_EQ(run.wait(kEndsWithin), 3);
  EXPECT_THAT(run.output(), HasSubstr("coordinator"));
  while (sent_within(milliseconds{200}) > kSilenceBytesMax)
    ASSERT_LT(now() - killed, kEndsWithin + kMargin) << "agents still send";

  restart_coordinator();
  ASSERT_TRUE(wait_for_free_agents(4));
  expect_next_run_passes(all_hosts());
}

TEST_F(Faults, StopMeansSilenceWithinASecondAndAPartialReport) {
  Program run = running();
  ASSERT_TRUE(wait_for_an_iteration()) << run.output();
  const Instant asked = now();
  Program stop = rehearse({"stop"});
  // The promise is about the wire, a second after the order was given.
  while (sent_within(milliseconds{100}) > kSilenceBytesMax)
    ASSERT_LT(now() - asked, kSilentWithin + kMargin) << "agents still send";
  RecordProperty("silent_after_seconds", std::to_string(to_seconds(now() - asked)));
  EXPECT_EQ(stop.wait(), 0);
  EXPECT_EQ(run.wait(), 3);

  const json report = summary(folder() / "out");
  EXPECT_EQ(report["verdict"], "unknown");
  EXPECT_GT(report["jobs"][0]["iterations"]["completed"], 0);
  EXPECT_LT(report["jobs"][0]["iterations"]["completed"],
            report["jobs"][0]["iterations"]["planned"]);
  EXPECT_TRUE(wait_for_free_agents(4));
  expect_next_run_passes(all_hosts());
}

TEST_F(Faults, AnInterruptOfTheOperatorStopsTheRunAndKeepsThePartialReport) {
  Program run = running();
  const Instant asked = now();
  run.signal(SIGINT);
  while (sent_within(milliseconds{100}) > kSilenceBytesMax)
    ASSERT_LT(now() - asked, kSilentWithin + kMargin) << "agents still send";
  EXPECT_EQ(run.wait(kEndsWithin), 3);
  EXPECT_THAT(run.output(), HasSubstr("stopping"));
  EXPECT_EQ(summary(folder() / "out")["verdict"], "unknown");
  EXPECT_TRUE(wait_for_free_agents(4));
}

TEST_F(Faults, ASecondInterruptLeavesAtOnceAndTheAgentsFallSilentAllTheSame) {
  Program run = running();
  signal("h3", SIGSTOP);  // its results keep the first interrupt waiting for seconds
  run.signal(SIGINT);
  ASSERT_TRUE(run.wait_for_output("stopping")) << run.output();
  ASSERT_TRUE(run.is_running());
  run.signal(SIGINT);
  EXPECT_EQ(run.wait(kSilentWithin), 3);
  signal("h3", SIGCONT);
  const Instant asked = now();
  while (sent_within(milliseconds{100}) > kSilenceBytesMax)
    ASSERT_LT(now() - asked, kSilentWithin + kMargin) << "agents still send";
  EXPECT_TRUE(wait_for_free_agents(4));
}

TEST_F(Faults, APausedAgentIsNamedAsTheStragglerAndThenTimedOut) {
  Program run = running();
  signal("h3", SIGSTOP);
  EXPECT_TRUE(run.wait_for_output("waiting for h3", kEndsWithin)) << run.output();
  EXPECT_EQ(run.wait(), 3);
  const json report = summary(folder() / "out");
  EXPECT_THAT(report["reasons"].dump(), HasSubstr("h3"));

  expect_next_run_passes({"h1", "h2", "h4"});
  signal("h3", SIGCONT);
  EXPECT_TRUE(wait_for_free_agents(4));
}

TEST_F(Faults, ASecondRunOnTheSameAgentsIsRefused) {
  Program first = running();
  const auto path = drill("second", profile(8, "4KiB", "1us"), 1, all_hosts());
  int code = -1;
  const std::string output = rehearse({"run", path, "--out", folder() / "second"}, code);
  EXPECT_EQ(code, 3) << output;
  EXPECT_THAT(output, HasSubstr("is on"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "second"));
  EXPECT_TRUE(first.is_running());
  EXPECT_TRUE(wait_for_traffic()) << "the first run goes on";
}

}  // namespace
}  // namespace rehearsal::test

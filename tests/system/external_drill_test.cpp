// Drills with commands of an operator's own: the whole way from the drill to the command and back.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "core/fault/kernel_runner.hpp"
#include "tests/system/system_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// From a death to a clean switch.
/// A lease, and what the commands take on a busy machine: much less than a run's minutes.
constexpr Duration kCleanWithin = fault::kRunLease + std::chrono::seconds{10};

/// A "switch" whose ports are files, a command that takes them down, and the policy that allows it.
class SwitchFolder {
 protected:
  SwitchFolder() {
    write("port-down", R"(#!/bin/sh
here=)" + root().string() +
                           R"(
for argument in "$@"; do
  case $argument in --port=*) port=${argument#*=} ;; esac
done
echo "$1 $port" >>"$here/log"
case $1 in
  check)
    if [ -e "$here/foreign" ]; then echo "changed by somebody"
    elif [ -e "$here/down-$port" ]; then echo applied
    else echo clear; fi ;;
  apply)
    : >"$here/down-$port"
    if [ -e "$here/hang" ]; then sleep 600; fi
    if [ -e "$here/slow" ]; then sleep 6; fi ;;
  undo)
    if [ -e "$here/deaf" ]; then echo "the switch does not answer" >&2; exit 1; fi
    rm -f "$here/down-$port" ;;
esac
)");
    std::filesystem::permissions(root() / "port-down", std::filesystem::perms{0755});
    const std::string program = "    executable: " + (root() / "port-down").string() +
                                "\n    arguments: {port: {type: integer, min: 1, max: 48}}\n"
                                "    duration_max: 10min\n";
    write("policy.yaml", "agent: 0\ncommands:\n  port-down:\n" + program +
                             "    limits: {check: 8s, apply: 8s, undo: 8s}\n  slow:\n" + program +
                             "    limits: {check: 8s, apply: 10s, undo: 8s}\n");
  }

  const std::filesystem::path& root() const { return root_.path(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{root() / name} << text;
  }
  void remove(const std::string& name) const { std::filesystem::remove(root() / name); }
  bool is_down(int port = 7) const {
    return std::filesystem::exists(root() / ("down-" + std::to_string(port)));
  }
  std::string log() const {
    std::ostringstream text;
    text << std::ifstream{root() / "log"}.rdbuf();
    return text.str();
  }
  bool wait_until(bool down, Duration patience = kPatience) const {
    const Instant deadline = now() + patience;
    while (is_down() != down) {
      if (now() >= deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    return true;
  }

 private:
  TemporaryFolder root_;
};

class ExternalDrill : protected SwitchFolder, public SystemCluster {
 protected:
  ExternalDrill()
      : SystemCluster(std::vector<std::string>{"--commands", (root() / "policy.yaml").string()}) {}

  /// Rings of two on rail0, by appointment; a command of h2.
  std::filesystem::path rings(std::uint32_t iterations, const std::string& when,
                              const std::string& arguments = "{port: 7}",
                              const std::string& command = "port-down") {
    std::ofstream profile{folder() / "ring.yaml"};
    profile << "profile: ring\nranks: 2\nstreams: [compute, communication]\ncommunicators:\n"
               "  world: {ranks: 0-1}\nclasses:\n  worker:\n    ranks: all\n    ops:\n"
               "      - all_reduce: {name: gradients, communicator: world, bytes: 1MiB}\n";
    const std::filesystem::path path = folder() / "drill.yaml";
    std::ofstream drill{path};
    drill << "drill: switch\niterations: " << iterations
          << "\nsynchronisation: iteration\njobs:\n"
             "  - {name: hit, profile: ring.yaml, hosts: [h1, h2], nics: [rail0]}\n"
             "faults:\n  - name: cut\n    what: {kind: external, command: "
          << command << ", arguments: " << arguments
          << "}\n    where: {hosts: h2}\n    when: " << when << "\n";
    return path;
  }
  /// A run of minutes, when its command is on.
  Program run_until_down() {
    Program run =
        rehearse({"run", rings(1'000'000, "{iteration: 1, for: 5min}"), "--out", folder() / "out"});
    EXPECT_TRUE(wait_until(true)) << run.output();
    // Its own check has said so, too.
    const Instant deadline = now() + kPatience;
    int code = -1;
    while (rehearse({"faults", "list"}, code).find("applied") == std::string::npos) {
      if (now() >= deadline) {
        ADD_FAILURE() << run.output();
        break;
      }
    }
    return run;
  }
  /// Of the fault that is on at h2; below 0 if none is.
  double age_seconds() {
    int code = -1;
    const std::string text = rehearse({"faults", "list", "--host", "h2", "--json"}, code);
    const json list = json::parse(text, nullptr, false);
    if (list.is_discarded() || list["hosts"].empty() || list["hosts"][0]["faults"].empty()) {
      ADD_FAILURE() << text;
      return -1;
    }
    return list["hosts"][0]["faults"][0]["age_seconds"].get<double>();
  }
  /// Undoes all of h2's commands from the host itself; the exit code.
  int undo_at_host(std::string& output) {
    Program undo{
        on_host("h2", {programs() / "rehearsal-agent", "faults", "--socket", folder() / "none",
                       "--external-socket", cluster_folder() / "h2-external/socket", "undo"}),
        folder() / "undo.log"};
    const auto code = undo.wait();
    output = undo.output();
    return code.value_or(-1);
  }
  std::string refused(const std::filesystem::path& drill) {
    int code = -1;
    const std::string output = rehearse({"run", drill}, code);
    EXPECT_NE(code, 0) << output;
    return output;
  }
  std::vector<std::string> runner(const std::vector<std::string>& more = {}) {
    const auto own = cluster_folder() / "h2-external";
    std::vector<std::string> command = {programs() / "rehearsal-external",
                                        "--policy",
                                        own / "policy.yaml",
                                        "--state",
                                        own / "state",
                                        "--socket",
                                        own / "socket"};
    command.insert(command.end(), more.begin(), more.end());
    return on_host("h2", command);
  }
};

TEST_F(ExternalDrill, ACommandIsAFaultLikeAnyOther) {
  int code = -1;
  const auto drill = rings(400, "{iteration: 5, iterations: 300, for: 2min}");
  const std::string plan = rehearse({"plan", drill}, code);
  EXPECT_EQ(code, 0) << plan;
  EXPECT_THAT(plan, HasSubstr("external port-down --port=7"));
  EXPECT_THAT(plan, HasSubstr("at most 48s to do or to undo it"));
  EXPECT_FALSE(is_down());
  const std::string output = rehearse({"run", drill, "--out", folder() / "out"}, code);
  ASSERT_EQ(code, 0) << output;
  EXPECT_FALSE(is_down());
  EXPECT_EQ(log(), "check 7\napply 7\ncheck 7\ncheck 7\nundo 7\ncheck 7\n");
  const json fault = summary(folder() / "out")["faults"][0];
  EXPECT_EQ(fault["kind"], "external");
  EXPECT_EQ(fault["mechanism"], "external");
  ASSERT_EQ(fault["spells"].size(), 1U);
  EXPECT_EQ(fault["spells"][0]["host"], "h2");
  EXPECT_GT(fault["spells"][0]["ended_seconds"].get<double>(),
            fault["spells"][0]["began_seconds"].get<double>());
  EXPECT_FALSE(fault.contains("problems"));
}

TEST_F(ExternalDrill, ItIsListedAndCleared) {
  Program run = run_until_down();
  int code = -1;
  const std::string list = rehearse({"faults", "list"}, code);
  EXPECT_EQ(code, 0) << list;
  EXPECT_THAT(list, HasSubstr("external port-down --port=7"));
  EXPECT_THAT(list, HasSubstr("cut of e1-r1"));
  // Until it is older than a lease: it is renewed.
  const Instant deadline = now() + kPatience;
  while (age_seconds() <= to_seconds(fault::kRunLease) + 1) ASSERT_LT(now(), deadline);
  EXPECT_TRUE(is_down());
  const std::string cleared = rehearse({"faults", "clear"}, code);
  EXPECT_EQ(code, 0) << cleared;
  EXPECT_THAT(cleared, HasSubstr("no fault is on"));
  EXPECT_FALSE(is_down());
  EXPECT_EQ(run.wait(), 3);
  EXPECT_THAT(run.output(), HasSubstr("an operator had it undone"));
}

TEST_F(ExternalDrill, WhoeverStandsAtTheHostUndoesIt) {
  Program run = run_until_down();
  std::string output;
  EXPECT_EQ(undo_at_host(output), 69) << "a helper was named, and is missing: " << output;
  EXPECT_THAT(output, HasSubstr("rehearsal-helper does not run here"));
  EXPECT_THAT(output, HasSubstr("clean: "));
  EXPECT_FALSE(is_down());
  EXPECT_EQ(run.wait(), 3);
}

class ExternalDrillDeath : public ExternalDrill, public testing::WithParamInterface<std::string> {};

TEST_P(ExternalDrillDeath, TheSwitchIsSoonWhatItWas) {
  Program run = run_until_down();
  signal(GetParam(), SIGKILL);
  EXPECT_TRUE(wait_until(false, kCleanWithin)) << log();
  EXPECT_EQ(run.wait(), 3);
  EXPECT_FALSE(is_down()) << "and stays so";
}

INSTANTIATE_TEST_SUITE_P(Of, ExternalDrillDeath, testing::Values("head", "h2"),
                         [](const auto& name) {
                           return name.param == "head" ? "Coordinator" : "Agent";
                         });

TEST_F(ExternalDrill, APausedAgentsCommandIsUndoneWhenItsLeaseRunsOut) {
  Program run = run_until_down();
  signal("h2", SIGSTOP);
  EXPECT_TRUE(wait_until(false, kCleanWithin)) << log();
  signal("h2", SIGCONT);
  EXPECT_EQ(run.wait(), 3);
}

TEST_F(ExternalDrill, ARunnerThatDiesUndoesBeforeItTakesRequestsAgain) {
  Program run = run_until_down();
  signal("h2-external", SIGKILL);
  EXPECT_EQ(run.wait(), 3);
  EXPECT_THAT(run.output(), HasSubstr("rehearsal-external is gone"));
  EXPECT_TRUE(is_down()) << "nobody is there to undo it";
  int code = -1;
  const auto plain = drill("plain", profile(8, "4KiB", "1us"), 1, all_hosts());
  EXPECT_THAT(rehearse({"run", plain}, code), HasSubstr("'h2' takes no runs"));
  EXPECT_EQ(code, 3);
  Program again{runner(), folder() / "again.log"};
  ASSERT_TRUE(again.wait_for_output("ready on")) << again.output();
  EXPECT_FALSE(is_down()) << log();
  EXPECT_THAT(again.output(), HasSubstr("undone: "));
  again.signal(SIGTERM);
  EXPECT_EQ(again.wait(), 0) << again.output();
}

TEST_F(ExternalDrill, ACommandThatHangsIsKilledAndUndone) {
  write("hang", "");
  int code = -1;
  const std::string output = rehearse(
      {"run", rings(1'000'000, "{iteration: 1, for: 5min}"), "--out", folder() / "out"}, code);
  EXPECT_EQ(code, 3) << output;
  EXPECT_THAT(output, HasSubstr("it was killed at its limit, 8s"));
  EXPECT_THAT(output, HasSubstr("fault 'cut'"));
  EXPECT_FALSE(is_down()) << log();
  EXPECT_EQ(summary(folder() / "out")["verdict"], "unknown");
}

TEST_F(ExternalDrill, ACommandMayTakeLongerThanALease) {
  write("slow", "");
  Program run = rehearse({"run", rings(1'000'000, "{iteration: 1, for: 5min}", "{port: 7}", "slow"),
                          "--out", folder() / "out"});
  ASSERT_TRUE(wait_until(true)) << run.output();
  const Instant deadline = now() + fault::kRunLease + kPatience;
  int code = -1;
  while (rehearse({"faults", "list"}, code).find("applied") == std::string::npos)
    ASSERT_LT(now(), deadline) << run.output();
  EXPECT_EQ(log(), "check 7\napply 7\ncheck 7\n");
  const std::string cleared = rehearse({"faults", "clear"}, code);
  EXPECT_EQ(code, 0) << cleared;
  EXPECT_FALSE(is_down());
  EXPECT_EQ(run.wait(), 3);
  EXPECT_THAT(run.output(), HasSubstr("an operator had it undone"));
}

TEST_F(ExternalDrill, WhatCannotBeUndoneIsStuckUntilItIs) {
  Program run = run_until_down();
  write("deaf", "");
  int code = -1;
  const std::string cleared = rehearse({"faults", "clear"}, code);
  EXPECT_EQ(code, 2) << cleared;
  EXPECT_THAT(cleared, HasSubstr("the switch does not answer"));
  EXPECT_EQ(run.wait(), 3);
  EXPECT_TRUE(is_down());
  const auto plain = drill("plain", profile(8, "4KiB", "1us"), 1, all_hosts());
  EXPECT_THAT(rehearse({"run", plain}, code), HasSubstr("STUCK"));
  EXPECT_EQ(code, 3);
  remove("deaf");
  EXPECT_TRUE(wait_until(false)) << log();  // tried again every second
  const Instant deadline = now() + kPatience;
  while (rehearse({"faults", "list"}, code).find("STUCK") != std::string::npos) {
    ASSERT_LT(now(), deadline);
  }
}

TEST_F(ExternalDrill, WhatSomebodyElseChangedIsAConflict) {
  Program run = run_until_down();
  write("foreign", "");
  std::string output;
  EXPECT_EQ(undo_at_host(output), 1) << output;
  EXPECT_THAT(output, HasSubstr("conflict: "));
  int code = -1;
  const std::string cleared = rehearse({"faults", "clear"}, code);
  EXPECT_THAT(cleared, HasSubstr("changed by somebody"));
  EXPECT_EQ(run.wait(), 3);
  EXPECT_TRUE(is_down()) << "it is left as it is";
}

TEST_F(ExternalDrill, WhatCannotBeIsRefusedBeforeAnythingStarts) {
  const std::string soon = "{iteration: 1, for: 5s}";
  EXPECT_THAT(refused(rings(10, soon, "{port: 7}", "reload")),
              HasSubstr("does not allow the command 'reload'; its policy names port-down, slow"));
  EXPECT_THAT(refused(rings(10, soon, "{port: 49}")), HasSubstr("an integer from 1 to 48"));
  EXPECT_THAT(refused(rings(10, soon, "{prot: 7}")), HasSubstr("known are port"));
  EXPECT_THAT(refused(rings(10, soon, "{port: '7; reboot'}")),
              HasSubstr("right would be an integer"));
  EXPECT_THAT(refused(rings(10, "{iteration: 1, for: 11min}")), HasSubstr("at most 10min"));
  EXPECT_THAT(refused(rings(10, "{iteration: 1}")), HasSubstr("no deadline"));
  std::filesystem::permissions(root() / "port-down", std::filesystem::perms{0777});
  const Instant deadline = now() + kPatience;  // the agent looks every few seconds
  std::string why;
  while (why.find("writable by root alone") == std::string::npos) {
    ASSERT_LT(now(), deadline) << why;
    why = refused(rings(10, soon, "{port: 99}"));
  }
  EXPECT_THAT(why, HasSubstr("cannot run 'port-down'"));
  int code = -1;
  EXPECT_THAT(rehearse({"doctor"}, code), HasSubstr("cannot run its command port-down"));
  EXPECT_EQ(log(), "") << "nothing was run";
}

TEST_F(ExternalDrill, AHostWithoutARunnerIsRefused) {
  signal("h2-external", SIGKILL);  // nobody starts it again
  const Instant deadline = now() + kPatience;
  std::string why;
  while (why.find("has no rehearsal-external") == std::string::npos) {
    ASSERT_LT(now(), deadline) << why;
    why = refused(rings(10, "{iteration: 1, for: 5s}", "{port: 99}"));
  }
  EXPECT_FALSE(is_down());
}

}  // namespace
}  // namespace rehearsal::test

// Drills whose faults the hosts' kernels do: the whole way from the drill to the interface and
// back.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
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

/// From a death to a clean interface.
constexpr Duration kCleanWithin = fault::kRunLease + std::chrono::seconds{2};

class KernelDrill : public SystemCluster {
 protected:
  KernelDrill() : SystemCluster(std::vector<std::string>{"--helpers"}) {}

  void SetUp() override {
    SystemCluster::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    clean_ = state("h2");
  }

  /// What faults could change of a host: links, MTUs, queueing disciplines.
  std::string state(const std::string& host) {
    std::string text;
    const std::filesystem::path log = folder() / (host + "-state.log");
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"/sbin/ip", "-o", "link"},
          std::vector<std::string>{"/sbin/tc", "qdisc"}}) {
      std::filesystem::remove(log);  // a program's log is added to
      Program program{on_host(host, command), log};
      EXPECT_EQ(program.wait(), 0) << program.output();
      text += program.output();
    }
    return text;
  }
  bool is_clean() { return state("h2") == clean_; }
  bool wait_until_clean(Duration patience) {
    return wait_until([&] { return is_clean(); }, patience);
  }
  bool wait_until_on(const std::string& mark) {
    return wait_until([&] { return state("h2").find(mark) != std::string::npos; });
  }

  /// Rings of two on rail0, by appointment; a fault on h2's rail0.
  std::filesystem::path rings(std::uint32_t iterations, const std::string& what,
                              const std::string& when, const std::string& nics = "rail0",
                              const std::string& direction = "direction: sent",
                              const std::string& bytes = "4MiB") {
    std::ofstream profile{folder() / "ring.yaml"};
    profile << "profile: ring\nranks: 2\nstreams: [compute, communication]\ncommunicators:\n"
               "  world: {ranks: 0-1}\nclasses:\n  worker:\n    ranks: all\n    ops:\n"
               "      - all_reduce: {name: gradients, communicator: world, bytes: "
            << bytes << "}\n";
    const std::filesystem::path path = folder() / "drill.yaml";
    std::ofstream drill{path};
    drill << "drill: kernel\niterations: " << iterations
          << "\nsynchronisation: iteration\njobs:\n"
             "  - {name: hit, profile: ring.yaml, hosts: [h1, h2], nics: [rail0]}\n"
             "  - {name: alone, profile: ring.yaml, hosts: [h3, h4], nics: [rail0]}\n"
             "faults:\n  - name: cut\n    mechanism: kernel\n    what: "
          << what << "\n    where: {hosts: h2, nics: " << nics << ", " << direction
          << "}\n    when: " << when << "\n";
    return path;
  }
  static std::string rate() { return "{kind: rate, to: 1/4, of: 200Mbit/s}"; }

  std::string clean_;
};

TEST_F(KernelDrill, ARateCutByTheKernelSlowsTheRingAndIsGoneAfterwards) {
  int code = -1;
  const std::string output =
      rehearse({"run", rings(12, rate(), "{iteration: 4, iterations: 4, for: 2min}"), "--out",
                folder() / "out"},
               code);
  ASSERT_EQ(code, 0) << output;
  EXPECT_TRUE(is_clean()) << state("h2");
  // Each of two ranks sends 4 MiB, in two steps; h1 must have the first one's 2 MiB of h2, which
  // take 0.34 s at 50 Mbit/s, before it sends its second, with which h2 is done.
  const double healthy = median("hit", 1, 4);
  const double cut = median("hit", 5, 8);
  EXPECT_GT(cut, 0.25);
  EXPECT_LT(cut, 1);
  EXPECT_GT(cut, 3 * healthy);
  EXPECT_LT(median("hit", 9, 12), 0.5 * cut);
  EXPECT_LT(median("alone", 5, 8), 0.5 * cut);
  const json report = summary(folder() / "out");
  const json& fault = report["faults"][0];
  EXPECT_EQ(fault["mechanism"], "kernel");
  ASSERT_EQ(fault["spells"].size(), 1U);
  EXPECT_EQ(fault["spells"][0]["host"], "h2");
  const double on = fault["spells"][0]["ended_seconds"].get<double>() -
                    fault["spells"][0]["began_seconds"].get<double>();
  EXPECT_GT(on, 2 * cut);  // four iterations, of which the median may be the longest but one
  EXPECT_FALSE(fault.contains("problems"));
}

TEST_F(KernelDrill, AFaultThatIsOnIsListedAndCleared) {
  Program run = rehearse(
      {"run", rings(100'000, rate(), "{iteration: 1, for: 5min}"), "--out", folder() / "out"});
  ASSERT_TRUE(wait_until_on("tbf 7e")) << run.output();
  int code = -1;
  const std::string list = rehearse({"faults", "list"}, code);
  EXPECT_EQ(code, 0) << list;
  EXPECT_THAT(list, HasSubstr("h2"));
  EXPECT_THAT(list, HasSubstr("rate 50Mbit/s, sent"));
  EXPECT_THAT(list, HasSubstr("applied"));
  EXPECT_THAT(list, HasSubstr("cut of e1-r1"));
  EXPECT_THAT(rehearse({"faults", "list", "--host", "h1"}, code), HasSubstr("no fault is on"));
  // Longer than a lease: it is renewed.
  std::this_thread::sleep_for(fault::kRunLease + std::chrono::seconds{1});
  EXPECT_THAT(state("h2"), HasSubstr("tbf 7e"));
  EXPECT_THAT(rehearse({"status"}, code), HasSubstr("1 on"));
  const std::string cleared = rehearse({"faults", "clear"}, code);
  EXPECT_EQ(code, 0) << cleared;
  EXPECT_THAT(cleared, HasSubstr("no fault is on"));
  EXPECT_TRUE(is_clean()) << state("h2");
  EXPECT_EQ(run.wait(), 3);
  EXPECT_THAT(run.output(), HasSubstr("an operator had it undone"));
}

class KernelDrillDeath : public KernelDrill, public testing::WithParamInterface<std::string> {};

TEST_P(KernelDrillDeath, TheInterfaceIsSoonWhatItWas) {
  Program run = rehearse(
      {"run", rings(100'000, rate(), "{iteration: 1, for: 5min}"), "--out", folder() / "out"});
  ASSERT_TRUE(wait_until_on("tbf 7e")) << run.output();
  signal(GetParam(), SIGKILL);
  EXPECT_TRUE(wait_until_clean(kCleanWithin)) << state("h2");
  EXPECT_EQ(run.wait(), 3);
  EXPECT_TRUE(is_clean()) << "and stays so";
}

INSTANTIATE_TEST_SUITE_P(Of, KernelDrillDeath, testing::Values("head", "h2"), [](const auto& name) {
  return name.param == "head" ? "Coordinator" : "Agent";
});

TEST_F(KernelDrill, APausedAgentsFaultIsUndoneWhenItsLeaseRunsOut) {
  Program run = rehearse(
      {"run", rings(100'000, rate(), "{iteration: 1, for: 5min}"), "--out", folder() / "out"});
  ASSERT_TRUE(wait_until_on("tbf 7e")) << run.output();
  signal("h2", SIGSTOP);
  EXPECT_TRUE(wait_until_clean(kCleanWithin)) << state("h2");
  signal("h2", SIGCONT);
  EXPECT_EQ(run.wait(), 3);
}

TEST_F(KernelDrill, AHelperThatDiesEndsTheRunAndIsNamed) {
  Program run = rehearse(
      {"run", rings(100'000, rate(), "{iteration: 1, for: 5min}"), "--out", folder() / "out"});
  ASSERT_TRUE(wait_until_on("tbf 7e")) << run.output();
  signal("h2-helper", SIGKILL);
  EXPECT_EQ(run.wait(), 3);
  EXPECT_THAT(run.output(), HasSubstr("the helper is gone"));
  // Nobody has undone it: the host takes no runs until a helper has looked.
  int code = -1;
  const auto plain = drill("plain", profile(8, "4KiB", "1us"), 1, all_hosts());
  EXPECT_THAT(rehearse({"run", plain}, code), HasSubstr("'h2' takes no runs"));
  EXPECT_EQ(code, 3);
  const auto folder_of_helper = cluster_folder() / "h2-helper";
  Program undo{
      on_host("h2", {programs() / "rehearsal-helper", "--policy", folder_of_helper / "policy.yaml",
                     "--state", folder_of_helper / "state", "--socket", folder_of_helper / "socket",
                     "--undo-all"}),
      folder() / "undo.log"};
  EXPECT_EQ(undo.wait(), 0) << undo.output();
  EXPECT_TRUE(is_clean()) << state("h2");
}

TEST_F(KernelDrill, LinksAndMtusComeBack) {
  int code = -1;
  const std::string small = rehearse(
      {"run",
       rings(20, "{kind: mtu, to: 1500B}", "{iteration: 4, for: 1s}", "rail0", "direction: both"),
       "--out", folder() / "out"},
      code);
  EXPECT_EQ(code, 0) << small;
  EXPECT_TRUE(is_clean()) << state("h2");
  EXPECT_EQ(summary(folder() / "out")["faults"][0]["spells"].size(), 1U);
  const std::string flap = rehearse(
      {"run",
       rings(200, "{kind: link_down}", "{after: 200ms, for: 3s, repeat: {on: 200ms, off: 500ms}}",
             "rail0", "direction: both"),
       "--out", folder() / "flap"},
      code);
  EXPECT_EQ(code, 0) << flap;
  EXPECT_TRUE(wait_until_clean(std::chrono::seconds{2})) << state("h2");
  EXPECT_GE(summary(folder() / "flap")["faults"][0]["spells"].size(), 2U);
}

/// Faults of single packets, which need the kernel's netem: the virtual machine of tests/rdma has
/// it.
class NetemDrill : public KernelDrill {
 protected:
  /// Runs it to its end, and h2 is then what it was. Skips where the kernel has no netem.
  void run(const std::filesystem::path& drill) {
    int code = -1;
    std::filesystem::remove_all(folder() / "out");
    const std::string output = rehearse({"run", drill, "--out", folder() / "out"}, code);
    EXPECT_TRUE(is_clean()) << state("h2");
    if (output.find("this kernel has no netem") != std::string::npos) {
      EXPECT_EQ(code, 3) << output;
      EXPECT_THAT(output, HasSubstr("fault 'cut'"));
      ASSERT_EQ(std::getenv("REHEARSAL_TEST_HAS_NETEM"), nullptr) << output;
      GTEST_SKIP() << "SKIP: this kernel has no netem";
    }
    ASSERT_EQ(code, 0) << output;
    const json fault = summary(folder() / "out")["faults"][0];
    EXPECT_EQ(fault["spells"].size(), 1U);
    EXPECT_FALSE(fault.contains("problems"));
  }

  /// TCP segments that the kernel of h2 sent again, since its namespace is.
  std::uint64_t retransmissions() {
    const std::filesystem::path log = folder() / "snmp.log";
    std::filesystem::remove(log);
    Program program{on_host("h2", {"/bin/grep", "^Tcp:", "/proc/net/snmp"}), log};
    EXPECT_EQ(program.wait(), 0) << program.output();
    // A line of names, then one of their values.
    std::istringstream names{program.output()};
    std::string name_line;
    std::getline(names, name_line);
    std::istringstream words{name_line};
    std::uint64_t value = 0;
    for (std::string name, text; words >> name && names >> text;) {
      if (name == "RetransSegs") value = std::stoull(text);
    }
    return value;
  }
};

TEST_F(NetemDrill, DelayAndLossAreFeltByTheJob) {
  // So many, because some dozens pass until the fault is on.
  run(rings(180, "{kind: delay, by: 50ms}", "{iteration: 20, iterations: 130, for: 1min}", "rail0",
            "direction: sent", "64KiB"));
  if (IsSkipped() || HasFatalFailure()) return;
  // The queue is later by 50 ms as a whole: of a ring of two, in two steps, either rank waits for
  // one message of h2 and no message of h2 waits for another.
  const double added = median("hit", 110, 150) - median("hit", 1, 20);
  std::cout << "50 ms on what h2 sends add " << added * 1000 << " ms\n";
  EXPECT_GT(added, 0.035);
  EXPECT_LT(added, 0.15);
  EXPECT_LT(median("hit", 165, 180), added - 0.02);
  EXPECT_LT(median("alone", 110, 150), added - 0.02);

  const std::uint64_t before = retransmissions();
  run(rings(30, "{kind: loss, share: 10%}", "{iteration: 5, iterations: 20, for: 1min}", "rail0",
            "direction: sent", "512KiB"));
  const std::uint64_t again = retransmissions() - before;
  std::cout << again << " segments were sent again\n";
  EXPECT_GT(again, 10U);
}

TEST_F(KernelDrill, WhatCannotBeIsRefusedBeforeAnythingStarts) {
  const std::uint64_t before = sent_by_all();
  int code = -1;
  const auto refused = [&](const std::filesystem::path& drill) {
    const std::string output = rehearse({"run", drill}, code);
    EXPECT_NE(code, 0);
    return output;
  };
  const std::string soon = "{iteration: 1, for: 5s}";
  EXPECT_THAT(refused(rings(10, rate(), soon, "ctl0")),
              HasSubstr("carries its control connection or default route"));
  EXPECT_THAT(refused(rings(10, rate(), "{iteration: 1}")), HasSubstr("no deadline"));
  EXPECT_THAT(refused(rings(10, rate(), "{iteration: 1, for: 1h}")),
              HasSubstr("allows at most 10min"));
  EXPECT_THAT(refused(rings(10, rate(), soon, "rail0", "direction: both")),
              HasSubstr("direction: sent"));
  std::ofstream{cluster_folder() / "h2-helper" / "policy.yaml"}
      << "agent: 0\nfaults: [mtu]\ninterfaces: [rail1]\nduration_max: 1min\n";
  const Instant deadline = now() + kPatience;  // the agent looks every few seconds
  const auto allowed = [&] {
    return json::parse(
        rehearse({"status", "--json"}, code))["agents"][1]["kernel"]["allowed_faults"];
  };
  while (allowed() != json::array({"mtu"})) {
    ASSERT_LT(now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
  EXPECT_THAT(refused(rings(10, rate(), soon)), HasSubstr("does not allow rate"));
  EXPECT_THAT(refused(rings(10, "{kind: mtu, to: 1500B}", soon, "rail0", "direction: both")),
              HasSubstr("does not allow faults on 'rail0'"));
  EXPECT_TRUE(is_clean());
  EXPECT_LT(sent_by_all() - before, 10'000U);
}

}  // namespace
}  // namespace rehearsal::test

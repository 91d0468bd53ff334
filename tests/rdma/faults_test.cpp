// The real programs over Soft-RoCE while something goes wrong: the run ends with the documented
// error, and the next one passes.
#include <gmock/gmock.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/rdma/rdma_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class RdmaFaults : public RdmaCluster {
 protected:
  /// A run that would take minutes, in the midst of its iterations.
  Program running(const std::string& transport = "") {
    const std::uint64_t before = device_counter(1, "sent_pkts");
    Program run = rehearse(
        {"run", drill("long", 2, "256KiB", 10'000, transport), "--out", folder() / "long"});
    EXPECT_TRUE(run.wait_for_output("running ")) << run.output();
    const Instant deadline = now() + kPatience;
    while (device_counter(1, "sent_pkts") < before + 1000 && now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    return run;
  }

  /// The reasons of the long run's verdict, which is not pass.
  std::string reasons(Program& run) {
    const auto code = run.wait();
    EXPECT_TRUE(code.has_value()) << run.output();
    EXPECT_NE(code.value_or(0), 0);
    return summary(folder() / "long")["reasons"].dump();
  }

  void expect_next_run_passes() {
    ASSERT_TRUE(wait_for_free_agents(2));
    pass(drill("next", 2, "64KiB", 2, "  verify_payload: true\n"));
  }

  /// Packets over `bytes` get lost in the switch. Not by the MTU of p1 or p2: what the other end of
  /// a veth refuses, Soft-RoCE offers again and again within the system call.
  static void limit_switch_to(std::uint32_t bytes) {
    for (const std::string port : {"p1", "p2"}) {
      traffic_control({"qdisc", "add", "dev", port, "ingress"});
      traffic_control({"filter", "add",      "dev",  port,     "parent",
                       "ffff:",  "protocol", "all",  "u32",    "match",
                       "u32",    "0",        "0",    "police", "rate",
                       "10gbit", "burst",    "10mb", "mtu",    std::to_string(bytes),
                       "drop"});
    }
  }
  static void lift_limit() {
    for (const std::string port : {"p1", "p2"})
      traffic_control({"qdisc", "del", "dev", port, "ingress"});
  }

  std::string fails(const std::filesystem::path& drill) {
    int code = 0;
    const std::string output = rehearse({"run", drill, "--out", folder() / "failed"}, code);
    EXPECT_NE(code, 0) << output;
    return output;
  }
};

TEST_F(RdmaFaults, ALinkThatGoesDownIsAnErrorOfThePeerThatDoesNotAnswer) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  Program run = running("");
  on_switch({"link", "set", "p2", "down"});
  EXPECT_THAT(reasons(run), HasSubstr("[REHEARSAL-RDMA-020]"));
  on_switch({"link", "set", "p2", "up"});
  wait_for_port(2);
  expect_next_run_passes();
}

TEST_F(RdmaFaults, APathWithASmallerMtuIsFoundBeforeAnyLoad) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  limit_switch_to(1500);
  const std::string output = fails(drill("mtu", 2, "64KiB", 1));
  EXPECT_THAT(output, HasSubstr("REHEARSAL-RDMA-008"));
  EXPECT_THAT(output, testing::Not(HasSubstr("REHEARSAL-RDMA-007")));
  ASSERT_TRUE(wait_for_free_agents(2));
  pass(drill("small", 2, "64KiB", 1, "  path_mtu: 1024B\n"));
  lift_limit();
  expect_next_run_passes();
}

TEST_F(RdmaFaults, APeerThatIsKilledIsNamed) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  Program run = running();
  kill_agent("h2");
  EXPECT_THAT(reasons(run), HasSubstr("h2"));
  start_agent("h2");
  expect_next_run_passes();
}

TEST_F(RdmaFaults, AnAddressThatIsGoneIsAGidThatIsGone) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  move_address(2, false);
  EXPECT_THAT(fails(drill("gid", 2, "64KiB", 1)), HasSubstr("REHEARSAL-RDMA-006"));
  move_address(2, true);
  expect_next_run_passes();
}

TEST_F(RdmaFaults, LossShowsInTheCountersAndInTheTail) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  const auto path = drill("loss", 2, "1MiB", 5, "  verify_payload: true\n");
  const json clean = pass(path);
  const std::uint64_t before = retransmissions();
  traffic_control({"qdisc", "replace", "dev", "p2", "root", "netem", "loss", "2%"});
  const json lossy = pass(path);
  traffic_control({"qdisc", "del", "dev", "p2", "root"});
  EXPECT_GT(retransmissions(), before);
  EXPECT_THAT(lossy["nics"].dump(),
              testing::AnyOf(HasSubstr("out_of_seq_request"), HasSubstr("duplicate_request"),
                             HasSubstr("completer_retry_err")));
  const auto slowest = [](const json& report) {
    return report["jobs"][0]["iterations"]["time_seconds"]["max"].get<double>();
  };
  EXPECT_GT(slowest(lossy), slowest(clean));
}

}  // namespace
}  // namespace rehearsal::test

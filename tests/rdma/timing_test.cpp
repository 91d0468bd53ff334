// The real programs over Soft-RoCE in virtual time (scripts/rdma-vm run --icount): how busy this
// machine is does not show, so that microseconds can be held against what they should be. Medians:
// in virtual time reading a file of the host is a jump.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/rdma/rdma_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;

class Timing : public RdmaCluster {
 protected:
  /// Median time in µs of the drill's all_reduce of 8 bytes.
  static double flag_time(const json& report) {
    for (const json& collective : report["jobs"][0]["collectives"])
      if (collective["kind"] == "all_reduce" && collective["bytes"] == 8)
        return collective["time_seconds"]["p50"].get<double>() * 1e6;
    ADD_FAILURE() << "the report has no all_reduce of 8 bytes";
    return 0;
  }
};

TEST_F(Timing, ADelayOnTheLinkIsInTheTimeOfTheCollective) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  const auto path = drill("delay", 2, "4KiB", 20);
  const double clean = flag_time(pass(path));
  EXPECT_GT(clean, 10) << "an emulated processor is not so fast";
  EXPECT_LT(clean, 1000);
  // One way: the longest chain of the ring's messages passes there once.
  traffic_control({"qdisc", "replace", "dev", "p2", "root", "netem", "delay", "5ms"});
  const double slow = flag_time(pass(path));
  traffic_control({"qdisc", "del", "dev", "p2", "root"});
  EXPECT_GE(slow, 5000);
  EXPECT_LE(slow, 5000 + 2 * clean + 100);
  const double after = flag_time(pass(path));
  EXPECT_LT(after, 1000) << "the delay is gone again";
}

}  // namespace
}  // namespace rehearsal::test

// The real programs over Soft-RoCE: runs that pass.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/rdma/rdma_cluster.hpp"

namespace rehearsal::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Runs : public RdmaCluster {};

void expect_bytes_as_planned(const json& report) {
  const json& job = report["jobs"][0];
  EXPECT_EQ(job["ops"]["completed"], job["ops"]["planned"]);
  EXPECT_GT(job["bytes"]["planned"], 0);
  EXPECT_EQ(job["bytes"]["sent"], job["bytes"]["planned"]);
  EXPECT_EQ(job["bytes"]["received"], job["bytes"]["planned"]);
  EXPECT_EQ(report["transport"]["kind"], "rdma");
  EXPECT_EQ(report["transport"]["byte_source"], "completed");
}

TEST_F(Runs, TwoHostsPassWithTheBytesOfThePlan) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  const std::uint64_t packets = device_counter(1, "sent_pkts");
  const json report = pass(drill("two", 2, "1MiB", 3, "  verify_payload: true\n"));
  expect_bytes_as_planned(report);
  // 2 × 3/4 MiB at least leave each host in an iteration, in packets of 4096 bytes.
  EXPECT_GT(device_counter(1, "sent_pkts") - packets, 3U * 384U);
}

TEST_F(Runs, FourHostsPassInEveryWayOfUsingQueuePairs) {
  ASSERT_NO_FATAL_FAILURE(start(4));
  expect_bytes_as_planned(pass(drill("four", 4, "256KiB", 2, "  verify_payload: true\n")));
  expect_bytes_as_planned(pass(drill("send", 4, "256KiB", 2, "  operation: send\n")));
  expect_bytes_as_planned(
      pass(drill("split", 4, "256KiB", 2,
                 "  verify_payload: true\n  queue_pairs: 2\n  queue_pair_use: split\n")));
}

}  // namespace
}  // namespace rehearsal::test

#include "core/plan/queue_pair_variables.hpp"

#include <gmock/gmock.h>

#include "core/plan/drill_text.hpp"

namespace rehearsal::plan {
namespace {

using testing::HasSubstr;

Result<Drill> drill(const std::string& transport, const std::string& nccl) {
  return parse_drill("drill: d\njobs: [{name: j, profile: p, hosts: [h]}]\ntransport: " +
                         transport + "\ncollectives: {nccl: " + nccl + "}\n",
                     "drill.yaml");
}
std::string failure(const std::string& transport, const std::string& nccl) {
  const auto read = drill(transport, nccl);
  return read ? "no failure" : read.error().text();
}

TEST(QueuePairVariables, AreSettingsOfTheTransportAndNeedNoNode) {
  const auto read = drill("{kind: rdma}",
                          "{NCCL_IB_QPS_PER_CONNECTION: 4, NCCL_IB_SPLIT_DATA_ON_QPS: 1, "
                          "NCCL_IB_TC: 106, NCCL_IB_SL: 3, NCCL_IB_TIMEOUT: 22, "
                          "NCCL_IB_RETRY_CNT: \"5\", NCCL_IB_ECE_ENABLE: 0}");
  ASSERT_TRUE(read) << read.error().text();
  RdmaSettings expected;
  expected.queue_pairs = 4;
  expected.queue_pair_use = QueuePairUse::split;
  expected.traffic_class = 106;
  expected.service_level = 3;
  expected.ack_timeout = 22;
  expected.retry_count = 5;
  expected.ece = false;
  EXPECT_EQ(read->transport.rdma, expected);
  EXPECT_EQ(read->forced, ForcedChoices{});
}

TEST(QueuePairVariables, WrittenTwiceTheyMustAgree) {
  EXPECT_TRUE(drill("{kind: rdma, queue_pairs: 2}", "{NCCL_IB_QPS_PER_CONNECTION: 2}"));
  EXPECT_TRUE(drill("{kind: rdma, ece: false}", "{NCCL_IB_ECE_ENABLE: 0}"));
  EXPECT_THAT(failure("{kind: rdma, ece: true}", "{NCCL_IB_ECE_ENABLE: 0}"),
              HasSubstr("says something else than transport.ece"));
  EXPECT_THAT(failure("{kind: rdma, queue_pairs: 2}", "{NCCL_IB_QPS_PER_CONNECTION: 4}"),
              HasSubstr("drill.yaml:4:50: collectives.nccl.NCCL_IB_QPS_PER_CONNECTION: says "
                        "something else than transport.queue_pairs; say it once"));
  EXPECT_THAT(failure("{kind: rdma, queue_pairs: 1}", "{NCCL_IB_QPS_PER_CONNECTION: 4}"),
              HasSubstr("says something else than transport.queue_pairs"))
      << "also where what is written is the default";
}

TEST(QueuePairVariables, SayWhatIsWrongWithThem) {
  EXPECT_THAT(failure("{kind: rdma}", "{NCCL_IB_QPS_PER_CONNECTION: 0}"),
              HasSubstr("is '0'; expected 1 to 64"));
  EXPECT_THAT(failure("{kind: rdma}", "{NCCL_IB_SPLIT_DATA_ON_QPS: true}"),
              HasSubstr("is 'true'; expected 0 to 1"));
  EXPECT_THAT(failure("{kind: tcp}", "{NCCL_IB_QPS_PER_CONNECTION: 4}"),
              HasSubstr("is a setting of queue pairs, and the transport is tcp"));
  EXPECT_THAT(failure("{kind: rdma, operation: send}",
                      "{NCCL_IB_QPS_PER_CONNECTION: 4, NCCL_IB_SPLIT_DATA_ON_QPS: 1}"),
              HasSubstr("transport.queue_pair_use: split needs to know where in a slot"));
  EXPECT_THAT(failure("{kind: rdma}", "{NCCL_IB_QPS: 4}"), HasSubstr("is not known"));
  EXPECT_THAT(failure("{kind: rdma}", "{NCCL_IB_TC: 8, NCCL_ALGO: Ring}"),
              HasSubstr("nccl means something on known nodes alone"));
}

TEST(QueuePairVariables, AreToldFromOthersByTheirNames) {
  EXPECT_TRUE(is_queue_pair_variable("NCCL_IB_QPS_PER_CONNECTION"));
  EXPECT_FALSE(is_queue_pair_variable("NCCL_IB_HCA"));
  EXPECT_FALSE(is_queue_pair_variable(""));
}

}  // namespace
}  // namespace rehearsal::plan

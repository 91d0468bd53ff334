#include "core/import/execution_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::importer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string trace(const std::string& nodes) {
  return "{\"schema\": \"1.0.1\", \"nodes\": [" + nodes + "]}";
}

std::string comms(const std::string& inputs, const std::string& outputs = "[]") {
  return "{\"name\": \"record_param_comms\", \"id\": 5, \"inputs\": " + inputs +
         ", \"input_types\": [\"Tensor(float)\"], \"outputs\": " + outputs + "}";
}

std::string error_of(const std::string& json) {
  const auto read = read_execution_trace("eg_1.json", json);
  return read ? "(read)" : read.error().text();
}

TEST(ExecutionTrace, SplitsCountRowsOfTheTensor) {
  const auto read = read_execution_trace(
      "eg_1.json",
      trace(comms(R"([[1, 1, 0, 12, 4, "cuda:0"], 3, 9, 1, "all_to_allv", [1, 2], [2, 1]])",
                  R"([[2, 2, 0, 12, 4, "cuda:0"]])")));
  ASSERT_TRUE(read) << read.error().text();
  const CapturedCollective& collective = *read->entries.at(0).collective;
  EXPECT_THAT(collective.sends, ElementsAre(4U, 8U));
  EXPECT_THAT(collective.recvs, ElementsAre(8U, 4U));
  EXPECT_EQ(collective.input_bytes(), Bytes{48});
  EXPECT_EQ(collective.text(), "all_to_allv 12 fp32");
}

TEST(ExecutionTrace, NodesCountByWhenTheyBegan) {
  const auto read = read_execution_trace(
      "eg_1.json",
      trace(R"({"name": "record_param_comms", "id": 9, "inputs": [3, 0, 0, "wait", [], []]},)" +
            comms(R"([[1, 1, 0, 12, 4, "cuda:0"], 3, 9, 1, "allreduce", [], []])")));
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->entries.size(), 2U);
  EXPECT_TRUE(read->entries[0].collective);
  EXPECT_FALSE(read->entries[1].collective);
  EXPECT_EQ(read->entries[1].sequence, 3);
  EXPECT_EQ(read->rank, Rank{1});
}

TEST(ExecutionTrace, ErrorsNameTheNode) {
  EXPECT_THAT(error_of("{"), HasSubstr("eg_1.json: no valid JSON"));
  EXPECT_THAT(error_of("{}"), HasSubstr("'schema' is missing"));
  EXPECT_THAT(error_of("{\"schema\": \"1.1.0-chakra.0.0.4\", \"nodes\": []}"),
              HasSubstr("schema 1.1.0-chakra.0.0.4; this importer reads"));
  EXPECT_THAT(error_of("{\"schema\": \"1.0.1\"}"), HasSubstr("'nodes' is missing"));
  EXPECT_THAT(error_of(trace("7")), HasSubstr("node number 0"));
  EXPECT_THAT(error_of(trace(comms("[1, 2, 3]"))), HasSubstr("node 5: 3 inputs"));
  EXPECT_THAT(error_of(trace(comms(R"([1, 3, 9, 1, "allreduce", [], []])"))),
              HasSubstr("node 5: a tensor is no list"));
  EXPECT_THAT(error_of(trace(
                  comms(R"([[1, 1, 0, 9223372036854775808, 4], 3, 9, 1, "allreduce", [], []])"))),
              HasSubstr("node 5: a tensor has over 2^46 elements"));
  EXPECT_THAT(error_of(trace(comms(R"([[1, 1, 0, 1, 4], 3, 9, 1, "magic", [], []])"))),
              HasSubstr("'magic' is no operation"));
  EXPECT_THAT(error_of(trace(comms(R"([[1, 1, 0, 4, 4], 3, 9, 1, "all_to_allv", [3], []])"))),
              HasSubstr("input splits add up to 3, the tensor has 4 elements"));
  EXPECT_THAT(error_of(trace(comms(R"([[1, 1, 0, 4, 4], 3, 9, 0, "allreduce", [], []])"))),
              HasSubstr("its name says rank 1, its collectives rank 0"));
}

}  // namespace
}  // namespace rehearsal::importer

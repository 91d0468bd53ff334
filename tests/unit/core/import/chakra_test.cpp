#include "core/import/chakra.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/import/import.hpp"

namespace rehearsal::importer {
namespace {

using profile::Op;
using profile::OpKind;
using testing::ElementsAre;
using testing::HasSubstr;

// A small writer of the wire format, so that the files of the tests can be read here.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
std::string number(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string delimited(std::uint32_t field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string frame(const std::string& message) { return varint(message.size()) + message; }
std::string attribute(const std::string& name, std::uint64_t value, std::uint32_t field = 9) {
  return delimited(10, delimited(1, name) + number(field, value));
}
const std::string kMetadata = frame(delimited(1, "0.0.4"));

std::string compute(std::uint64_t id, std::uint64_t micros, const std::string& more = "") {
  return frame(number(1, id) + delimited(2, "c" + std::to_string(id)) + number(3, 4) +
               number(7, micros) + more);
}
std::string all_reduce(std::uint64_t id, std::uint64_t bytes, const std::string& more = "") {
  return frame(number(1, id) + number(3, 7) + attribute("comm_type", 0) +
               attribute("comm_size", bytes) + more);
}
std::string send(std::uint64_t id, std::uint64_t to) {
  return frame(number(1, id) + number(3, 5) + attribute("comm_size", 64) +
               attribute("comm_dst", to, 7));
}
std::string recv(std::uint64_t id, std::uint64_t from, const std::string& more = "") {
  return frame(number(1, id) + number(3, 6) + attribute("comm_size", 64) +
               attribute("comm_src", from, 7) + more);
}

std::string error_of(const std::string& content) {
  const auto profile = import_capture({{"job.0.et", content}}, "job");
  return profile ? "(imported)" : profile.error().text();
}

TEST(Chakra, WithAndWithoutMetadataFrameTheSame) {
  const std::string nodes = compute(1, 5) + all_reduce(2, 100, number(5, 1));
  const auto with = import_capture({{"job.0.et", kMetadata + nodes}}, "job");
  const auto without = import_capture({{"job.0.et", nodes}}, "job");
  ASSERT_TRUE(with) << with.error().text();
  ASSERT_TRUE(without) << without.error().text();
  EXPECT_EQ(profile::identity(*with), profile::identity(*without));
  const auto& ops = with->classes.at(0).ops;
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].duration, std::chrono::microseconds{5});
  EXPECT_EQ(ops[1].bytes, Bytes{100});
  EXPECT_THAT(ops[1].after, ElementsAre(0U));
}

TEST(Chakra, MetadataThatHasOnlyAttributes) {
  const auto read =
      read_chakra("job.0.et", frame(delimited(2, delimited(1, "schema"))) + compute(0, 1));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(read->metadata);
  EXPECT_EQ(read->nodes.size(), 1U);
}

TEST(Chakra, DependenciesReachThroughHostOps) {
  const std::string host =
      frame(number(1, 2) + number(3, 7) + delimited(5, varint(1)) + attribute("is_cpu_op", 1, 27));
  const auto profile =
      import_capture({{"job.0.et", all_reduce(1, 8) + host + compute(3, 5, number(5, 2))}}, "job");
  ASSERT_TRUE(profile) << profile.error().text();
  const auto& ops = profile->classes.at(0).ops;
  ASSERT_EQ(ops.size(), 2U) << "a host op takes no time";
  EXPECT_THAT(ops[1].after, ElementsAre(0U));
}

TEST(Chakra, AReceiveDoesNotWaitForTheSendBeforeIt) {
  const auto profile = import_capture({{"ring.0.et", send(0, 1) + recv(1, 1, number(5, 0))},
                                       {"ring.1.et", send(0, 0) + recv(1, 0, number(5, 0))}},
                                      "ring");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_THAT(profile->streams, ElementsAre("send", "receive"));
  const auto& ops = profile->class_of(Rank{0}).ops;
  EXPECT_EQ(ops.at(1).kind, OpKind::recv);
  EXPECT_TRUE(ops.at(1).after.empty());
}

TEST(Chakra, ADependencyOnAMissingNodeIsLeftOutAndSaid) {
  const auto profile = import_capture({{"job.0.et", compute(1, 5, number(5, 77))}}, "job");
  ASSERT_TRUE(profile) << profile.error().text();
  EXPECT_THAT(profile->provenance.note,
              HasSubstr("1 dependencies on nodes that are not in the files"));
}

TEST(Chakra, ErrorsNameTheFrame) {
  EXPECT_THAT(error_of(""), HasSubstr("job.0.et: it is empty"));
  EXPECT_THAT(error_of(kMetadata), HasSubstr("job.0.et: no node"));
  const std::string good = compute(0, 1);
  EXPECT_THAT(error_of(good + compute(1, 1).substr(0, 5)),
              HasSubstr("frame 1: its length, at byte"));
  EXPECT_THAT(error_of(good + frame("\x0f")), HasSubstr("frame 1: a malformed field"));
  EXPECT_THAT(error_of(good + good), HasSubstr("frame 1: id 0 is also that of frame 0"));
  EXPECT_THAT(error_of(frame(number(1, 1) + number(3, 7))),
              HasSubstr("frame 0: a collective without 'comm_type'"));
  EXPECT_THAT(error_of(frame(number(3, 7) + attribute("comm_type", 99))),
              HasSubstr("'comm_type' 99"));
  EXPECT_THAT(error_of(all_reduce(1, ~0ULL)), HasSubstr("'comm_size' is missing or over 1 PiB"));
  EXPECT_THAT(error_of(compute(1, ~0ULL)), HasSubstr("its duration is over 24 h"));
  EXPECT_THAT(error_of(compute(1, 5, number(5, 2)) + compute(2, 5, number(5, 1))),
              HasSubstr("in a cycle of dependencies"));
  EXPECT_THAT(error_of(send(0, 0)), HasSubstr("its peer is its own rank"));
  EXPECT_THAT(
      error_of(all_reduce(1, 8, delimited(10, delimited(1, "pg_name") + delimited(29, "7")))),
      HasSubstr("only collectives of all ranks"));
}

TEST(Chakra, ARankIsNeeded) {
  const auto profile = import_capture({{"job.et", compute(0, 1)}}, "job");
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr("job.et: the rank is missing"));
}

}  // namespace
}  // namespace rehearsal::importer

#include "core/measure/fault_times.hpp"

#include <gtest/gtest.h>

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;

FaultMeasurements sample() {
  return {.spells = {{.fault = 0, .level = 1, .began = Instant{6s}, .ended = Instant{7s}},
                     {.fault = 1,
                      .job = JobIndex{0},
                      .rank = Rank{2},
                      .began = Instant{6s},
                      .ended = Instant{8s}}},
          .spells_dropped = 2,
          .effects = {{.fault = 0, .messages = 50, .hit = 7}},
          .background = {{.fault = 2,
                          .sent = Bytes{3'000},
                          .received = Bytes{2'000},
                          .messages_sent = 3,
                          .messages_received = 2}},
          .problems = {{.fault = 1, .text = "STUCK: the kernel says no"}}};
}

TEST(FaultTimes, ComeBackAsTheyWere) {
  Encoder encoder;
  encode(sample(), encoder);
  const std::string bytes = encoder.take();
  Decoder decoder(bytes);
  const auto read = decode_fault_measurements(decoder);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, sample());
  EXPECT_EQ(decoder.remaining(), 0U);
}

TEST(FaultTimes, ALongProblemIsCutNotRefused) {
  FaultMeasurements measurements;
  measurements.problems = {{.fault = 0, .text = std::string(5000, 'x')}};
  Encoder encoder;
  encode(measurements, encoder);
  const std::string bytes = encoder.take();
  Decoder decoder(bytes);
  const auto read = decode_fault_measurements(decoder);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->problems[0].text.size(), 512U);
}

TEST(FaultTimes, AProblemThatIsNoTextCannotBreakTheReport) {
  FaultMeasurements measurements = sample();
  measurements.problems = {{.fault = 0, .text = "switch says \xe2\x80"}};
  Encoder encoder;
  encode(measurements, encoder);
  const std::string bytes = encoder.take();
  Decoder decoder(bytes);
  const auto read = decode_fault_measurements(decoder);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->problems[0].text, "switch says ??");
}

TEST(FaultTimes, TruncatedAnywhereIsAnError) {
  Encoder encoder;
  encode(sample(), encoder);
  const std::string bytes = encoder.take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Decoder decoder(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(decode_fault_measurements(decoder)) << size;
  }
}

}  // namespace
}  // namespace rehearsal::measure

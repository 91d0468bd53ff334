#include "core/measure/fault_times.hpp"

#include <gtest/gtest.h>

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;

FaultMeasurements some() {
  return {.spells = {{.fault = 1, .level = 2, .began = Instant{5s}, .ended = Instant{7s}},
                     {.fault = 0,
                      .level = 0,
                      .job = JobIndex{0},
                      .rank = Rank{3},
                      .began = Instant{1ns},
                      .ended = Instant{1ns}}},
          .spells_dropped = 9,
          .effects = {{.fault = 1, .messages = 1'000, .hit = 17}},
          .background = {{.fault = 2,
                          .sent = Bytes{3'000},
                          .received = Bytes{2'000},
                          .messages_sent = 3,
                          .messages_received = 2}}};
}

std::string bytes_of(const FaultMeasurements& measurements) {
  Encoder encoder;
  encode(measurements, encoder);
  return encoder.take();
}

TEST(FaultTimes, AreReadBack) {
  const std::string bytes = bytes_of(some());
  Decoder decoder(bytes);
  const auto read = decode_fault_measurements(decoder);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, some());
  EXPECT_EQ(decoder.remaining(), 0U);
}

TEST(FaultTimes, TruncatedAnywhereIsAnError) {
  const std::string bytes = bytes_of(some());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Decoder decoder(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(decode_fault_measurements(decoder)) << size;
  }
}

TEST(FaultTimes, AFaultThatEndedBeforeItBeganIsRefused) {
  FaultMeasurements wrong = some();
  wrong.spells[0].ended = Instant{4s};
  const std::string bytes = bytes_of(wrong);
  Decoder decoder(bytes);
  EXPECT_FALSE(decode_fault_measurements(decoder));
}

}  // namespace
}  // namespace rehearsal::measure

#include "core/measure/flow_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

FlowMeasurements measurements() {
  FlowMeasurements agent;
  agent.windows = {0, 10, 20};
  agent.flows = {
      {.job = JobIndex{1},
       .source = Rank{2},
       .destination = Rank{300},
       .nic = NicIndex{1},
       .outgoing = true,
       .windows = {{.messages = 4,
                    .bytes = Bytes{4096},
                    .held = 3ms,
                    .stood = 2ms,
                    .instants = ~std::uint64_t{0}},
                   {},
                   {.messages = 1, .bytes = Bytes{1}, .held = 1ns, .stood = 0ns}}},
      {.source = Rank{3}, .destination = Rank{2}, .local = true, .windows = {{}, {}, {}}}};
  agent.ranks = {{.job = JobIndex{1},
                  .rank = Rank{2},
                  .windows = {{.computed = 5ms, .late = 10us}, {}, {.computed = 6ms}}}};
  return agent;
}

TEST(FlowTimes, ComeBackFromTheirBytes) {
  Encoder encoder;
  encode(measurements(), encoder);
  Decoder decoder(encoder.bytes());
  const auto back = decode_flow_measurements(decoder);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(*back, measurements());
  EXPECT_EQ(decoder.remaining(), 0U);
}

TEST(FlowTimes, EveryTruncationIsAnError) {
  Encoder encoder;
  encode(measurements(), encoder);
  for (std::size_t size = 0; size < encoder.bytes().size(); ++size) {
    Decoder decoder(std::string_view(encoder.bytes()).substr(0, size));
    EXPECT_FALSE(decode_flow_measurements(decoder)) << size;
  }
}

TEST(FlowTimes, MoreFiguresThanARunHasAreRefused) {
  Encoder encoder;
  encoder.number(kWindowsMax);
  for (std::uint64_t i = 0; i < kWindowsMax; ++i) encoder.number(i);
  encoder.number(kFlowCellsMax / kWindowsMax + 1);
  const std::string bytes = encoder.take() + std::string(kFlowCellsMax, '\0');
  Decoder decoder(bytes);
  const auto back = decode_flow_measurements(decoder);
  ASSERT_FALSE(back);
  EXPECT_THAT(back.error().text(), testing::HasSubstr("65537 flows in 16 windows"));
}

TEST(FlowTimes, WindowsOutOfOrderAreRefused) {
  Encoder encoder;
  for (const std::uint64_t number : {3, 0, 7, 7, 0, 0}) encoder.number(number);
  Decoder decoder(encoder.bytes());
  EXPECT_FALSE(decode_flow_measurements(decoder));
}

TEST(Windows, DivideARunEvenly) {
  EXPECT_THAT(windows_of(1), ElementsAre(0));
  EXPECT_THAT(windows_of(3), ElementsAre(0, 1, 2));
  const auto windows = windows_of(1000);
  ASSERT_EQ(windows.size(), kWindowsMax);
  EXPECT_EQ(windows[1], 62U);
  EXPECT_EQ(windows.back(), 937U);
}

TEST(Windows, StopAtEdges) {
  const std::vector<std::uint32_t> edges = {5, 6, 50};
  const auto windows = windows_of(60, edges);
  EXPECT_LE(windows.size(), kWindowsMax);
  for (const std::uint32_t edge : edges) EXPECT_THAT(windows, testing::Contains(edge));
  EXPECT_TRUE(std::ranges::is_sorted(windows));
}

TEST(Windows, EdgesBeyondTheRunOrTooManyAreLeftOut) {
  EXPECT_THAT(windows_of(2, std::vector<std::uint32_t>{0, 1, 2, 9}), ElementsAre(0, 1));
  std::vector<std::uint32_t> edges;
  for (std::uint32_t i = 1; i < 100; ++i) edges.push_back(i);
  EXPECT_EQ(windows_of(1000, edges).size(), kWindowsMax);
}

TEST(Windows, EveryIterationHasOne) {
  const auto windows = windows_of(1000);
  EXPECT_EQ(window_of(windows, 0), 0U);
  EXPECT_EQ(window_of(windows, 61), 0U);
  EXPECT_EQ(window_of(windows, 62), 1U);
  EXPECT_EQ(window_of(windows, 999), kWindowsMax - 1);
}

}  // namespace
}  // namespace rehearsal::measure

#include "core/measure/agent_measurements.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "core/base/random.hpp"
#include "tests/support/golden.hpp"

namespace rehearsal::measure {
namespace {

using namespace std::chrono_literals;

AgentMeasurements measurements() {
  AgentMeasurements agent;
  agent.results.instances = {{.key = {.job = JobIndex{0}, .number = 3, .iteration = 2},
                              .what = {.job = JobIndex{0}, .bytes = Bytes{4096}},
                              .ranks = 2,
                              .shortest = 10us,
                              .longest = 90us}};
  agent.results.iterations = {{.job = JobIndex{0},
                               .iteration = 2,
                               .ranks = 2,
                               .longest = 3ms,
                               .waited = 1ms,
                               .appointment = Instant{5s},
                               .first_start = Instant{5s + 3us},
                               .last_done = Instant{6s}}};
  agent.results.rank_times.push_back({.what = {.bytes = Bytes{4096}}, .times = {}});
  agent.results.rank_times.back().times.record(90us);
  agent.jobs = {{.job = JobIndex{0}, .sent = Bytes{1}, .received = Bytes{2}, .local = Bytes{3}}};
  agent.nics = {
      {.nic = NicIndex{1},
       .sent = Bytes{10},
       .received = Bytes{20},
       .counter_sent = Bytes{11},
       .counter_received = std::nullopt,
       .device_counters = {{.name = "out_of_sequence", .rise = 7}},
       .counters_span = 2s,
       .sent_series = {.origin = Instant{5s}, .bin = 100us, .bytes = {0, 4, 6}},
       .received_series = {.origin = Instant{5s}, .bin = 200us, .bytes = {20}},
       .wire = WireMeasurements{.sent_source = "tx_bytes",
                                .received_source = "rx_bytes",
                                .sent = {.origin = Instant{5s}, .bin = 1ms, .bytes = {0, 12}},
                                .received = {.origin = Instant{5s}, .bin = 10ms, .bytes = {24}}}}};
  agent.transport = {.kind = "tcp",
                     .byte_source = "posted",
                     .congestion_control = "reno",
                     .receive = "discard",
                     .copied = Bytes{0},
                     .discarded = Bytes{20},
                     .system_calls = 44,
                     .turn_max = 1ms,
                     .bound = {"rd1 port 1"}};
  return agent;
}

TEST(AgentMeasurements, ComeBackFromTheirBytes) {
  const AgentMeasurements sent = measurements();
  const auto back = decode_agent_measurements(encode(sent));
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->results.instances, sent.results.instances);
  EXPECT_EQ(back->results.iterations, sent.results.iterations);
  ASSERT_EQ(back->results.rank_times.size(), 1U);
  EXPECT_EQ(back->results.rank_times[0].times.max(), Duration{90us});
  EXPECT_EQ(back->jobs, sent.jobs);
  EXPECT_EQ(back->nics, sent.nics);
  EXPECT_EQ(back->transport, sent.transport);
}

TEST(AgentMeasurements, AreASeedOfTheFuzzTarget) {
  test::expect_seed("agent_measurements/one_nic.bin", encode(measurements()));
}

TEST(AgentMeasurements, EveryTruncationIsAnError) {
  const std::string whole = encode(measurements());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_agent_measurements(std::string_view(whole).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_agent_measurements(whole + "x")) << "bytes that nobody reads";
}

TEST(AgentMeasurements, AnotherVersionIsRefusedByName) {
  Encoder encoder;
  encoder.number(99);
  const auto back = decode_agent_measurements(encoder.bytes());
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, ErrorCode::unsupported);
  EXPECT_NE(back.error().text().find("version 99"), std::string::npos);
}

TEST(AgentMeasurements, DamagedBytesNeverCrash) {
  const std::uint64_t seed = 99;
  std::cout << "seed " << seed << "\n";
  Random random(seed);
  const std::string whole = encode(measurements());
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    for (std::uint64_t i = random.between(1, 4); i > 0; --i) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    const auto back = decode_agent_measurements(damaged);
    if (back) {
      EXPECT_LE(back->nics.size(), 64U);
    }
  }
}

}  // namespace
}  // namespace rehearsal::measure

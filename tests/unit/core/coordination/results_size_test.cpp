#include <gtest/gtest.h>

#include "core/coordination/coordinator.hpp"
#include "core/measure/collective_time.hpp"
#include "core/plan/instance_estimate.hpp"

namespace rehearsal::coordination {
namespace {

TEST(ResultsSize, WhatAPlanMayAskForFits) {
  measure::PartialResults results;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    measure::InstancePartial partial;
    partial.key.iteration = 999'000 + i;
    partial.key.communicator = CommunicatorIndex{300};
    partial.what.bytes = Bytes{std::uint64_t{1} << 33};
    partial.ranks = 200;
    partial.shortest = std::chrono::seconds{40};
    partial.longest = std::chrono::seconds{50};
    results.instances.push_back(partial);
  }
  Encoder encoder;
  measure::encode(results, encoder);
  EXPECT_LE(encoder.bytes().size() * plan::kInstancesPerHostMax / 1000,
            CoordinatorOptions{}.results_bytes_max);
}

}  // namespace
}  // namespace rehearsal::coordination

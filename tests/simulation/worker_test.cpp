// What the worker in virtual time cannot play.
#include <gmock/gmock.h>

#include "core/simulation/simulated_worker.hpp"
#include "tests/support/cluster/plans.hpp"

namespace rehearsal::simulation {
namespace {

TEST(SimulatedWorker, AFaultThatDevicesAreToDoIsRefused) {
  auto plan = std::make_shared<plan::Plan>(
      test::plan_of(test::profile_of(2, {test::op_of(profile::OpKind::broadcast, 60'000)}), 1));
  plan->transport.kind = plan::TransportKind::rdma;
  plan->faults = {{.name = "half",
                   .what = {.kind = fault::Kind::rate, .levels = {{.rate = {500'000}}}},
                   .when = {.length = std::chrono::seconds{1}},
                   .places = {{.host = HostIndex{0}, .side = fault::Side::sent}},
                   .mechanism = fault::Mechanism::device}};
  replay::MemoryFabric fabric({});
  SimulatedWorker worker({.plan = plan, .host = HostIndex{0}},
                         std::make_unique<replay::MemoryTransport>(fabric), Instant{});
  const auto events = worker.take_events();
  ASSERT_EQ(events.size(), 1U);
  const auto* failed = std::get_if<coordination::WorkerFailed>(&events[0]);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->reason,
            "fault 'half': the simulated network has no devices; right would be mechanism: sender");
}

}  // namespace
}  // namespace rehearsal::simulation

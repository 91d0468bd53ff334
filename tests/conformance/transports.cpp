#include "tests/conformance/transports.hpp"

namespace rehearsal::test {

namespace {

TransportUnderTest loopback() {
  return {.name = "loopback",
          .make_clock = [] { return std::make_unique<VirtualClock>(); },
          .make = [](const plan::Plan&) -> Cluster::MakeTransport {
            auto fabric = std::make_shared<replay::MemoryFabric>(
                replay::MemoryFabric::Options{.latency = std::chrono::microseconds{5},
                                              .rate = BitRate{100'000'000'000},
                                              .sharing = replay::MemoryFabric::Sharing::nic_pair});
            return
                [fabric](HostIndex) { return std::make_unique<replay::MemoryTransport>(*fabric); };
          }};
}

}  // namespace

std::vector<TransportUnderTest> transports_under_test() { return {loopback()}; }

}  // namespace rehearsal::test

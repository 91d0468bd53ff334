#include "tests/conformance/transports.hpp"

#include "agent/transport/rdma/rdma_transport.hpp"
#include "agent/transport/tcp/tcp_transport.hpp"
#include "core/base/check.hpp"
#include "tests/support/verbs/fake_verbs.hpp"

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

/// All agents on 127.0.0.1, whatever addresses the plan has.
TransportUnderTest tcp(std::string name, plan::ReceiveMode receive, bool verify = false) {
  return {
      .name = std::move(name),
      .make_clock = [] { return std::make_unique<MonotonicClock>(); },
      .make = [receive, verify](const plan::Plan& plan) -> Cluster::MakeTransport {
        return [receive, verify, &plan](HostIndex host) -> std::unique_ptr<replay::Transport> {
          tcp::TcpOptions options{
              .nic_addresses = {}, .token = "token", .receive = receive, .verify_payload = verify};
          options.nic_addresses.assign(plan.hosts[host.value].nics.size(), "127.0.0.1");
          auto transport = tcp::TcpTransport::create(std::move(options));
          CHECK(transport.has_value(), "a TCP transport on 127.0.0.1");
          return std::move(*transport);
        };
      }};
}

/// Queue pairs over devices that exist only in memory: four, whatever the hosts.
TransportUnderTest rdma_fake(std::string name, const plan::RdmaSettings& settings) {
  return {.name = std::move(name),
          .make_clock = [] { return std::make_unique<MonotonicClock>(); },
          .make = [settings](const plan::Plan& plan) -> Cluster::MakeTransport {
            constexpr std::uint32_t kDevices = 4;
            auto verbs = std::make_shared<FakeVerbs>(kDevices);
            return [settings, verbs, &plan](HostIndex host) -> std::unique_ptr<replay::Transport> {
              rdma::RdmaOptions options = verbs->options(host.value % kDevices + 1);
              options.nics.resize(plan.hosts[host.value].nics.size(), options.nics[0]);
              options.settings = settings;
              options.verify_payload = true;
              auto transport = rdma::RdmaTransport::create(std::move(options));
              CHECK(transport.has_value(), "an RDMA transport over a fake");
              return std::move(*transport);
            };
          }};
}

}  // namespace

std::vector<TransportUnderTest> transports_under_test() {
  return {loopback(),
          tcp("tcp", plan::ReceiveMode::copy),
          tcp("tcpDiscard", plan::ReceiveMode::discard),
          tcp("tcpVerified", plan::ReceiveMode::copy, true),
          rdma_fake("rdmaFake", {.completions = plan::CompletionMode::event}),
          rdma_fake("rdmaFakePolled", {.queue_pairs = 3}),
          rdma_fake("rdmaFakeSend", {.operation = plan::RdmaOperation::send,
                                     .queue_pairs = 2,
                                     .completions = plan::CompletionMode::event}),
          rdma_fake("rdmaFakeSplit", {.queue_pairs = 4,
                                      .queue_pair_use = plan::QueuePairUse::split,
                                      .completions = plan::CompletionMode::event})};
}

}  // namespace rehearsal::test

// RDMA in the virtual machine of scripts/rdma-vm: host h of a plan is the device rd(h % 4 + 1).

#include <functional>

#include "agent/transport/rdma/rdma_transport.hpp"
#include "core/base/check.hpp"
#include "tests/conformance/transports.hpp"

namespace rehearsal::test {
namespace {

constexpr std::uint32_t kDevices = 4;

rdma::RdmaNic nic_of(HostIndex host) {
  const std::string number = std::to_string(host.value % kDevices + 1);
  return {.device = "rd" + number, .gid = {.address = "10.0.0." + number}};
}

TransportUnderTest rdma(std::string name, const std::function<void(plan::RdmaSettings&)>& set) {
  plan::RdmaSettings settings{
      .completions = plan::CompletionMode::event, .ack_timeout = 16, .retry_count = 6};
  set(settings);
  return {.name = std::move(name),
          .make_clock = [] { return std::make_unique<MonotonicClock>(); },
          .make = [settings](const plan::Plan& plan) -> Cluster::MakeTransport {
            return [settings, &plan](HostIndex host) -> std::unique_ptr<replay::Transport> {
              const auto verbs = rdma::load_verbs();
              CHECK(verbs.has_value(), "libibverbs is there");
              rdma::RdmaOptions options{.verbs = *verbs,
                                        .nics = {},
                                        .token = "token",
                                        .settings = settings,
                                        .verify_payload = true};
              options.nics.assign(plan.hosts[host.value].nics.size(), nic_of(host));
              auto transport = rdma::RdmaTransport::create(std::move(options));
              CHECK(transport.has_value(), "an RDMA transport");
              return std::move(*transport);
            };
          },
          .ranks = {1, 2, 3, 4},
          .all_reduce_ranks = {9},
          .paired_ranks = {4}};
}

}  // namespace

std::vector<TransportUnderTest> transports_under_test() {
  return {
      rdma("rdma", [](plan::RdmaSettings&) {}),
      rdma("rdmaPolled",
           [](plan::RdmaSettings& settings) { settings.completions = plan::CompletionMode::poll; }),
      rdma("rdmaSend",
           [](plan::RdmaSettings& settings) { settings.operation = plan::RdmaOperation::send; }),
      rdma("rdmaInTurn", [](plan::RdmaSettings& settings) { settings.queue_pairs = 3; }),
      rdma("rdmaSplit", [](plan::RdmaSettings& settings) {
        settings.queue_pairs = 4;
        settings.queue_pair_use = plan::QueuePairUse::split;
      })};
}

}  // namespace rehearsal::test

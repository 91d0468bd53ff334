#include "agent/worker/data_transport.hpp"

#include <algorithm>

#include "agent/transport/rdma/inventory.hpp"
#include "agent/transport/rdma/rdma_transport.hpp"
#include "agent/transport/tcp/tcp_transport.hpp"
#include "core/base/text.hpp"
#include "core/plan/device_faults.hpp"

namespace rehearsal::agent {
namespace {

Result<std::unique_ptr<replay::Transport>> make_tcp(const plan::Plan& plan, HostIndex host,
                                                    const std::string& token,
                                                    std::span<NicMeter> meters) {
  tcp::TcpOptions options{.nic_addresses = {},
                          .peer_addresses = {},
                          .token = token,
                          .congestion_control = plan.transport.congestion_control,
                          .receive = plan.transport.receive,
                          .verify_payload = plan.transport.verify_payload,
                          .meters = meters};
  for (const plan::Nic& nic : plan.hosts[host.value].nics)
    options.nic_addresses.push_back(nic.address);
  for (const plan::Inventory& peer : plan.hosts)
    for (const plan::Nic& nic : peer.nics) options.peer_addresses.insert(nic.address);
  ASSIGN_OR_RETURN(std::unique_ptr<replay::Transport> transport,
                   tcp::TcpTransport::create(std::move(options)));
  return transport;
}

// Each agent looks again whether its devices can do what the plan's faults ask of them.
Result<void> add_rates_of_faults(const plan::Plan& plan, HostIndex host,
                                 std::vector<std::optional<rdma::RdmaNic>>& nics) {
  std::optional<plan::Connections> connections;
  for (const fault::PlannedFault& fault : plan.faults) {
    if (fault.mechanism != fault::Mechanism::device ||
        std::ranges::find(fault.places, host, &fault::Place::host) == fault.places.end())
      continue;
    if (!connections) connections = plan::connections_of(plan, host);
    if (const auto refusal = plan::device_cannot(plan, fault, host, *connections))
      return fail(ErrorCode::unsupported, ErrorSource::transport,
                  "fault " + in_quotes(fault.name) + ": " + refusal->what + "; " + refusal->right);
    for (const plan::DeviceCut& cut : plan::device_cuts(plan, fault, host, *connections))
      if (auto& nic = nics[cut.nic.value])
        nic->rates.insert(nic->rates.end(), cut.rates.begin(), cut.rates.end());
  }
  return {};
}

// Which port and GID a NIC uses follows from the plan, so that coordinator and agents choose alike.
Result<std::unique_ptr<replay::Transport>> make_rdma(const plan::Plan& plan, HostIndex host,
                                                     const std::string& token,
                                                     std::span<NicMeter> meters) {
  ASSIGN_OR_RETURN(const rdma::VerbsApi* verbs, rdma::load_verbs());
  rdma::RdmaOptions options{.verbs = verbs,
                            .nics = {},
                            .token = token,
                            .settings = plan.transport.rdma,
                            .verify_payload = plan.transport.verify_payload,
                            .meters = meters};
  for (const plan::Nic& nic : plan.hosts[host.value].nics) {
    const auto gid = plan::choose_gid(nic);
    options.nics.push_back(
        gid ? std::optional(
                  rdma::RdmaNic{.device = nic.rdma->device, .port = nic.rdma->port, .gid = *gid})
            : std::nullopt);
  }
  RETURN_IF_ERROR(add_rates_of_faults(plan, host, options.nics));
  ASSIGN_OR_RETURN(std::unique_ptr<replay::Transport> transport,
                   rdma::RdmaTransport::create(std::move(options)));
  return transport;
}

}  // namespace

void describe_transports(plan::Inventory& inventory) {
  inventory.transports = {plan::TransportKind::tcp};
  const auto verbs = rdma::load_verbs();
  const auto ports = rdma::list_ports(verbs ? *verbs : nullptr);
  for (plan::Nic& nic : inventory.nics) nic.rdma = rdma::port_of(ports, nic.name);
  const bool any = std::ranges::any_of(inventory.nics,
                                       [](const plan::Nic& nic) { return nic.rdma.has_value(); });
  if (verbs && any) inventory.transports.push_back(plan::TransportKind::rdma);
}

std::string missing_verbs() {
  const auto verbs = rdma::load_verbs();
  return verbs ? std::string() : verbs.error().message;
}

Result<std::unique_ptr<replay::Transport>> make_data_transport(const plan::Plan& plan,
                                                               HostIndex host,
                                                               const std::string& token,
                                                               std::span<NicMeter> meters) {
  switch (plan.transport.kind) {
    case plan::TransportKind::loopback:
      return std::unique_ptr<replay::Transport>();
    case plan::TransportKind::tcp:
      return make_tcp(plan, host, token, meters);
    case plan::TransportKind::rdma:
      return make_rdma(plan, host, token, meters);
  }
  return fail(ErrorCode::unsupported, ErrorSource::transport,
              "this agent does not offer the transport that the plan asks for");
}

}  // namespace rehearsal::agent

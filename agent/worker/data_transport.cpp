#include "agent/worker/data_transport.hpp"

#include "agent/transport/tcp/tcp_transport.hpp"

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
                          .meters = meters};
  for (const plan::Nic& nic : plan.hosts[host.value].nics)
    options.nic_addresses.push_back(nic.address);
  for (const plan::Inventory& peer : plan.hosts)
    for (const plan::Nic& nic : peer.nics) options.peer_addresses.insert(nic.address);
  ASSIGN_OR_RETURN(std::unique_ptr<replay::Transport> transport,
                   tcp::TcpTransport::create(std::move(options)));
  return transport;
}

}  // namespace

Result<std::unique_ptr<replay::Transport>> make_data_transport(const plan::Plan& plan,
                                                               HostIndex host,
                                                               const std::string& token,
                                                               std::span<NicMeter> meters) {
  switch (plan.transport.kind) {
    case plan::TransportKind::loopback:
      return std::unique_ptr<replay::Transport>();
    case plan::TransportKind::tcp:
      return make_tcp(plan, host, token, meters);
  }
  return fail(ErrorCode::unsupported, ErrorSource::transport,
              "this agent does not offer the transport that the plan asks for");
}

}  // namespace rehearsal::agent

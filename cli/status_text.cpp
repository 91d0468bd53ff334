#include "cli/status_text.hpp"

#include <nlohmann/json.hpp>

#include "core/base/table.hpp"
#include "core/base/units.hpp"

namespace rehearsal::cli {
namespace {

using nlohmann::ordered_json;

ordered_json run_json(const std::string& run) {
  return run.empty() ? ordered_json(nullptr) : ordered_json(run);
}

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

Duration duration(std::uint64_t nanoseconds) {
  return Duration{static_cast<Duration::rep>(nanoseconds)};
}

std::string nics_of(const protocol::AgentStatus& agent) {
  std::string text;
  for (const protocol::Nic& nic : agent.nics())
    text += (text.empty() ? "" : ", ") + nic.name() + " " + nic.address();
  return text;
}

std::string clock_of(const protocol::AgentStatus& agent) {
  if (!agent.clock().known()) return "not known yet";
  return "±" + format_duration(duration(agent.clock().error_bound_ns()));
}

/// Whether the host has a helper, and what it has on.
std::string helper_of(const protocol::AgentStatus& agent) {
  if (!agent.blocked().empty()) return "STUCK";
  if (agent.faults() > 0) return std::to_string(agent.faults()) + " on";
  return agent.kernel().helper() ? "yes" : "no";
}

std::string first_line(const protocol::StatusReply& status) {
  std::string line = status.software() + ": ";
  if (status.run().empty())
    return line + "no run, " + std::to_string(status.agents_size()) + " agents\n";
  return line + "run " + status.run() + " is " + status.state() + ", iteration " +
         std::to_string(status.iterations_done()) + " of " + std::to_string(status.iterations()) +
         " done, " + std::to_string(status.agents_size()) + " agents\n";
}

ordered_json rdma_json(const protocol::Nic& nic) {
  if (!nic.has_rdma()) return nullptr;
  const protocol::RdmaPort& port = nic.rdma();
  ordered_json gids = ordered_json::array();
  for (const protocol::RdmaGid& gid : port.gids())
    gids.push_back({{"type", gid.type()}, {"address", gid.address()}});
  return {
      {"device", port.device()},      {"port", port.port()},
      {"active", port.active()},      {"link_layer", port.ethernet() ? "Ethernet" : "InfiniBand"},
      {"path_mtu_bytes", port.mtu()}, {"rate_bits_per_second", port.rate_bits_per_second()},
      {"gids", std::move(gids)}};
}

ordered_json nic_json(const protocol::Nic& nic) {
  ordered_json json{{"name", nic.name()}, {"address", nic.address()}, {"mtu", nic.mtu()}};
  json["line_rate_bits_per_second"] = nic.line_rate_bits_per_second() > 0
                                          ? ordered_json(nic.line_rate_bits_per_second())
                                          : ordered_json(nullptr);
  json["rdma"] = rdma_json(nic);
  return json;
}

ordered_json clock_json(const protocol::ClockEstimate& clock) {
  if (!clock.known()) return nullptr;
  return {{"offset_seconds", static_cast<double>(clock.offset_ns()) * 1e-9},
          {"error_bound_seconds", seconds(clock.error_bound_ns())}};
}

/// What its helper allows, and what stands.
ordered_json kernel_json(const protocol::AgentStatus& agent) {
  const protocol::KernelOffer& offer = agent.kernel();
  ordered_json json{{"helper", offer.helper()},
                    {"allowed_faults", ordered_json::array()},
                    {"allowed_interfaces", ordered_json::array()},
                    {"duration_max_seconds", seconds(offer.duration_max_ns())},
                    {"faults_on", agent.faults()}};
  for (const std::string& kind : offer.faults()) json["allowed_faults"].push_back(kind);
  for (const std::string& name : offer.interfaces()) json["allowed_interfaces"].push_back(name);
  json["blocked"] = agent.blocked().empty() ? ordered_json(nullptr) : ordered_json(agent.blocked());
  return json;
}

ordered_json external_json(const protocol::AgentStatus& agent) {
  ordered_json json{{"runner", agent.external().runner()}, {"commands", ordered_json::array()}};
  for (const protocol::ExternalCommand& command : agent.external().commands()) {
    ordered_json one{{"name", command.name()},
                     {"arguments", ordered_json::array()},
                     {"duration_max_seconds", seconds(command.duration_max_ns())},
                     {"time_max_seconds", seconds(command.time_max_ns())},
                     {"problem", command.problem().empty() ? ordered_json(nullptr)
                                                           : ordered_json(command.problem())}};
    for (const protocol::ExternalArgument& argument : command.arguments())
      one["arguments"].push_back(argument.name());
    json["commands"].push_back(std::move(one));
  }
  return json;
}

ordered_json agent_json(const protocol::AgentStatus& agent) {
  ordered_json json{{"host", agent.host()},
                    {"address", agent.address()},
                    {"software", agent.software()},
                    {"run", run_json(agent.run())},
                    {"clock", clock_json(agent.clock())},
                    {"silence_seconds", seconds(agent.silence_ns())},
                    {"kernel", kernel_json(agent)},
                    {"external", external_json(agent)},
                    {"nics", ordered_json::array()}};
  for (const protocol::Nic& nic : agent.nics()) json["nics"].push_back(nic_json(nic));
  return json;
}

}  // namespace

std::string status_text(const protocol::StatusReply& status) {
  std::string text = first_line(status);
  if (status.agents_size() == 0) return text;
  Table table{{{"host"},
               {"address"},
               {"run"},
               {"clock"},
               {"heard of", Table::Align::right},
               {"helper"},
               {"data NICs"}}};
  for (const protocol::AgentStatus& agent : status.agents())
    table.add({agent.host(), agent.address(), agent.run().empty() ? "free" : agent.run(),
               clock_of(agent), format_duration(duration(agent.silence_ns())) + " ago",
               helper_of(agent), nics_of(agent)});
  return text + table.text("  ");
}

std::string status_json(const protocol::StatusReply& status) {
  ordered_json json{{"schema_version", 1},
                    {"software", status.software()},
                    {"state", status.state()},
                    {"run", run_json(status.run())},
                    {"iterations_done", status.iterations_done()},
                    {"iterations", status.iterations()},
                    {"agents", ordered_json::array()}};
  for (const protocol::AgentStatus& agent : status.agents())
    json["agents"].push_back(agent_json(agent));
  // Names come from other machines: bytes that are no UTF-8 are shown as such, not thrown over.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rehearsal::cli

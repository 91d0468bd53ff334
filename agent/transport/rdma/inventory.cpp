#include "agent/transport/rdma/inventory.hpp"

#include <algorithm>
#include <charconv>

#include "agent/host/device_files.hpp"
#include "agent/transport/rdma/address.hpp"
#include "agent/transport/rdma/port.hpp"
#include "agent/transport/rdma/verbs_objects.hpp"

namespace rehearsal::rdma {
namespace {

namespace fs = std::filesystem;

using agent::first_line;
using agent::names_in;

/// "100 Gb/sec (4X EDR)" → 100 Gbit/s; "2.5 Gb/sec (1X SDR)" has a fraction.
BitRate rate_of(const std::string& text) {
  double gigabits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gigabits);
  if (error != std::errc{} || gigabits <= 0 || gigabits > 1e6) return {};
  return BitRate{static_cast<std::uint64_t>(gigabits * 1e9)};
}

void take_gids(const fs::path& folder, HostPort& host) {
  for (std::size_t row = 0; host.port.gids.size() < plan::kGidsMax; ++row) {
    const std::string file = std::to_string(row);
    const std::string text = first_line(folder / "gids" / file);
    if (text.empty()) return;
    const auto gid = parse_gid(text);
    if (!gid || *gid == GidBytes{}) continue;
    const std::string type = first_line(folder / "gid_attrs" / "types" / file);
    plan::GidType kind = plan::GidType::infiniband;
    if (host.port.ethernet) {
      if (type.empty()) continue;  // being filled
      kind = type == "RoCE v2" ? plan::GidType::roce_v2 : plan::GidType::roce_v1;
    }
    host.port.gids.push_back({.type = kind, .address = gid_text(*gid)});
    const std::string interface = first_line(folder / "gid_attrs" / "ndevs" / file);
    if (!interface.empty() && std::ranges::count(host.interfaces, interface) == 0)
      host.interfaces.push_back(interface);
  }
}

/// What only verbs tell: the active MTU, and what the device can limit.
void ask_device(const VerbsApi& api, plan::RdmaPort& port) {
  int count = 0;
  ibv_device** list = api.get_device_list(&count);
  if (list == nullptr) return;
  for (int i = 0; i < count; ++i) {
    if (port.device != api.get_device_name(list[i])) continue;
    const DeviceContext context(api, api.open_device(list[i]));
    ibv_port_attr attributes{};
    if (!context) continue;
    if (api.query_port(context.get(), static_cast<std::uint8_t>(port.port), &attributes) == 0)
      port.mtu = mtu_bytes(attributes.active_mtu);
    port.rate_limits = rate_limits(api, context.get());
  }
  api.free_device_list(list);
}

HostPort describe(const fs::path& device, const std::string& number, const VerbsApi* verbs) {
  const fs::path folder = device / "ports" / number;
  HostPort host;
  plan::RdmaPort& port = host.port;
  port.device = device.filename().string();
  std::from_chars(number.data(), number.data() + number.size(), port.port);
  port.active = first_line(folder / "state").find("ACTIVE") != std::string::npos;
  port.ethernet = first_line(folder / "link_layer") != "InfiniBand";
  // A device in software names a rate, too, but nothing is behind it.
  std::error_code error;
  if (fs::exists(device / "device", error)) port.rate = rate_of(first_line(folder / "rate"));
  take_gids(folder, host);
  if (!port.ethernet)
    for (const std::string& interface : names_in(device / "device" / "net"))
      host.interfaces.push_back(interface);
  if (verbs != nullptr) ask_device(*verbs, port);
  return host;
}

}  // namespace

std::vector<HostPort> list_ports(const VerbsApi* verbs, const fs::path& devices) {
  std::vector<HostPort> ports;
  for (const std::string& device : names_in(devices))
    for (const std::string& number : names_in(devices / device / "ports"))
      ports.push_back(describe(devices / device, number, verbs));
  return ports;
}

std::optional<plan::RdmaPort> port_of(const std::vector<HostPort>& ports,
                                      const std::string& interface) {
  for (const HostPort& host : ports)
    if (std::ranges::count(host.interfaces, interface) != 0) return host.port;
  return std::nullopt;
}

}  // namespace rehearsal::rdma

#include "agent/host/nics.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>

namespace rehearsal::agent {
namespace {

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &four->sin_addr, text, sizeof text);
  } else {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(address);
    ::inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text);
  }
  return text;
}

bool usable(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return false;
  if (entry.ifa_addr->sa_family == AF_INET) return true;
  if (entry.ifa_addr->sa_family != AF_INET6) return false;
  const auto* six = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr);
  return !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

bool is_ipv6(const HostAddress& address) { return address.address.find(':') != std::string::npos; }

/// One number from a file of the kernel; none when it is missing or not a number.
std::optional<std::int64_t> number_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Whether there is hardware behind a device: its own, or that of the devices it stands on (VLAN,
/// bond). A veth or tun names a speed too, but that is a constant of its driver and limits nothing.
bool has_hardware(const std::filesystem::path& device) {
  std::error_code error;
  if (std::filesystem::exists(device / "device", error)) return true;
  for (std::filesystem::directory_iterator entry(device, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with("lower_")) return true;
  }
  return false;
}

plan::Nic describe(const HostAddress& at, const std::filesystem::path& devices) {
  plan::Nic nic{.name = at.device, .address = at.address, .line_rate = {}, .mtu = 0};
  // Megabits per second; -1 or an error for links without a speed (lo, link down).
  const auto speed = number_in(devices / at.device / "speed");
  if (speed && *speed > 0 && has_hardware(devices / at.device)) {
    nic.line_rate = BitRate{static_cast<std::uint64_t>(*speed) * 1'000'000};
  }
  const auto mtu = number_in(devices / at.device / "mtu");
  if (mtu && *mtu > 0 && *mtu <= 1'000'000) nic.mtu = static_cast<std::uint32_t>(*mtu);
  return nic;
}

std::string names_of(const std::vector<HostAddress>& addresses) {
  std::string names;
  for (const auto& at : addresses) {
    names += (names.empty() ? "" : ", ") + at.device + "=" + at.address;
  }
  return names.empty() ? "none" : names;
}

Result<HostAddress> find_named(const NicChoice& choice, const std::vector<HostAddress>& addresses) {
  const auto found = std::find_if(addresses.begin(), addresses.end(), [&](const auto& at) {
    if (at.device != choice.name) return false;
    // Loopback carries all of 127.0.0.0/8.
    const bool any_loopback = at.loopback && choice.address.starts_with("127.");
    return choice.address.empty() || at.address == choice.address || any_loopback;
  });
  if (found == addresses.end()) {
    const std::string wanted =
        choice.address.empty() ? choice.name : choice.name + "=" + choice.address;
    return fail(ErrorCode::not_found, ErrorSource::host,
                "there is no NIC " + wanted +
                    " that is up with an address; this host has: " + names_of(addresses));
  }
  HostAddress at = *found;
  if (!choice.address.empty()) at.address = choice.address;
  return at;
}

std::vector<HostAddress> all_but_control(const std::vector<HostAddress>& addresses,
                                         const std::string& control_address) {
  const auto control = std::find_if(addresses.begin(), addresses.end(),
                                    [&](const auto& at) { return at.address == control_address; });
  std::vector<HostAddress> data;
  for (const auto& at : addresses) {
    const bool is_control = control != addresses.end() && at.device == control->device;
    const bool is_known = std::any_of(data.begin(), data.end(),
                                      [&](const auto& other) { return other.device == at.device; });
    if (!at.loopback && !is_control && !is_known) data.push_back(at);
  }
  std::sort(data.begin(), data.end(),
            [](const auto& a, const auto& b) { return a.device < b.device; });
  return data;
}

}  // namespace

Result<std::vector<HostAddress>> host_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return system_failure(ErrorSource::host, "cannot list network devices", errno);
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<HostAddress> addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (!usable(*entry)) continue;
    addresses.push_back({.device = entry->ifa_name,
                         .address = text_of(entry->ifa_addr),
                         .loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0});
  }
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](const auto& at) { return !is_ipv6(at); });
  return addresses;
}

Result<NicChoice> parse_nic_choice(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  NicChoice choice{.name = std::string(text.substr(0, equals))};
  if (equals < text.size()) choice.address = text.substr(equals + 1);
  if (choice.name.empty() || (equals < text.size() && choice.address.empty())) {
    return invalid("'" + std::string(text) +
                   "' names no NIC; right would be eth1 or eth1=10.79.1.3");
  }
  return choice;
}

Result<std::vector<plan::Nic>> find_nics(const std::vector<NicChoice>& named,
                                         const std::vector<HostAddress>& addresses,
                                         const std::string& control_address,
                                         const std::filesystem::path& devices) {
  std::vector<HostAddress> chosen;
  for (const NicChoice& choice : named) {
    ASSIGN_OR_RETURN(auto at, find_named(choice, addresses));
    const auto twice = std::find(chosen.begin(), chosen.end(), at);
    if (twice != chosen.end()) return invalid("the NIC " + choice.name + " is named twice");
    chosen.push_back(std::move(at));
  }
  if (named.empty()) chosen = all_but_control(addresses, control_address);
  if (chosen.empty()) {
    return fail(ErrorCode::not_found, ErrorSource::host,
                "no data NIC: only loopback and the control interface are up with an address (" +
                    names_of(addresses) + "); name the ones to use, for example --nic " +
                    (addresses.empty() ? "eth1" : addresses.back().device));
  }
  std::vector<plan::Nic> nics;
  for (const auto& at : chosen) nics.push_back(describe(at, devices));
  return nics;
}

bool shared_by_nature(const std::vector<plan::Nic>& nics,
                      const std::vector<HostAddress>& addresses) {
  return std::any_of(nics.begin(), nics.end(), [&](const plan::Nic& nic) {
    return std::any_of(addresses.begin(), addresses.end(),
                       [&](const auto& at) { return at.device == nic.name && at.loopback; });
  });
}

Result<std::string> local_address_towards(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  if (::getaddrinfo(address.c_str(), service.c_str(), &hints, &found) != 0) {
    return invalid("'" + address + "' is not an IP address");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const int descriptor = ::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  const bool known = descriptor >= 0 &&
                     ::connect(descriptor, found->ai_addr, found->ai_addrlen) == 0 &&
                     ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &size) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!known) return system_failure(ErrorSource::host, "no route to " + address, error);
  return text_of(reinterpret_cast<const sockaddr*>(&local));
}

}  // namespace rehearsal::agent

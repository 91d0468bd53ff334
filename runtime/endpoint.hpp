#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace asio::ip {
class tcp;
template <typename Protocol>
class basic_endpoint;
}  // namespace asio::ip

namespace rehearsal::runtime {

/// Where to listen or connect, as people write it.
struct Endpoint {
  std::string address;     ///< an IP address, or (to connect) a host name; without brackets
  std::uint16_t port = 0;  ///< 0: any free one (to listen)

  bool operator==(const Endpoint&) const = default;
};

/// "10.78.0.1:7470", "[fd00::1]:7470", "head-node:7470".
Result<Endpoint> parse_endpoint(std::string_view text);
/// The same for an address to listen on, which is an IP address: names are refused.
Result<Endpoint> parse_listen_endpoint(std::string_view text);
std::string to_string(const Endpoint& endpoint);
std::string to_string(const asio::ip::basic_endpoint<asio::ip::tcp>& endpoint);

}  // namespace rehearsal::runtime

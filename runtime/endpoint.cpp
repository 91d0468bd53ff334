#include "runtime/endpoint.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include "core/base/text.hpp"
#include "runtime/asio.hpp"

namespace rehearsal::runtime {
namespace {

/// The parts of "ADDRESS:PORT"; none if it is written otherwise.
std::optional<Endpoint> split(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string_view::npos) {
    return std::nullopt;  // which colon would be the port's?
  }
  Endpoint endpoint;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data() + colon + 1, end, endpoint.port);
  if (address.empty() || error != std::errc{} || stopped != end) return std::nullopt;
  endpoint.address = address;
  return endpoint;
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
  if (auto endpoint = split(text)) return std::move(*endpoint);
  return invalid(in_quotes(text) +
                 " is not an address and a port; right would be 10.78.0.1:7470, [fd00::1]:7470 or "
                 "head-node:7470");
}

Result<Endpoint> parse_listen_endpoint(std::string_view text) {
  if (auto endpoint = split(text)) {
    asio::error_code error;
    asio::ip::make_address(endpoint->address, error);
    if (!error) return std::move(*endpoint);
  }
  return invalid(in_quotes(text) +
                 " is not an IP address and a port to listen on; right would be 10.78.0.1:7470 or "
                 "[fd00::1]:7470");
}

std::string to_string(const Endpoint& endpoint) {
  const bool six = endpoint.address.find(':') != std::string::npos;
  return (six ? "[" + endpoint.address + "]" : endpoint.address) + ":" +
         std::to_string(endpoint.port);
}

std::string to_string(const asio::ip::tcp::endpoint& endpoint) {
  return to_string(Endpoint{endpoint.address().to_string(), endpoint.port()});
}

}  // namespace rehearsal::runtime

#include "agent/transport/tcp/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rehearsal::tcp {
namespace {

/// What a caller may tell apart: an address that the host has not, a peer that no route leads to.
ErrorCode code_of(int error_number) {
  switch (error_number) {
    case EADDRNOTAVAIL:
      return ErrorCode::not_found;
    case EHOSTUNREACH:
    case ENETUNREACH:
      return ErrorCode::disconnected;
    default:
      return ErrorCode::system;
  }
}

Failure socket_failure(std::string what, int error_number) {
  Failure failure = system_failure(ErrorSource::transport, what, error_number);
  failure.value().code = code_of(error_number);
  return failure;
}

Result<void> set_number(int socket, int level, int option, int value, std::string_view name) {
  if (::setsockopt(socket, level, option, &value, sizeof value) != 0)
    return socket_failure("cannot set " + std::string(name), errno);
  return {};
}

Result<void> set_congestion_control(int socket, const std::string& name) {
  if (name.empty()) return {};
  if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                   static_cast<socklen_t>(name.size())) == 0)
    return {};
  if (errno == ENOENT)
    return fail(
        ErrorCode::not_found, ErrorSource::host,
        "congestion control '" + name +
            "' is not available on this host; see net.ipv4.tcp_available_congestion_control");
  if (errno == EPERM)
    return fail(ErrorCode::refused, ErrorSource::host,
                "congestion control '" + name +
                    "' is not permitted for this process: it must stand in "
                    "net.ipv4.tcp_allowed_congestion_control, or the agent needs CAP_NET_ADMIN");
  return socket_failure("cannot set congestion control '" + name + "'", errno);
}

// Above net.core.{w,r}mem_max only a privileged process gets what it asks for; the others get the
// maximum, which is what they would have to live with anyway.
Result<void> set_buffer(int socket, int option, int forced_option, std::size_t bytes,
                        std::string_view name) {
  if (bytes == 0) return {};
  const int value = static_cast<int>(bytes);
  if (::setsockopt(socket, SOL_SOCKET, forced_option, &value, sizeof value) == 0) return {};
  return set_number(socket, SOL_SOCKET, option, value, name);
}

Result<void> apply(int socket, const SocketSettings& settings) {
  RETURN_IF_ERROR(set_number(socket, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY"));
  RETURN_IF_ERROR(set_congestion_control(socket, settings.congestion_control));
  RETURN_IF_ERROR(
      set_buffer(socket, SO_SNDBUF, SO_SNDBUFFORCE, settings.send_buffer_bytes, "SO_SNDBUF"));
  RETURN_IF_ERROR(
      set_buffer(socket, SO_RCVBUF, SO_RCVBUFFORCE, settings.receive_buffer_bytes, "SO_RCVBUF"));
  return {};
}

Result<FileDescriptor> make_socket(int family, const SocketSettings& settings) {
  FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return socket_failure("cannot create a socket", errno);
  RETURN_IF_ERROR(apply(socket.get(), settings));
  return socket;
}

}  // namespace

void FileDescriptor::reset() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Result<Endpoint> Endpoint::parse(std::string_view address, std::uint16_t port) {
  const std::string text(address);
  Endpoint endpoint;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&endpoint.storage_);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    endpoint.size_ = sizeof(sockaddr_in);
    return endpoint;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&endpoint.storage_);
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    endpoint.size_ = sizeof(sockaddr_in6);
    return endpoint;
  }
  return fail(ErrorCode::invalid_input, ErrorSource::transport,
              "'" + text + "' is not a numeric IPv4 or IPv6 address");
}

Result<Endpoint> Endpoint::of_socket(int socket) {
  Endpoint endpoint;
  endpoint.size_ = sizeof endpoint.storage_;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&endpoint.storage_), &endpoint.size_) != 0)
    return socket_failure("cannot read where a socket is bound", errno);
  return endpoint;
}

std::string Endpoint::address() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* source =
      family() == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(&storage_)->sin_addr)
          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_addr);
  ::inet_ntop(family(), source, text.data(), text.size());
  return text.data();
}

std::uint16_t Endpoint::port() const {
  return ntohs(family() == AF_INET ? reinterpret_cast<const sockaddr_in*>(&storage_)->sin_port
                                   : reinterpret_cast<const sockaddr_in6*>(&storage_)->sin6_port);
}

Result<FileDescriptor> listen_on(std::string_view address, const SocketSettings& settings) {
  ASSIGN_OR_RETURN(const Endpoint local, Endpoint::parse(address, 0));
  ASSIGN_OR_RETURN(FileDescriptor socket, make_socket(local.family(), settings));
  if (::bind(socket.get(), local.raw(), local.size()) != 0)
    return socket_failure("cannot bind to the NIC address " + std::string(address), errno);
  if (::listen(socket.get(), SOMAXCONN) != 0)
    return socket_failure("cannot listen on " + std::string(address), errno);
  return socket;
}

Result<FileDescriptor> start_connecting(std::string_view local_address, const Endpoint& remote,
                                        const SocketSettings& settings) {
  ASSIGN_OR_RETURN(const Endpoint local, Endpoint::parse(local_address, 0));
  if (local.family() != remote.family())
    return fail(ErrorCode::invalid_input, ErrorSource::transport,
                "the NIC address " + std::string(local_address) + " and the peer's " +
                    remote.address() + " are of different IP versions");
  ASSIGN_OR_RETURN(FileDescriptor socket, make_socket(local.family(), settings));
  // The port is chosen when connecting, so that ports may be shared between destinations.
  RETURN_IF_ERROR(
      set_number(socket.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1, "IP_BIND_ADDRESS_NO_PORT"));
  if (::bind(socket.get(), local.raw(), local.size()) != 0)
    return socket_failure("cannot bind to the NIC address " + std::string(local_address), errno);
  if (::connect(socket.get(), remote.raw(), remote.size()) != 0 && errno != EINPROGRESS)
    return socket_failure("cannot connect from " + std::string(local_address) + " to " +
                              remote.address() + ":" + std::to_string(remote.port()),
                          errno);
  return socket;
}

std::string congestion_control_of(int socket) {
  std::array<char, 32> name{};
  socklen_t size = name.size() - 1;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) != 0) return {};
  return name.data();
}

void close_now(FileDescriptor& socket) noexcept {
  if (!socket) return;
  const linger drop{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &drop, sizeof drop);
  socket.reset();
}

}  // namespace rehearsal::tcp

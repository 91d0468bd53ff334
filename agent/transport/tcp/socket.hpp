#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"

namespace rehearsal::tcp {

/// Owns one file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }

  int get() const noexcept { return descriptor_; }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  void reset() noexcept;

 private:
  int descriptor_ = -1;
};

/// An IP address and a port, as the socket calls take them.
class Endpoint {
 public:
  /// `address` is a numeric IPv4 or IPv6 address ("10.79.1.3", "fd00::1"); names are not looked up.
  static Result<Endpoint> parse(std::string_view address, std::uint16_t port);
  /// Where a bound socket is bound.
  static Result<Endpoint> of_socket(int socket);

  std::string address() const;
  std::uint16_t port() const;
  int family() const { return storage_.ss_family; }
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

/// What every data socket is given. Sizes of zero leave the kernel's automatic tuning on.
struct SocketSettings {
  std::string congestion_control;  ///< empty: the host's default
  std::size_t send_buffer_bytes = 0;
  std::size_t receive_buffer_bytes = 0;
};

/// A non-blocking listener on `address` and a port that the kernel chooses. Accepted sockets
/// inherit the settings.
Result<FileDescriptor> listen_on(std::string_view address, const SocketSettings& settings);

/// A non-blocking socket bound to `local_address` that is connecting to `remote`.
Result<FileDescriptor> start_connecting(std::string_view local_address, const Endpoint& remote,
                                        const SocketSettings& settings);

/// The congestion control that the kernel uses for this socket; empty if it does not say.
std::string congestion_control_of(int socket);

/// Closes so that what is queued is dropped, not drained: the peer sees a reset.
void close_now(FileDescriptor& socket) noexcept;

}  // namespace rehearsal::tcp

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agent/transport/nic_meter.hpp"
#include "core/base/result.hpp"
#include "core/base/time.hpp"
#include "core/plan/settings.hpp"
#include "core/replay/transport.hpp"

namespace rehearsal::tcp {

struct TcpOptions {
  /// The host's data addresses, by NicIndex, in text form.
  std::vector<std::string> nic_addresses;
  /// The data addresses of all hosts of the run: connect() goes nowhere else. Empty: not checked.
  std::set<std::string> peer_addresses = {};
  /// Known to the agents of this run only.
  std::string token;
  std::string congestion_control = {};  ///< empty: the host's default
  plan::ReceiveMode receive = plan::ReceiveMode::copy;
  /// Stamp each message's payload and check it; only with ReceiveMode::copy.
  bool verify_payload = false;
  /// Socket buffers; zero leaves the kernel's automatic tuning on.
  std::size_t send_buffer_bytes = 0;
  std::size_t receive_buffer_bytes = 0;
  /// Payload is sent from a buffer of this size, again and again, and received into one: both stay
  /// in the cache.
  std::size_t payload_bytes = 64U << 10;
  std::size_t scratch_bytes = 64U << 10;
  /// What one connection may move in one system call, so that the others get their turn.
  std::size_t call_bytes_max = 1U << 20;
  /// By NicIndex, outliving the transport; empty: no bins are kept.
  std::span<agent::NicMeter> meters = {};
  /// For connecting and for the hello of an accepted connection.
  Duration handshake_limit = std::chrono::seconds{5};
};

/// What the transport did beyond replay::TransportStatistics; plain numbers of the owning thread.
struct TcpStatistics {
  std::uint64_t send_calls = 0;
  std::uint64_t receive_calls = 0;
  std::uint64_t wait_calls = 0;  ///< epoll_wait
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t payload_sent = 0;
  std::uint64_t payload_copied = 0;
  std::uint64_t payload_discarded = 0;
  std::uint64_t strangers_closed = 0;  ///< accepted connections that were not of this run
};

/// Messages over TCP: one non-blocking connection per plan connection, one epoll instance, all on
/// the thread of the caller.
///
/// The payload has no meaning, so it is sent from one shared read-only buffer without a copy in
/// user space, and received into one shared scratch buffer, or dropped by the kernel
/// (ReceiveMode::discard). A credit comes back when the kernel has taken the message; the receiver
/// reads no more than spec.credits messages ahead of what was released, so TCP's window pushes back
/// on the sender.
///
/// Set-up is in tcp_setup.cpp, the data path in tcp_data_path.cpp.
class TcpTransport final : public replay::Transport {
 public:
  static Result<std::unique_ptr<TcpTransport>> create(TcpOptions options);
  /// Aborts what is still there.
  ~TcpTransport() override;

  replay::Capabilities capabilities() const override;
  Result<replay::Address> open(const replay::ConnectionSpec& spec) override;
  Result<void> connect(const replay::ConnectionSpec& spec, const replay::Address& address) override;

  std::size_t post(std::span<const replay::Request> requests, Instant now) noexcept override;
  std::size_t poll(std::span<replay::Completion> completions, Instant now) noexcept override;
  replay::Wakeup wakeup() const noexcept override;
  void abort(ConnectionIndex connection) noexcept override;

  replay::TransportStatistics statistics() const noexcept override;
  const TcpStatistics& tcp_statistics() const noexcept;

 private:
  TcpTransport();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rehearsal::tcp
